// What views make their answers of. A view, `live.views.NAME(root, form)`, puts its answer into the
// figure and returns a sentence that says what changed; or a list of such sentences, as text or elements.
(function () {
  "use strict";
  const live = window.seqlive;

  live.element = function (tag, text = "", attributes = {}) {
    const made = document.createElement(tag);
    made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };
  const { element } = live;

  // Where the arrow keys go: right and down.
  live.arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  // What of a text a model cannot read, as a sentence; "" if it knows everything.
  live.unknown = (words) => (words.length ? `It does not know: ${[...new Set(words)].join(", ")}.` : "");

  // A share in percent; what is not quite 0 or 1 says so.
  live.percent = function (share) {
    if (share < 0.005) return "<1\u00a0%";
    return share >= 0.995 ? ">99\u00a0%" : `${Math.floor(100 * share + 0.5)}\u00a0%`;
  };

  // The models of a figure, [name, what a reader calls it].
  live.modelsOf = (root) => Object.entries(JSON.parse(root.dataset.models));

  live.show = (root, ...parts) => root.querySelector(".sq-live").replaceChildren(...parts);

  // A map of weights as a table, of which a screen reader can read every number: the same as `map_of`
  // makes in Python.
  live.map = function (rows, columns, weights, caption) {
    const table = element("table", "", { class: "sq-weights" }), head = element("tr"), body = element("tbody");
    head.append(element("td"), ...columns.map((word) => element("th", word, { scope: "col" })));
    rows.forEach(function (word, i) {
      const row = element("tr");
      row.append(element("th", word, { scope: "row" }));
      for (const w of weights[i])
        row.append(element("td", w < 0.005 ? "" : w.toFixed(2), { style: `--w:${w.toFixed(3)}` }));
      body.append(row);
    });
    const top = element("thead");
    top.append(head);
    table.append(element("caption", caption), top, body);
    const box = element("div", "", { class: "sq-scroll" });
    box.append(table);
    return box;
  };

  // Probabilities as a table with bars: rows of [word, share, note]; the same as `bars_of` makes in
  // Python. A row with a note is pale.
  live.bars = function (caption, rows) {
    const table = element("table", "", { class: "sq-bars" }), body = element("tbody");
    for (const [word, share, note = ""] of rows) {
      const row = element("tr", "", note ? { class: "sq-pale" } : {});
      row.append(element("th", word, { scope: "row" }));
      row.append(element("td", share.toFixed(3), { style: `--w:${share.toFixed(3)}` }), element("td", note));
      body.append(row);
    }
    table.append(element("caption", caption), body);
    return table;
  };
})();
