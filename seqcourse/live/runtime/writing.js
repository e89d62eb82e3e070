// Language models that go on with a text, one that fills blanks, one that names a class; an LSTM's cells; pieces of words.
(function () {
  "use strict";
  const live = window.seqlive, { bars, element, map, modelsOf, show } = live;
  const TURN = 30; // milliseconds for which one model writes before the next one does

  // For each blank the likeliest words, with their probabilities.
  live.views.fill = async function (root, form) {
    const text = form.elements.text.value, shown = [], said = [], unknown = [];
    for (const [name, title] of modelsOf(root)) {
      const found = await live.send("fill", { name, text });
      shown.push(element("p", title, { class: "sq-note" }));
      found.blanks.forEach(function (words, k) {
        const names = words.map(([word]) => word), shares = words.map(([, share]) => share);
        shown.push(map(["probability"], names, [shares], `Blank ${k + 1}`));
        said.push(names[0]);
      });
      unknown.push(...found.unknown);
    }
    show(root, ...shown);
    return `Likeliest: ${said.join(", ")}. ${live.unknown(unknown)}`.trim();
  };

  // A text, each character coloured by one entry of the cell state behind it: high warm, low cold.
  live.views.cells = async function (root, form) {
    const [[name]] = modelsOf(root), entry = Number(form.elements.entry.value);
    const { characters, cells, unknown } = await live.send("cells", { name, text: form.elements.text.value });
    const values = cells.map((cell) => cell[entry]);
    const largest = Math.max(...values.map(Math.abs)) || 1;
    const text = element("p", "", { class: "sq-text sq-cells", "aria-hidden": "true" });
    characters.forEach(function (character, k) {
      const style = `--w:${(Math.abs(values[k]) / largest).toFixed(2)}`;
      text.append(element("span", character, values[k] < 0 ? { class: "sq-low", style } : { style }));
    });
    show(root, element("p", characters.join(""), { class: "sq-heard" }), text);
    const before = (k) => characters.slice(Math.max(0, k - 9), k + 1).join("");
    const at = (value) => `(${value.toFixed(1)}) after “${before(values.indexOf(value))}”`;
    const ends = `highest ${at(Math.max(...values))}, lowest ${at(Math.min(...values))}`;
    return `Entry ${entry}: ${ends}. ${live.unknown(unknown)}`.trim();
  };

  // The pieces of a text after so many joined pairs.
  live.views.merge = async function (root, form) {
    const [[name]] = modelsOf(root), count = Number(form.elements.merges.value);
    const { pieces, latest } = await live.send("merge", { name, text: form.elements.text.value, count });
    const shown = element("p", "", { class: "sq-pieces" });
    for (const piece of pieces) shown.append(element("span", piece), " ");
    show(root, shown);
    return `${pieces.length} pieces. ${latest ? `The latest pair joined: ${latest.join(" and ")}.` : "Nothing is joined yet."}`;
  };

  // The probability of each class.
  live.views.classify = async function (root, form) {
    const [name, title] = modelsOf(root)[0], { layer, longest } = root.dataset;
    const given = { name, text: form.elements.text.value, layer: JSON.parse(layer), longest: Number(longest) };
    const { shares, left } = await live.send("sort", given);
    const rows = JSON.parse(root.dataset.classes).map((label, k) => [label, shares[k]]);
    show(root, bars(title, rows));
    const [[label, share]] = rows.sort((a, b) => b[1] - a[1]);
    const rest = left ? ` The last ${left} pieces of words were not read.` : "";
    return `Likeliest: ${label} (${share.toFixed(2)}).${rest}`;
  };

  // A model writes in one way or two: with keys and values kept, and with everything read anew.
  async function begin(models, given, ways) {
    const runs = [];
    for (const [name, title] of models) {
      const { unit, looksBack, unknown } = await live.send("begin", { ...given, name });
      if (ways) await live.send("goOn", { name, count: 10 }); // the browser gets fast at what it has run
      const both = looksBack && ways ? (ways === "both" ? [true, false] : [ways === "kept"]) : [true];
      for (const cache of both) {
        const how = looksBack && ways ? (cache ? ", keys and values kept" : ", everything read anew") : "";
        const run = name + how;
        await live.send("begin", { ...given, name, run, cache });
        runs.push({ run, title: title + how, unit, unknown, milliseconds: [] });
      }
    }
    return runs;
  }

  const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
  const short = (value) => value.toFixed(value < 10 ? 1 : 0);

  // How fast each run wrote: measured where it was computed, without the time to show it.
  function pace(runs) {
    const table = element("table"), head = element("tr"), body = element("tbody");
    const names = ["per second", "ms each, first 10", "ms each, last 10"];
    head.append(element("td"), ...names.map((name) => element("th", name, { scope: "col" })));
    for (const { title, milliseconds, unit } of runs) {
      const row = element("tr"), all = mean(milliseconds);
      const pace = milliseconds.length ? `${Math.round(1000 / Math.max(all, 0.01))} ${unit}` : "";
      row.append(element("th", title, { scope: "row" }), element("td", pace));
      // The first one also reads what was typed.
      for (const some of [milliseconds.slice(1, 11), milliseconds.slice(-10)])
        row.append(element("td", some.length ? short(mean(some)) : ""));
      body.append(row);
    }
    const top = element("thead");
    top.append(head);
    table.append(element("caption", "Writing speed"), top, body);
    return table;
  }

  // Each model goes on with the text, a few pieces at a time, until something else is asked. All get the
  // same time to compute, so a faster one is seen to be faster.
  live.views.write = async function (root, form) {
    const given = { text: form.elements.text.value, temperature: Number(form.elements.temperature.value) };
    given.seed = Math.floor(Math.random() * 2 ** 31);
    const runs = await begin(modelsOf(root), given, form.elements.cache?.value);
    const length = Number(root.dataset.length), all = element("div", "", { class: "sq-side" });
    for (const run of runs) {
      const part = element("section"), text = element("p", "", { class: "sq-text" });
      text.append(element("strong", given.text), "");
      part.append(element("p", run.title, { class: "sq-note" }), text);
      all.append(part);
      run.place = text.lastChild;
    }
    show(root, all);
    const going = new Set(runs);
    while (going.size && !root.again) {
      for (const run of [...going])
        for (let spent = 0; spent < TURN && going.has(run) && !root.again; ) {
          const count = Math.min(2, length - run.milliseconds.length);
          const { text, milliseconds } = await live.send("goOn", { name: run.run, run: run.run, count });
          run.place.data += text;
          run.milliseconds.push(...milliseconds);
          spent += milliseconds.reduce((a, b) => a + b, 1);
          if (milliseconds.length < count || run.milliseconds.length >= length) going.delete(run);
        }
      if (runs.length > 1) show(root, all, pace(runs)); // the table grows with the texts
    }
    const said = runs.map(
      ({ title, unit, milliseconds }) => `${title}: ${milliseconds.length} ${unit}, ${short(mean(milliseconds))} ms each.`,
    );
    const heard = element("span", said.join(" "), runs.length > 1 ? { class: "sq-heard" } : {}); // the table shows it
    return [heard, ` ${live.unknown(runs.flatMap(({ unknown }) => unknown))}`];
  };
})();
