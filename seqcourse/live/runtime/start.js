// On every page with a live figure. Loads everything else when a reader first touches one.
(function () {
  "use strict";
  // numbers to system run in a worker; views run in the page.
  const PARTS = [
    "numbers", "layers", "models", "search", "text", "subwords", "system", "worker", "views",
  ];
  const PIECES = 8; // of a model, as `pack.py` cuts it
  const here = document.currentScript.src.replace(/[^/]*$/, "");
  const live = (window.seqlive = { parts: [], views: {}, setUps: {}, arrived: {} });
  const once = {}, loads = {};

  // Classic scripts only: from a folder on disk a page may not fetch or import.
  function script(path) {
    once[path] ||= new Promise(function (resolve, reject) {
      const tag = document.createElement("script");
      tag.async = false; // in the order in which they were asked for
      tag.src = here + path;
      tag.onload = resolve;
      tag.onerror = function () {
        delete once[path];
        tag.remove();
        reject(new Error(path + " could not be loaded"));
      };
      document.head.append(tag);
    });
    return once[path];
  }

  // What runs in the worker registers itself here, so that the worker can be made of its text.
  live.part = function (make) {
    live.parts.push(make);
  };

  // A model's script calls this: its header comes with the first piece, its weights in all of them.
  live.model = function (name, number, header, text) {
    const model = (live.arrived[name] ||= { texts: [] });
    if (header) model.header = header;
    model.texts[number] = text;
  };

  async function fetchModel(name, progress) {
    let done = 0;
    await Promise.all(PARTS.map((part) => script(part + ".js")));
    await Promise.all(
      Array.from({ length: PIECES }, (_, k) =>
        script(`models/${name}.${k}.js`).then(() => progress((done += 1) / PIECES)),
      ),
    );
    const { header, texts } = live.arrived[name];
    delete live.arrived[name]; // the worker keeps it
    await live.send("load", { name, header, text: texts.join("") });
  }

  // Load a model, once; `progress` is called with the share that has arrived.
  live.load = function (name, progress) {
    loads[name] ||= fetchModel(name, progress).catch(function (error) {
      delete loads[name];
      throw error;
    });
    return loads[name];
  };

  // A figure to draw on or to play with: when a reader first comes near it, `live.setUps` prepares it.
  function near(root) {
    if (root.isSetUp) return;
    root.isSetUp = true;
    Promise.all(PARTS.map((part) => script(part + ".js"))).then(
      () => live.setUps[root.dataset.live]?.(root),
      () => (root.isSetUp = false),
    );
  }

  function wake(root) {
    const form = root.querySelector("form");
    form.hidden = false;
    for (const kind of ["pointerover", "pointerdown", "focusin"]) root.addEventListener(kind, () => near(root));
    form.addEventListener("input", function ({ target }) {
      if (target.type === "range") target.nextElementSibling.value = target.value;
    });
    // A head of a Transformer: switched off, on again, and the figure answers anew.
    root.off = new Set();
    root.querySelectorAll("[data-head]").forEach((button) => (button.disabled = false));
    root.addEventListener("click", function (event) {
      const button = event.target.closest("[data-head]");
      if (!button) return;
      root.text = form.elements.text.value;
      if (!root.off.delete(button.dataset.head)) root.off.add(button.dataset.head);
      form.requestSubmit();
    });
    form.addEventListener("submit", function (event) {
      event.preventDefault();
      answer(root, form);
    });
  }

  async function answer(root, form) {
    const said = root.querySelector("[role=status]"), bar = root.querySelector("progress");
    const button = form.querySelector("[type=submit]");
    button.disabled = true;
    try {
      for (const name of Object.keys(JSON.parse(root.dataset.models))) {
        if (!loads[name]) {
          bar.hidden = false;
          said.textContent = `Loading the model (${root.dataset.size}, once) …`;
        }
        await live.load(name, (share) => (bar.value = share));
      }
      bar.hidden = true;
      said.textContent = await live.views[root.dataset.live](root, form);
    } catch (error) {
      bar.hidden = true;
      said.textContent = error.plain
        ? error.message
        : `That did not work (${error.message}). The example below was made with the page.`;
    }
    button.disabled = false;
  }

  function wakeAll() {
    document.querySelectorAll("[data-live]").forEach(wake);
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", wakeAll);
  else wakeAll();
})();
