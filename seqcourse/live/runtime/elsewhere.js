// At one word the decoder looks at one position only, and writes on from there: the same as
// seqcourse/live/elsewhere.py computes and shows.
seqlive.part(function (live) {
  "use strict";
  const { EOS, SOS } = live, MOST = 20; // tokens: every position is tried at every step

  // The same memory, of which one position may be looked at: its weight is 1.
  function only(memory, place) {
    const [states, keys] = [memory.states, memory.keys].map(function (all) {
      const width = all.length / memory.length;
      return all.subarray(place * width, (place + 1) * width);
    });
    return { ...memory, length: 1, states, keys };
  }

  const best = (out) => live.top(out.logProbs, 1)[0].id;

  // Each word of the greedy translation with the word and the state before it, and its weights; at
  // step `place` only `column` may be looked at.
  function steps(model, memory, place, column) {
    const found = [], most = 2 * memory.length + 8;
    for (let before = SOS, state = model.start(memory); before !== EOS && found.length < most; ) {
      const out = model.step(before, state, found.length === place ? only(memory, column) : memory);
      found.push({ token: best(out), before, state, weights: out.weights });
      [before, state] = [found[found.length - 1].token, out.state];
    }
    return found.filter(({ token }) => token !== EOS);
  }

  live.lookAlone = function ({ name, text }) {
    const system = live.systems[name], { model, target, ids } = system, source = live.readSentence(system, text);
    if (source.length > MOST)
      throw new live.Refusal(`Write at most ${MOST} words and punctuation marks here; these are ${source.length}.`);
    const memory = live.encode(system, source);
    const rows = steps(model, memory).map(function ({ token, before, state, weights }) {
      const alone = Array.from(weights, (_, i) => target[best(model.step(before, state, only(memory, i)))]);
      return { word: target[token], weights: Array.from(weights), alone };
    });
    return { rows, source: [...source, target[EOS]], unknown: source.filter((one) => !ids.has(one)) };
  };

  live.lookAt = function ({ name, text, place, column }) {
    const system = live.systems[name];
    const memory = live.encode(system, live.readSentence(system, text));
    return steps(system.model, memory, place, column).map(({ token }) => system.target[token]);
  };
});

(function () {
  "use strict";
  const live = window.seqlive, { element, modelsOf, show } = live;

  function table(rows, source, lang) {
    const made = element("table", "", { class: "sq-weights sq-alone" }), head = element("tr"), body = element("tbody");
    head.append(element("td"), ...source.map((word) => element("th", word, { scope: "col" })));
    rows.forEach(function ({ word, weights, alone }, place) {
      const row = element("tr");
      row.append(element("th", word, { scope: "row", lang }));
      alone.forEach(function (other, column) {
        const cell = element("td", "", { lang, style: `--w:${weights[column].toFixed(3)}` });
        const button = element("button", "", { type: "button", tabindex: place || column ? "-1" : "0", "aria-pressed": "false" });
        button.append(other === word ? element("b", other) : other);
        Object.assign(button.dataset, { place, column });
        cell.append(button);
        row.append(cell);
      });
      body.append(row);
    });
    const top = element("thead");
    top.append(head);
    made.append(element("caption", "What it writes if it looks at one position only"), top, body);
    return made;
  }

  // One cell has the keyboard; arrow keys hand it on.
  function withKeys(made) {
    made.addEventListener("keydown", function (event) {
      const moved = live.arrows[event.key], here = event.target.closest("button");
      if (!moved || !here) return;
      const { place, column } = here.dataset, find = `[data-place="${+place + moved[1]}"][data-column="${+column + moved[0]}"]`;
      const next = made.querySelector(find);
      event.preventDefault();
      if (!next) return;
      [here.tabIndex, next.tabIndex] = [-1, 0];
      next.focus();
    });
  }

  live.views.elsewhere = async function (root, form) {
    const [[name]] = modelsOf(root), lang = live.languages[name], text = form.elements.text.value;
    const { rows, source, unknown } = await live.send("lookAlone", { name, text });
    if (!rows.length) return show(root, element("p", "Nothing was written.")) ?? "Nothing was written.";
    const words = rows.map(({ word }) => word), box = element("div", "", { class: "sq-scroll" });
    const made = table(rows, source, lang), after = element("p", "", { class: "sq-told sq-then", lang });
    withKeys(made);
    made.addEventListener("click", async function ({ target }) {
      const button = target.closest("button");
      if (!button) return;
      const [place, column] = [button.dataset.place, button.dataset.column].map(Number);
      const undone = button.ariaPressed === "true";
      made.querySelectorAll("button").forEach((each) => (each.ariaPressed = String(each === button && !undone)));
      const written = undone ? words : await live.send("lookAt", { name, text, place, column });
      const parts = undone ? [] : written.map((word, k) => (word === words[k] ? word : element("mark", word)));
      after.replaceChildren(...parts.flatMap((part, k) => (k ? [" ", part] : [part])));
      root.querySelector("[role=status]").textContent = undone
        ? "It looks where it usually looks."
        : `At the step of ${words[place]} it looks at ${source[column]} only: ${written.join(" ")} Press the cell again to undo it.`;
    });
    box.append(made);
    show(root, element("p", words.join(" "), { class: "sq-told", lang }), after, box);
    const same = rows.filter(({ word, alone }) => alone.every((other) => other === word)).length;
    const many = same === 1 ? "1 step" : `${same} steps`;
    return `At ${many} of ${rows.length} every position brings the same word. Press a cell: it looks there and writes on. ${live.unknown(unknown)}`.trim();
  };
})();
