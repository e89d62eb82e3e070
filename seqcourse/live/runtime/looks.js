// What a model says of a picture, and where it looked: the same as seqcourse/live/scenes.py makes.
(function () {
  "use strict";
  const live = window.seqlive, DARKEST = 0.68; // of what was not looked at
  live.looks = {};

  // One map over the picture, which is the background of all of them: dark where it did not look.
  function look(word, weights, what) {
    const { element } = live, side = Math.sqrt(weights.length), top = Math.max(...weights);
    const place = weights.indexOf(top), row = Math.floor(place / side) + 1, column = (place % side) + 1;
    const said = `${word}: ${what} ${top.toFixed(2)}, in row ${row}, column ${column} of ${side}`;
    const veil = element("canvas", "", { width: side, height: side, role: "img", "aria-label": said });
    const bytes = new ImageData(side, side), seen = element("div", "", { class: "sq-seen" });
    weights.forEach((w, i) => (bytes.data[4 * i + 3] = Math.round(255 * DARKEST * (1 - w / top))));
    veil.getContext("2d").putImageData(bytes, 0, 0);
    seen.append(veil);
    const label = element("figcaption", word + " "), figure = element("figure", "", { class: "sq-look" });
    label.append(element("small", top.toFixed(2)));
    figure.append(seen, label);
    return figure;
  }

  function looks(words, maps, what) {
    const box = live.element("div", "", { class: "sq-looks" });
    box.append(...words.map((word, i) => look(word, maps[i], what)));
    return box;
  }

  live.looks.caption = async function (root, form, pixels) {
    const name = form.elements.model?.value ?? live.modelsOf(root)[0][0];
    const found = await live.send("caption", { name, pixels });
    const said = live.element("p", found.text, { class: "sq-told" });
    return { parts: [said, looks(found.tokens, found.maps, "largest weight")], said: `It says: ${found.text || "nothing"}.` };
  };

  // The mean of the heads of the last layer.
  function mean(layers) {
    const heads = layers[layers.length - 1], sum = heads[0].map((row) => row.map(() => 0));
    for (const rows of heads)
      rows.forEach((row, i) => row.forEach((w, j) => (sum[i][j] += w / heads.length)));
    return sum;
  }

  live.looks.ask = async function (root, form, pixels) {
    const [[name]] = live.modelsOf(root), { element } = live;
    const found = await live.send("ask", { name, pixels, text: form.elements.text.value });
    const [[answer, share]] = found.best, note = (text) => element("p", text, { class: "sq-note" });
    const atPlaces = mean(found.atPlaces), atWords = mean(found.atWords);
    const read = found.words.map((_, j) => atWords.map((row) => row[j]));
    const names = found.best.map(([one]) => one), shares = found.best.map(([, one]) => [one]);
    return {
      parts: [
        element("p", answer, { class: "sq-told" }),
        live.map(names, ["probability"], shares, "Likeliest answers"),
        note("Where each word looks:"),
        looks(found.words, atPlaces, "largest weight"),
        note("How much each place looks at the word:"),
        looks(found.words, read, "largest weight"),
      ],
      said: `It answers: ${answer} (${Math.round(100 * share)} %).`,
    };
  };
})();
