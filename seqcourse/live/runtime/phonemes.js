// How a word is pronounced: its phonemes, and where each looked.
(function () {
  "use strict";
  const live = window.seqlive, { element, map, modelsOf, show } = live;

  live.views.pronounce = async function (root, form) {
    const heardIn = new Map(root.dataset.phonemes.split(" ").map((pair) => pair.split(":")));
    const [[name]] = modelsOf(root), text = form.elements.text.value;
    const found = await live.send("pronounce", { name, text });
    const legend = [...new Set(found.target)].map((one) => `${one} as in ${heardIn.get(one)}`).join(", ");
    show(
      root,
      element("p", found.text, { class: "sq-said" }),
      element("p", `${legend}.`, { class: "sq-note" }),
      map(found.target, [...found.source, "<eos>"], found.weights, "Where it looks"),
    );
    return `${text.trim()}: ${found.text}. ${live.unknown(found.unknown)}`.trim();
  };
})();
