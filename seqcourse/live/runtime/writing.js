// Language models that go on with a text, and one that fills blanks.
(function () {
  "use strict";
  const live = window.seqlive, { element, map, modelsOf, show } = live;

  // For each blank the likeliest words, with their probabilities.
  live.views.fill = async function (root, form) {
    const text = form.elements.text.value, shown = [], said = [];
    for (const [name, title] of modelsOf(root)) {
      const found = await live.send("fill", { name, text });
      shown.push(element("p", title, { class: "sq-note" }));
      found.forEach(function (words, k) {
        const names = words.map(([word]) => word), shares = words.map(([, share]) => share);
        shown.push(map(["probability"], names, [shares], `Blank ${k + 1}`));
        said.push(names[0]);
      });
    }
    show(root, ...shown);
    return `Likeliest: ${said.join(", ")}.`;
  };

  // Each model goes on with the text, a few characters at a time, until a new text is begun.
  live.views.write = async function (root, form) {
    const turn = (root.turn = {}), given = { text: form.elements.text.value };
    given.temperature = Number(form.elements.temperature.value);
    given.cache = form.elements.cache ? form.elements.cache.checked : true;
    given.seed = Math.floor(Math.random() * 2 ** 31);
    const said = [], length = Number(root.dataset.length), shown = [];
    const models = modelsOf(root);
    for (const [name] of models) await live.send("begin", { ...given, name });
    for (const [, title] of models) {
      const part = element("section"), text = element("p", "", { class: "sq-text" });
      text.append(element("strong", given.text), "");
      part.append(element("p", title, { class: "sq-note" }), text);
      shown.push([part, text.lastChild]);
    }
    show(root, ...shown.map(([part]) => part));
    for (const [k, [name, title]] of models.entries()) {
      const began = performance.now(), place = shown[k][1];
      let written = 0;
      while (written < length && root.turn === turn) {
        const { text } = await live.send("goOn", { name, count: Math.min(5, length - written) });
        if (!text) break;
        place.data += text;
        written += [...text].length;
      }
      const each = (performance.now() - began) / Math.max(written, 1);
      said.push(`${title}: ${written} characters, ${each.toFixed(each < 10 ? 1 : 0)} ms each.`);
    }
    return said.join(" ");
  };
})();
