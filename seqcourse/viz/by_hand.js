// Calculations that a reader does with a pencil: what was typed is compared with the right result and with
// those of the likely mistakes, all of which stand in the page. The same rules as in by_hand.py.
(() => {
  const NUMBER = /^([+-]?(?:\d+[.,]?\d*|[.,]\d+))(?:\/(\d+))?$/;

  function parse(text) {
    const found = NUMBER.exec(text.replace(/\s/g, "").replace(/[−–]/g, "-"));
    if (!found || (found[2] && !Number(found[2]))) return null;
    return Number(found[1].replace(",", ".")) / Number(found[2] ?? 1);
  }

  function start(root) {
    const { draws, tolerance, labels, words } = JSON.parse(root.querySelector("script").textContent);
    const boxes = [...root.querySelectorAll("input")], said = root.querySelector("[role=status]");
    const [check, other] = root.querySelectorAll(".sq-controls button");
    const fold = root.querySelector("details"), worked = fold.querySelector("p");
    const [where, so, ...asks] = root.lastElementChild.previousElementSibling.children;
    let place = 0, tries = 0;

    function say(mark, kind, ...parts) {
      const texts = parts.filter(Boolean).map((part) => {
        const line = document.createElement("span");
        if (typeof part === "string") line.textContent = part;
        else line.append(...part.cloneNode(true).childNodes);
        return line;
      });
      said.className = `sq-answer${kind}`;
      said.replaceChildren();
      if (mark) said.append(Object.assign(document.createElement("strong"), { textContent: mark }), " ");
      texts.forEach((line) => said.append(line, " "));
    }

    function judge() {
      const typed = boxes.map((box) => box.value.trim()), numbers = typed.map(parse);
      boxes.forEach((box, i) => box.toggleAttribute("aria-invalid", false));
      const bad = typed.includes("") ? typed.indexOf("") : numbers.indexOf(null);
      if (bad >= 0) {
        boxes[bad].setAttribute("aria-invalid", "true");
        boxes[bad].focus();
        return say("", "", typed[bad] ? `${labels[bad]} ${words.malformed} “${typed[bad]}”.` : words.empty);
      }
      const [, right, mistakes] = draws[place];
      const near = (result) => result.filter((x, i) => Math.abs(x - numbers[i]) <= tolerance + 1e-9).length;
      const known = mistakes.findIndex((result) => near(result) === boxes.length);
      const count = near(right), stage = Math.min(tries, 2), all = boxes.length;
      const detail = { name: root.dataset.asked, right: count === all };
      root.dispatchEvent(new CustomEvent("sq-answered", { bubbles: true, detail })); // the first one counts
      if (count === all) return say("✓ Right.", " sq-is-right", so);
      const part = all > 1 ? `${count} of ${all} numbers are right.` : "";
      const mistake = known < 0 ? words.unknown : asks[known];
      const hints = [[part, where], [mistake], [mistake, words.worked, worked]][stage];
      tries += 1;
      return say("✗ Not yet.", "", ...hints, words.next[stage]);
    }

    function another() {
      place = (place + 1) % draws.length;
      tries = 0;
      root.querySelectorAll("[data-n]").forEach((span) => {
        span.textContent = draws[place][0][span.dataset.n];
      });
      boxes.forEach((box) => { box.value = ""; box.removeAttribute("aria-invalid"); });
      fold.open = false;
      said.className = "";
      said.textContent = "Here are other numbers.";
      boxes[0].focus();
    }

    boxes.forEach((box) => {
      box.hidden = false;
      box.addEventListener("keydown", (event) => {
        event.stopPropagation(); // JupyterLab and the page have keys of their own
        if (event.key === "Enter") judge();
      });
    });
    check.addEventListener("click", judge);
    other.addEventListener("click", another);
    check.parentElement.hidden = false;
  }

  function all() {
    document.querySelectorAll(".sq-by-hand:not([data-ready])").forEach((root) => {
      root.dataset.ready = "";
      start(root);
    });
  }
  all();
  document.addEventListener("DOMContentLoaded", all);
})();
