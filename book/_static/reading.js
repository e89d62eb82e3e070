// Scroll boxes that say so, tables for a phone, pictures that open large, one switch for all code, how much is left to
// read, and paper that is light.
(() => {
  "use strict";
  const page = document.documentElement;

  // On a phone a table that is too wide becomes a list: a block for each row, where each cell has the name
  // of its column. One without a name for its first column has words on both sides, and stays a table.
  const phone = matchMedia("(max-width: 600px)");
  const stacks = box => {
    const table = box.querySelector(":scope > table");
    return phone.matches && table?.tHead && table.offsetWidth > box.clientWidth + 1;
  };
  const stack = box => {
    const table = box.querySelector(":scope > table");
    const heads = [...table.tHead.rows[0].cells];
    if (!heads[0].textContent.trim() || table.matches(".seq-stack")) return;
    table.classList.add("seq-stack");
    // Its rows and cells are blocks now, and would lose their roles. (A table with a role may have no caption.)
    for (const body of table.tBodies) body.setAttribute("role", "rowgroup");
    for (const row of [...table.tBodies].flatMap(body => [...body.rows])) {
      row.setAttribute("role", "row");
      [...row.cells].forEach((cell, place) => {
        cell.setAttribute("role", "cell");
        if (!place || !heads[place]) return;
        const name = document.createElement("span"); // with its formulas and exponents
        name.className = "seq-name";
        name.append(...heads[place].cloneNode(true).childNodes);
        cell.prepend(name);
      });
    }
  };

  // The Tab key stops at a box only while something in it is cut off. First all are measured, then
  // all are changed: the other way round each change would lay out the page again.
  const mark = near => {
    const cut = near.map(box => box.scrollWidth > box.clientWidth + 1);
    near.forEach((box, k) => {
      if (cut[k] === box.classList.contains("seq-cut")) return;
      box.classList.toggle("seq-cut", cut[k]);
      if (cut[k]) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    });
  };
  const boxes = new ResizeObserver(seen => {
    const near = seen.map(({ target }) => target), lists = near.filter(stacks);
    lists.forEach(stack);
    if (lists.length) setTimeout(mark, 0, near); // once the page is laid out anew
    else mark(near);
  });
  const wide = ".sq-scroll, .seq-wide, .sq-print, div.math, .pst-scrollable-table-container, "
    + "pre, .cell_output > .output";
  const observe = place => place.querySelectorAll(wide).forEach(box => boxes.observe(box));
  observe(document);
  const answers = new MutationObserver(changes => changes.forEach(({ target }) => observe(target)));
  document.querySelectorAll(".sq-live").forEach(place => answers.observe(place, { childList: true, subtree: true }));

  // A picture opens as large as the screen has room. Without this script its link shows the file.
  document.addEventListener("click", event => {
    const link = event.target.closest("a.seq-large");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const image = link.querySelector("img"), room = document.createElement("dialog");
    room.className = "seq-room";
    room.setAttribute("aria-label", image.alt);
    room.innerHTML = '<button type="button">Close</button><div tabindex="0"></div>';
    const copy = room.lastChild.appendChild(image.cloneNode());
    copy.removeAttribute("style");
    copy.style.setProperty("--ratio", image.naturalWidth / image.naturalHeight || 1);
    room.addEventListener("click", ({ target }) => { if (target !== copy) room.close(); });
    room.addEventListener("close", () => room.remove());
    document.body.append(room);
    room.showModal(); // Esc closes it, and the focus goes back to the picture
  });

  // A copied formula is its TeX. (The selection grows to whole formulas: half of one has none.)
  const formula = ".seq-formula, .katex:not(.seq-formula *)"; // displayed, or in a line
  const formulaAt = node => (node.nodeType === 1 ? node : node.parentElement)?.closest(formula);
  document.addEventListener("copy", event => {
    const selection = getSelection();
    if (selection.isCollapsed) return;
    const range = selection.getRangeAt(0).cloneRange();
    const first = formulaAt(range.startContainer), last = formulaAt(range.endContainer);
    if (first) range.setStartBefore(first);
    if (last) range.setEndAfter(last);
    const copy = document.createElement("div");
    copy.append(range.cloneContents());
    const formulas = copy.querySelectorAll(formula);
    if (!formulas.length) return;
    formulas.forEach(each => {
      const sign = each.matches(".katex") ? "$" : "$$";
      each.replaceWith(sign + each.querySelector("annotation").textContent.trim() + sign);
    });
    copy.querySelectorAll(".headerlink, .copybtn").forEach(extra => extra.remove());
    copy.style.cssText = "position: fixed; left: -99rem";
    document.body.append(copy); // text is what has a place
    event.clipboardData.setData("text/plain", copy.innerText);
    copy.remove();
    event.preventDefault();
  });

  // Code: as the author folded it, all of it, or none.
  const buttons = [...document.querySelectorAll(".seq-code-switch button")];
  const folds = [...document.querySelectorAll("details.hide")];
  const show = choice => {
    page.dataset.code = choice;
    buttons.forEach(button => button.setAttribute("aria-pressed", button.dataset.code === choice));
    folds.forEach(fold => { fold.open = choice === "all"; });
  };
  buttons.forEach(button => button.addEventListener("click", () => {
    show(button.dataset.code);
    try { localStorage.setItem("seq-code", button.dataset.code); } catch { /* a reader forbids it */ }
  }));
  let last;
  try { last = localStorage.getItem("seq-code"); } catch { /* so nothing is remembered */ }
  if (buttons.length && ["all", "none"].includes(last)) show(last);

  // In the bar at the top of a chapter: its section, and how many minutes of text are left, at 130 words each.
  // (A section within a section counts by itself; what is folded, operated or code does not count, and a formula is a word.)
  const bar = buttons.length && document.querySelector(".header-article-items__start");
  const parts = bar ? [...document.querySelectorAll(".bd-article > section section:not(.sq *)")] : [];
  const passed = "section, .sq, .cell_input, .toggle, .dropdown, details, script, style";
  const wordsOf = part => {
    let words = 0;
    const walker = document.createTreeWalker(part, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, node => {
      if (node.nodeType === 3) return NodeFilter.FILTER_ACCEPT;
      const formula = node.matches(".katex");
      if (formula) words++;
      return formula || node.matches(passed) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP;
    });
    while (walker.nextNode()) words += walker.currentNode.data.match(/[\p{L}\d]+/gu)?.length ?? 0;
    return words;
  };
  const idle = () => new Promise(done => (window.requestIdleCallback ?? setTimeout)(done));
  const follow = async () => {
    const place = document.createElement("p"), words = [], seen = new Set();
    for (const part of parts) { // a section at a time, while nothing else is to do
      await idle();
      words.push(wordsOf(part));
    }
    place.className = "seq-place";
    place.setAttribute("aria-hidden", "true");
    bar.after(place);
    const watch = new IntersectionObserver(changes => {
      changes.forEach(({ target, isIntersecting }) => seen[isIntersecting ? "add" : "delete"](target));
      const now = parts.findLastIndex(part => seen.has(part));
      const minutes = Math.ceil(words.slice(Math.max(now, 0)).reduce((a, b) => a + b) / 130);
      const title = parts[now]?.querySelector("h2, h3").cloneNode(true); // none above the first section
      title?.querySelectorAll(".headerlink").forEach(link => link.remove());
      place.innerHTML = "<span></span> <small></small>";
      place.firstChild.append(...title?.childNodes ?? []);
      place.lastChild.textContent = `${minutes} min of text left`;
    }, { rootMargin: "-10% 0px -85% 0px" });
    parts.forEach(part => watch.observe(part));
  };
  if (parts.length) follow();

  // On a phone the sections lie in a dialog, which closes when one is chosen.
  document.addEventListener("click", ({ target }) =>
    target.closest("dialog[id$=sidebar-modal] a[href^='#']")?.closest("dialog").close());

  // Paper is white, whatever the screen is.
  const paper = matchMedia("print");
  let screen;
  const print = () => {
    if (paper.matches) {
      screen = page.dataset.theme;
      page.dataset.theme = "light";
    } else if (screen) page.dataset.theme = screen;
  };
  paper.addEventListener("change", print);
  print();
})();
