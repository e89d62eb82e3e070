// Guesses before a figure: the answer is laid over the guess, and the figure below the card opens. The same
// rules as in predictions/__init__.py. Without this script all is open.
(() => {
  // What waits for a guess: outputs of the cells from a card to its figure, whose caption is in it or below.
  function waiting(root) {
    const found = [];
    let next = root.closest(".bd-article div.cell")?.nextElementSibling;
    for (; next && !next.matches("section, h2, h3"); next = next.nextElementSibling) {
      const last = next.querySelector('[id^="fig"]');
      if (next.matches(".cell")) found.push(...next.querySelectorAll(":scope > .cell_output"));
      else if (last) found.push(next);
      if (last) return found;
    }
    return [];
  }

  function fold(root) {
    const parts = waiting(root);
    const note = document.createElement("p");
    const open = () => {
      note.remove();
      parts.forEach((part) => part.removeAttribute("hidden"));
    };
    const meant = () => {
      const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (!target || !parts.some((part) => part.contains(target))) return;
      open();
      target.scrollIntoView();
    };
    parts.forEach((part) => {
      part.setAttribute("hidden", "until-found"); // a search in the page and a link still find it
      part.addEventListener("beforematch", open);
    });
    note.className = "sq-note";
    note.textContent = "The figure below opens with your guess, or with “Show me”.";
    if (parts.length) root.append(note);
    addEventListener("hashchange", meant);
    meant();
    return open;
  }

  function start(root) {
    const unfold = fold(root), answer = root.querySelector(".sq-show");
    if (root.matches(".sq-poll")) { // its options open by themselves
      root.querySelectorAll("details").forEach((each) => {
        each.addEventListener("toggle", () => each.open && unfold());
      });
      return;
    }
    const { row, truth, near, wrong, scale, unit } = JSON.parse(root.querySelector("script").textContent);
    const [low, high, bottom, top] = scale, svg = root.querySelector("svg");
    const inputs = [...root.querySelectorAll("input")], button = root.querySelector("button");
    const said = root.querySelector("[role=status]"), measured = svg.getAttribute("aria-label");
    const sentences = root.querySelector(":scope > div[hidden]:not(.sq-controls)").children;
    const marks = [...root.querySelectorAll(".sq-guess > *")];
    let guess, text;

    function move() {
      const values = inputs.map((input) => Number(input.value)), sum = values.reduce((a, b) => a + b);
      guess = row ? values.map((x) => (sum ? (100 * x) / sum : 100 / values.length)) : values;
      text = guess.map((x, i) => {
        const y = bottom - ((bottom - top) * (x - low)) / (high - low), mark = marks[i];
        const shown = `${row ? Math.round(x) : x}${unit}`;
        if (mark.dataset.begin) mark.setAttribute("d", mark.dataset.begin + y);
        else { mark.setAttribute("y", y); mark.setAttribute("height", bottom - y); }
        inputs[i].setAttribute("aria-valuetext", inputs[i].nextSibling.textContent = shown);
        return row ? `${inputs[i].previousSibling.textContent.trim()} ${shown}` : shown;
      }).join(", ");
      svg.setAttribute("aria-label", `Your guess: ${text}.`);
    }

    function judge() {
      if (!row) {
        if (Math.abs(guess[0] - truth.at(-1)) <= near + 1e-9) return 0;
        return 1 + wrong.findIndex((to) => guess[0] <= to);
      }
      const apart = [truth, ...wrong].map((other) => other.reduce((a, x, i) => a + Math.abs(x - guess[i]), 0));
      return apart.indexOf(Math.min(...apart));
    }

    function open(guessed) {
      root.dataset.open = "";
      root.toggleAttribute("data-guessed", guessed);
      root.querySelector(".sq-guess").toggleAttribute("hidden", !guessed);
      root.querySelector(".sq-controls").hidden = true;
      svg.setAttribute("aria-label", guessed ? `Your guess: ${text}. ${measured}` : measured);
      unfold();
    }

    button.addEventListener("click", () => {
      const number = judge(), key = document.createElement("p"), line = document.createElement("p");
      const mark = document.createElement("strong");
      mark.textContent = number ? "✗ Not this. " : "✓ Right. ";
      line.append(mark, ...sentences[number].cloneNode(true).childNodes);
      key.className = "sq-key";
      key.textContent = `your guess: ${text}`;
      said.className = `sq-answer${number ? "" : " sq-is-right"}`;
      said.replaceChildren(line, key);
      answer.hidden = true;
      open(true);
      said.tabIndex = -1;
      said.focus();
      const detail = { name: root.dataset.asked, right: !number };
      root.dispatchEvent(new CustomEvent("sq-answered", { bubbles: true, detail }));
    });
    answer.addEventListener("toggle", () => answer.open && !("open" in root.dataset) && open(false));
    answer.before(svg);
    inputs.forEach((input) => {
      input.addEventListener("input", move);
      input.addEventListener("keydown", (event) => event.stopPropagation()); // the page has keys of its own
    });
    root.querySelector(".sq-controls").hidden = false;
    root.dataset.ready = "";
    move();
  }

  function all() {
    document.querySelectorAll(".sq-predict[data-asked]:not([data-seen])").forEach((root) => {
      root.dataset.seen = "";
      start(root);
    });
  }
  document.addEventListener("sq-added", all);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", all);
  else all();
})();
