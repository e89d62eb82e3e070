// Scroll boxes that say so, one switch for all code, and paper that is light.
(() => {
  "use strict";
  const page = document.documentElement;

  // The Tab key stops at a box only while something in it is cut off. (The theme does this for code.)
  const boxes = new ResizeObserver(seen => {
    for (const { target: box } of seen) {
      const cut = box.scrollWidth > box.clientWidth + 1;
      box.classList.toggle("seq-cut", cut);
      if (cut) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  });
  const wide = ".sq-scroll, .seq-wide, .sq-print, div.math, .pst-scrollable-table-container";
  const observe = place => place.querySelectorAll(wide).forEach(box => boxes.observe(box));
  observe(document);
  const answers = new MutationObserver(changes => changes.forEach(({ target }) => observe(target)));
  document.querySelectorAll(".sq-live").forEach(place => answers.observe(place, { childList: true, subtree: true }));

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
    localStorage.setItem("seq-code", button.dataset.code);
  }));
  const last = localStorage.getItem("seq-code");
  if (buttons.length && ["all", "none"].includes(last)) show(last);

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
