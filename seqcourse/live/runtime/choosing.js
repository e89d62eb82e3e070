// How a translation is chosen word by word: the tree of a beam search that grows, and words drawn.
(function () {
  "use strict";
  const live = window.seqlive, { bars, element, modelsOf, show } = live;
  const PACE = 700; // milliseconds for a step that goes by itself
  const number = (form, name) => Number(form.elements[name].value);
  const signed = (value) => value.toFixed(2).replace("-", "−");

  // A beam search as a tree that grows to the right: pruned candidates are pale, the best path is
  // marked. `levels` gets the lists of each step, and the paths that they hold.
  function branch(nodes, levels, depth = 0, before = []) {
    const list = element("ul"), level = (levels[depth] ||= { lists: [], paths: [] });
    level.lists.push(list);
    for (const { word, logProb, kept, best, next } of nodes) {
      const item = element("li"), node = element("span", word, { class: best ? "best" : kept ? "kept" : "pruned" });
      const words = [...before, word];
      node.append(element("small", signed(logProb)));
      item.append(node);
      level.paths.push({ words, logProb, kept });
      if (next.length) item.append(branch(next, levels, depth + 1, words));
      list.append(item);
    }
    return list;
  }

  // Buttons and a slider to go through the steps of a tree; made once for each figure.
  function stepper(root) {
    const box = element("div", "", { class: "sq-controls sq-steps" }), label = element("label", "Step ", { class: "sq-control" });
    const range = element("input", "", { type: "range", min: 1, step: 1 }), shown = element("output");
    const back = element("button", "Back", { type: "button" }), on = element("button", "One word more", { type: "button" });
    label.append(range, shown);
    box.append(back, label, on);
    root.querySelector("[role=status]").before(box);
    const go = (step) => root.goTo(Math.min(Math.max(step, 1), Number(range.max)), true);
    back.addEventListener("click", () => go(Number(range.value) - 1));
    on.addEventListener("click", () => go(Number(range.value) + 1));
    range.addEventListener("input", () => go(Number(range.value)));
    return { range, shown };
  }

  // Show a tree as far as some step, and say what the search has kept there.
  function grow(root, box, levels, whole) {
    const { range, shown } = (root.stepper ||= stepper(root)), last = levels.length;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    range.max = last;
    root.goTo = function (step, byHand) {
      if (byHand) clearInterval(root.growing);
      range.value = step;
      shown.value = `${step} of ${last}`;
      range.setAttribute("aria-valuetext", shown.value);
      box.classList.toggle("sq-growing", step < last);
      levels.forEach(({ lists }, depth) => lists.forEach((list) => list.toggleAttribute("data-later", depth >= step)));
      const right = Math.max(...levels[step - 1].lists.map((list) => list.firstChild.getBoundingClientRect().right));
      const top = step === last ? box.querySelector("li .best:not(:has(+ ul .best))").getBoundingClientRect().top : 0;
      if (top) box.scrollTop += top - box.getBoundingClientRect().top - box.clientHeight / 2;
      if (byHand || !still) box.scrollLeft += Math.max(0, right - box.getBoundingClientRect().right);
      const kept = levels[step - 1].paths.filter((path) => path.kept).sort((a, b) => b.logProb - a.logProb);
      const likeliest = kept.length
        ? `the likeliest new path is “${kept[0].words.join(" ")}” (${signed(kept[0].logProb)})`
        : "all new paths are pruned";
      if (byHand)
        root.querySelector("[role=status]").textContent =
          step === last ? whole : `Step ${step} of ${last}: ${levels[step - 1].paths.length} new paths; ${likeliest}.`;
    };
    clearInterval(root.growing);
    root.goTo(still ? last : 1);
    if (still) return;
    root.growing = setInterval(function () {
      const step = Number(range.value) + 1;
      if (step >= last) clearInterval(root.growing);
      root.goTo(Math.min(step, last));
    }, PACE);
  }

  live.views.tree = async function (root, form) {
    const [name] = modelsOf(root)[0], given = { name, text: form.elements.text.value };
    for (const key of ["width", "alpha", "temperature"]) given[key] = number(form, key);
    const found = await live.send("grow", given), levels = [];
    const box = element("div", "", { class: "sq-scroll sq-tree", tabindex: 0, role: "region", "aria-label": "The tree" });
    box.append(branch(found.roots, levels));
    show(root, element("p", found.text), box);
    let length = 0, end = null; // of the best path
    for (let at = found.roots; (at = at.find(({ best }) => best)); at = at.next) [length, end] = [length + 1, at];
    const how = `log-probability ${signed(end.logProb)}, divided by ${length} words to the power ${given.alpha}`;
    const whole = `${found.text} (score ${signed(found.score)}: ${how})`;
    grow(root, box, levels, whole);
    return whole;
  };

  // What one word was drawn from.
  function distribution({ word, likeliest, kept, words }, before) {
    const rows = likeliest.map(([name, share], place) => [name, share, place < kept ? "" : "cut"]);
    const which = before ? `next word after “${before}”` : "first word";
    const rest = `Kept: ${kept.toLocaleString("en")} of ${words.toLocaleString("en")} words.`;
    return [bars(`The ${which}; drawn: “${word}”`, rows), element("p", rest, { class: "sq-note" })];
  }

  // Some translations drawn from a model; every word is a button that shows its distribution.
  live.views.sample = async function (root, form) {
    const [name] = modelsOf(root)[0], given = { name, text: form.elements.text.value };
    for (const key of ["temperature", "k", "p"]) given[key] = number(form, key);
    // Other settings draw with the same random numbers; asked for the same again, with new ones.
    const asked = JSON.stringify(given);
    root.seed = (root.seed ?? 0) + (asked === root.asked ? 1 : 0);
    root.asked = asked;
    const drawn = await live.send("sample", { ...given, count: Number(root.dataset.count), seed: root.seed });
    const list = element("ol", "", { class: "sq-drawn", lang: live.languages[name] });
    const below = element("div", "", { class: "sq-next", "aria-live": "polite" }), buttons = [];
    function choose(button, step, before) {
      for (const other of buttons) {
        other.setAttribute("aria-pressed", other === button);
        other.tabIndex = other === button ? 0 : -1; // one stop of the Tab key; arrows go on
      }
      below.replaceChildren(...distribution(step, before));
    }
    for (const { steps, logProb } of drawn) {
      const item = element("li");
      steps.forEach(function (step, place) {
        const button = element("button", step.word, { type: "button" });
        const before = steps.slice(0, place).map(({ word }) => word).join(" ");
        button.addEventListener("click", () => choose(button, step, before));
        buttons.push(button);
        item.append(button, " ");
      });
      item.append(element("small", `log P ${signed(logProb)}`, { lang: "en" }));
      list.append(item);
    }
    choose(buttons[0], drawn[0].steps[0], "");
    list.addEventListener("keydown", function (event) {
      const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const next = move && buttons[buttons.indexOf(document.activeElement) + move];
      if (next) {
        event.preventDefault();
        next.focus();
        next.click();
      }
    });
    show(root, list, below);
    const different = new Set(drawn.map(({ text }) => text)).size;
    const share = { 1: "all the same", [drawn.length]: "all different" }[different] ?? `${different} different ones`;
    return `${drawn.length} translations drawn, ${share}. Click a word to see what it was drawn from.`;
  };
})();
