// What a reader sees of an answer. Every view puts it into the figure and returns a sentence.
(function () {
  "use strict";
  const live = window.seqlive;

  function element(tag, text = "", attributes = {}) {
    const made = document.createElement(tag);
    made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  // A map of weights as a table, of which a screen reader can read every number: the same as `map_of`
  // makes in Python.
  function map(rows, columns, weights, caption) {
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
  }

  live.views.translate = async function (root, form) {
    const text = form.elements.text.value, said = [], began = performance.now();
    const shown = [];
    for (const [name, title] of Object.entries(JSON.parse(root.dataset.models))) {
      const found = await live.send("translate", { name, text, width: Number(root.dataset.width) });
      const part = element("section", "", { lang: root.dataset.language });
      part.append(element("p", title, { class: "sq-note", lang: "en" }), element("p", found.text));
      if (found.weights[0])
        part.append(map(found.target, [...found.source, "<eos>"], found.weights, "Where it looks"));
      shown.push(part);
      said.push(found.text);
      if (found.unknown.length) said.push(`It does not know: ${[...new Set(found.unknown)].join(", ")}.`);
    }
    root.querySelector(".sq-live").replaceChildren(...shown);
    return `${said.join(" ")} (${Math.round(performance.now() - began)} ms)`;
  };

  const ATTENTIONS = [
    ["Decoder, source", "decoder", "cross_attention"],
    ["Decoder, own words", "decoder", "self_attention"],
    ["Encoder", "encoder", "self_attention"],
  ];

  // One head's map, small: a button that switches the head off and on again.
  function headButton(name, title, rows, isOff) {
    const button = element("button", "", { type: "button", "data-head": name, "aria-pressed": !isOff });
    button.setAttribute("aria-label", `${title}, on`);
    const columns = Math.max(...rows.map((row) => row.length));
    const map = element("span", "", { class: "sq-small", style: `--n:${columns}`, "aria-hidden": "true" });
    for (const row of rows)
      for (let k = 0; k < columns; k++) map.append(element("i", "", { style: `--w:${(row[k] ?? 0).toFixed(2)}` }));
    button.append(map);
    return button;
  }

  // All heads of a Transformer on one sentence, and what it says without some of them.
  live.views.heads = async function (root, form) {
    const [name] = Object.keys(JSON.parse(root.dataset.models)), text = form.elements.text.value;
    if (root.text !== text) root.off = new Set();
    root.text = text;
    const off = [...root.off];
    const whole = await live.send("translate", { name, text, maps: true });
    const found = off.length ? await live.send("translate", { name, text, maps: true, off }) : whole;
    const box = element("div", "", { class: "sq-all-heads" });
    for (const [kind, stack, attention] of ATTENTIONS)
      for (let l = 0; found.maps[`${stack}.${l}.${attention}`]; l++) {
        const all = `${stack}.${l}.${attention}`, title = `${kind}, layer ${l + 1}`, row = element("span");
        found.maps[all].forEach(function (rows, k) {
          const isOff = root.off.has(`${all}.${k}`);
          row.append(headButton(`${all}.${k}`, `${title}, head ${k + 1}`, rows, isOff));
        });
        box.append(element("span", title), row);
      }
    const said = element("p", found.text);
    const held = document.activeElement?.dataset?.head;
    root.querySelector(".sq-live").replaceChildren(said, box);
    if (held) root.querySelector(`[data-head="${held}"]`).focus();
    return off.length
      ? `All heads: ${whole.text} Without ${off.length === 1 ? "one head" : off.length + " heads"}: ${found.text}`
      : `All heads: ${whole.text} Click a head to switch it off.`;
  };

  // For each blank the likeliest words, with their probabilities.
  live.views.fill = async function (root, form) {
    const text = form.elements.text.value, shown = [], said = [];
    for (const [name, title] of Object.entries(JSON.parse(root.dataset.models))) {
      const found = await live.send("fill", { name, text });
      shown.push(element("p", title, { class: "sq-note" }));
      found.forEach(function (words, k) {
        const names = words.map(([word]) => word), shares = words.map(([, share]) => share);
        shown.push(map(["probability"], names, [shares], `Blank ${k + 1}`));
        said.push(names[0]);
      });
    }
    root.querySelector(".sq-live").replaceChildren(...shown);
    return `Likeliest: ${said.join(", ")}.`;
  };

  // A beam search as a tree that grows to the right: pruned candidates are pale, the best path is marked.
  function branch(nodes) {
    const list = element("ul");
    for (const { word, logProb, kept, best, next } of nodes) {
      const item = element("li"), node = element("span", word, { class: best ? "best" : kept ? "kept" : "pruned" });
      node.append(element("small", logProb.toFixed(2).replace("-", "−")));
      item.append(node);
      if (next.length) item.append(branch(next));
      list.append(item);
    }
    return list;
  }

  live.views.tree = async function (root, form) {
    const [name] = Object.keys(JSON.parse(root.dataset.models)), text = form.elements.text.value;
    const width = Number(form.elements.width.value), alpha = Number(form.elements.alpha.value);
    const found = await live.send("grow", { name, text, width, alpha });
    const box = element("div", "", { class: "sq-scroll sq-tree" });
    box.append(branch(found.roots));
    root.querySelector(".sq-live").replaceChildren(element("p", found.text), box);
    return `${found.text} (score ${found.score.toFixed(2)})`;
  };

  // Each model goes on with the text, a few characters at a time, until a new text is begun.
  live.views.write = async function (root, form) {
    const turn = (root.turn = {}), given = { text: form.elements.text.value };
    given.temperature = Number(form.elements.temperature.value);
    given.cache = form.elements.cache ? form.elements.cache.checked : true;
    given.seed = Math.floor(Math.random() * 2 ** 31);
    const said = [], length = Number(root.dataset.length), shown = [];
    const models = Object.entries(JSON.parse(root.dataset.models));
    for (const [name] of models) await live.send("begin", { ...given, name });
    for (const [, title] of models) {
      const part = element("section"), text = element("p", "", { class: "sq-text" });
      text.append(element("strong", given.text), "");
      part.append(element("p", title, { class: "sq-note" }), text);
      shown.push([part, text.lastChild]);
    }
    root.querySelector(".sq-live").replaceChildren(...shown.map(([part]) => part));
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
