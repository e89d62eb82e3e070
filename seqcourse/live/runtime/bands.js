// Attention as bands, the same as seqcourse/live/bands.py makes: a weight is a width. The style sheet shows
// the weights of the word that is pointed at or has the keyboard.
(function () {
  "use strict";
  const live = window.seqlive, UNIT = 22, LEAST = 0.03, LETTER = 8.2, LONGEST = 13, WIDEST = 760;
  const HINT = "Point at a translated word, or go to it with the Tab key: you see its weights in percent.";
  const NAME = "How much each translated word looks at each word of the sentence";
  const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
  const long = (word) => LETTER * Math.min([...word].length, LONGEST);

  function svg(tag, attributes, ...parts) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes))
      made.setAttribute(name, typeof value === "number" ? value.toFixed(1) : value);
    made.append(...parts);
    return made;
  }

  // A word, cut if it is long.
  function text(said, [x, y, end], kind = {}) {
    const letters = [...said], shown = letters.length > LONGEST ? letters.slice(0, LONGEST - 1).join("") + "…" : said;
    return svg("text", { x, y, "text-anchor": end, ...kind }, shown);
  }

  // The bands into one word, side by side there as a drawing pours them, each with its percent.
  function flow(source, read, row, at, across) {
    const bands = svg("g", { "aria-hidden": "true" });
    let place = at - (UNIT * sum(row)) / 2;
    row.forEach(function (weight, i) {
      place += (UNIT * weight) / 2;
      const a = read[i].toFixed(1), b = place.toFixed(1);
      const d = across ? `M${a} 44C${a} 99 ${b} 99 ${b} 154` : `M158 ${a}C197 ${a} 197 ${b} 236 ${b}`;
      const beside = across ? [read[i], 14, "middle"] : [142 - long(source[i]), read[i] + 5, "end"];
      if (weight >= LEAST)
        bands.append(
          svg("path", { d, "stroke-width": Math.max(UNIT * weight, 1) }),
          text(live.percent(weight), beside, { class: "sq-percent" }),
        );
      place += (UNIT * weight) / 2;
    });
    return bands;
  }

  // Lines of words one above the other, or null if they are too long; or columns side by side.
  function form(source, target, weights, across) {
    const room = (word) => (across ? Math.max(34, long(word) + 10) : 26);
    const sides = [source, target].map((words) => words.map(room)), most = Math.max(...sides.map(sum));
    if (across && most > WIDEST) return null;
    const [read, written] = sides.map((side) =>
      side.map((own, k) => (most - sum(side)) / 2 + sum(side.slice(0, k)) + own / 2));
    const drawing = svg("svg", {
      class: across ? "sq-across" : "sq-down", role: "group", "aria-label": NAME,
      viewBox: across ? `0 0 ${most.toFixed(0)} 186` : `0 0 360 ${most.toFixed(0)}`,
      style: `max-width:${across ? most.toFixed(0) : 430}px`,
    });
    drawing.append(...source.map((word, i) => text(word, across ? [read[i], 34, "middle"] : [150, read[i] + 5, "end"])));
    target.forEach(function (word, j) {
      const row = weights[j], at = written[j], own = sides[1][j];
      const seen = [...row.keys()].filter((i) => row[i] >= LEAST).sort((a, b) => row[b] - row[a]);
      const said = `${word}: ${seen.map((i) => `${live.percent(row[i])} ${source[i]}`).join(", ")}`;
      const [x, y, width] = across ? [at - own / 2 + 2, 156, own - 4] : [241, at - 12, 118];
      const name = svg(
        "g", { tabindex: "0", role: "img", "aria-label": said },
        svg("rect", { x, y, width, height: "24", rx: "4" }),
        text(word, across ? [at, 173, "middle"] : [246, at + 5, "start"]),
      );
      drawing.append(svg("g", { class: "sq-goal" }, name, flow(source, read, row, at, across)));
    });
    return drawing;
  }

  live.bands = function (target, source, weights) {
    const box = live.element("div", "", { class: "sq-bands sq-scroll" }), all = document.createDocumentFragment();
    box.append(...[true, false].map((across) => form(source, target, weights, across)).filter(Boolean));
    all.append(box, live.element("p", HINT, { class: "sq-note", lang: "en" }));
    return all;
  };
})();
