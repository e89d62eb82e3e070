// Translations with their maps or bands, slips, and where a sentence lands in a plane.
(function () {
  "use strict";
  const live = window.seqlive, { element, map, modelsOf, show } = live;

  // A text in which the words are marked that not all texts have.
  function marked(text, texts) {
    const has = texts.map((each) => new Set(each.split(" "))), made = element("p");
    text.split(" ").forEach((word, k) =>
      made.append(k ? " " : "", has.every((words) => words.has(word)) ? word : element("mark", word)));
    return made;
  }

  live.views.translate = live.views.bands = async function (root, form) {
    const text = form.elements.text.value, said = [], began = performance.now();
    const shown = [], draw = root.dataset.live === "bands" ? live.bands : map;
    const models = modelsOf(root), answers = [];
    for (const [name] of models)
      answers.push(await live.send("translate", { name, text, width: Number(root.dataset.width) }));
    const texts = answers.map((found) => found.text);
    models.forEach(function ([name, title], k) {
      const found = answers[k];
      const part = element("section", "", { lang: live.languages[name] });
      part.append(element("p", title, { class: "sq-note", lang: "en" }), marked(found.text, texts));
      const unknown = live.unknown(found.unknown);
      if (unknown) part.append(element("p", unknown, { class: "sq-note", lang: "en" }));
      if (found.weights[0])
        part.append(draw(found.target, [...found.source, "<eos>"], found.weights, "Where it looks"));
      shown.push(part);
      said.push(found.text, unknown);
    });
    const side = element("div", "", { class: "sq-side" });
    side.append(...shown);
    show(root, side);
    // Who sees the figure need not read the translations twice.
    const heard = element("span", said.filter(Boolean).join(" "), { class: "sq-heard" });
    return [heard, ` Translated in ${Math.round(performance.now() - began)} ms.`];
  };

  // A translation, and what becomes of it if a second choice is put at one position.
  live.views.slip = async function (root, form) {
    const [[name]] = modelsOf(root), lang = live.languages[name];
    const { rows, unknown } = await live.send("slips", { name, text: form.elements.text.value });
    if (!rows.length) return show(root, element("p", "Nothing was written.")) ?? "Nothing was written.";
    const table = element("table", "", { class: "sq-slips" }), head = element("tr"), body = element("tbody");
    head.append(...["word", "slip", "written then"].map((title) => element("th", title, { scope: "col" })));
    const words = rows.map(([word]) => word), top = element("thead"), box = element("div", "", { class: "sq-scroll" });
    rows.forEach(function ([word, second, rest], place) {
      const row = element("tr"), then = element("td"), usual = words.slice(place + 1);
      then.append(words.slice(0, place).join(" ") + " ", element("b", second), " ");
      rest.forEach((other, k) => then.append(other === usual[k] ? other : element("mark", other), k + 1 < rest.length ? " " : ""));
      row.append(element("th", word, { scope: "row" }), element("td", second), then);
      body.append(row);
    });
    top.append(head);
    table.append(element("caption", "One slip at a time"), top, body);
    box.append(table);
    show(root, element("p", words.join(" "), { lang }), box);
    const harmless = rows.filter(([, , rest], place) => rest.join(" ") === words.slice(place + 1).join(" ")).length;
    return `After ${harmless} of ${rows.length} slips the rest is the same. ${live.unknown(unknown)}`.trim();
  };

  // A sentence of the reader's lands among those that are drawn.
  live.views.plane = async function (root, form) {
    const [[name]] = modelsOf(root), text = form.elements.text.value;
    const given = { rows: JSON.parse(root.dataset.rows), shift: JSON.parse(root.dataset.shift) };
    const { at, unknown } = await live.send("locate", { name, text, ...given });
    const drawing = root.querySelector(".sq-landing"), own = drawing.querySelector(".sq-own");
    const sizes = [drawing.viewBox.baseVal.width, drawing.viewBox.baseVal.height];
    const inside = at.map((value, k) => Math.min(Math.max(value, 10), sizes[k] - 10));
    own.setAttribute("transform", `translate(${inside.map((value) => value.toFixed(1)).join(" ")})`);
    own.querySelector("text").textContent = text;
    const far = (dot) => Math.hypot(dot.cx.baseVal.value - at[0], dot.cy.baseVal.value - at[1]);
    const dots = [...drawing.querySelectorAll("g:not(.sq-own) > circle")].sort((a, b) => far(a) - far(b));
    const beyond = inside.some((value, k) => value !== at[k]) ? " It lies outside, in that direction." : "";
    return `Nearest in the plane: ${dots[0].nextSibling.textContent}${beyond} ${live.unknown(unknown)}`.trim();
  };
})();
