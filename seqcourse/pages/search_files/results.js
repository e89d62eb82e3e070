// The search page: reads the query from the address and the field, shows what rank.js finds.
(function () {
  "use strict";
  const SHOWN = 15; // more at a click
  const place = document.getElementById("search-results");
  const status = place.querySelector("[role=status]"), list = place.querySelector("ol");
  const form = document.querySelector(".bd-search-container form"), field = form.querySelector("input");
  const root = document.documentElement.dataset.content_root || "./";
  let known;

  function make(tag, attributes, ...children) {
    const node = Object.assign(document.createElement(tag), attributes);
    node.append(...children);
    return node;
  }

  // Words with the query's among them marked, and spaces between.
  const marked = (words) =>
    words.flatMap(({ text, hit }, k) => [k ? " " : "", hit ? make("mark", {}, text) : text]);

  function item({ section }, asked) {
    const link = make("a", { href: `${root}${section.page}.html#${section.anchor}` }, section.title);
    const row = make("li", {}, link);
    const within = section.within.join(" › ");
    if (within) row.append(make("span", { className: "seq-found-in" }, within));
    if (section.text) {
      const cut = seqsearch.snippet(section.text, asked);
      row.append(make("p", {}, cut.before, ...marked(cut.words), cut.after));
    }
    return row;
  }

  function nothing(query) {
    const better = seqsearch.suggest(query, known);
    status.replaceChildren(`Nothing found for “${query}”. `);
    if (better) {
      const link = make("a", { href: `?q=${encodeURIComponent(better)}` }, better);
      status.append("Did you mean ", link, "?");
    } else status.append("Try another word, or fewer.");
    const glossary = known.sections.find((section) => section.entry);
    if (!glossary) return;
    const link = make("a", { href: `${root}${glossary.page}.html` }, "glossary");
    status.append(" All terms of the book are in the ", link, ".");
  }

  function answer() {
    const query = field.value.trim();
    list.replaceChildren();
    place.querySelector("button")?.remove();
    status.textContent = query ? "" : "Type a word or a question.";
    if (!query) return;
    const { found, asked } = seqsearch.find(query, known);
    if (!found.length) return nothing(query);
    const missing = asked.filter((term) => ![...term.meant.keys()].some((one) => known.having.has(one)));
    status.textContent = found.length === 1 ? "One section found." : `${found.length} sections found.`;
    if (missing.length) status.append(` None has “${missing.map((term) => term.word).join("”, “")}”.`);
    list.append(...found.slice(0, SHOWN).map((hit) => item(hit, asked)));
    if (found.length <= SHOWN) return;
    const more = make("button", { type: "button", className: "btn btn-outline-primary" }, `Show all ${found.length}`);
    more.onclick = function () {
      const rest = found.slice(SHOWN).map((hit) => item(hit, asked));
      list.append(...rest);
      more.remove();
      rest[0].querySelector("a").focus();
    };
    place.append(more);
  }

  function changed() {
    const query = field.value.trim();
    history.replaceState(null, "", query ? `?q=${encodeURIComponent(query)}` : location.pathname);
    answer();
  }

  // Arrow keys go from the field through the results and back.
  function arrow(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const stops = [field, ...list.querySelectorAll("a")];
    const at = stops.indexOf(document.activeElement);
    if (!step || at < 0 || !stops[at + step]) return;
    event.preventDefault();
    stops[at + step].focus();
  }

  seqsearch.show = function (sections, weights) {
    known = seqsearch.index(sections, weights);
    field.value = new URLSearchParams(location.search).get("q") || "";
    answer();
    let soon;
    field.addEventListener("input", function () {
      clearTimeout(soon);
      soon = setTimeout(changed, 150);
    });
    form.addEventListener("submit", function (event) {
      event.preventDefault();
      clearTimeout(soon);
      changed();
    });
    form.parentElement.addEventListener("keydown", arrow);
    if (!field.value) field.focus();
  };
})();
