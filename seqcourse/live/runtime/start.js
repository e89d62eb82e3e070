// On every page with a live figure. Loads everything else when a reader first touches one.
(function () {
  "use strict";
  // What computes, in a worker; then what shows, in the page. A part may use those before it.
  const PARTS = [
    "numbers", "layers", "models", "search", "text", "subwords", "system",
    "pictures", "pronouncing", "clothes", "sound", "speller",
    "worker", "show", "bands", "translating", "choosing", "writing", "phonemes", "drawing", "listening",
    "scenes", "looks", "compose", "fitting",
  ];
  const OWN = { // of figures that few pages have
    elsewhere: ["elsewhere"],
    room: ["changing", "tracing", "machine", "origins", "origins_of_parts", "credit",
           "room_floor", "room_changes", "room_lens", "room_tour", "room"],
  };
  const PIECES = 8; // of a model, as `pack.py` cuts it
  const FOLLOWS = "[data-eager], [data-live=write], [data-live=cells], [data-live=merge], [data-live=listen]";
  const here = document.currentScript.src.replace(/[^/]*$/, "");
  const live = (window.seqlive = { parts: [], views: {}, setUps: {}, arrived: {}, languages: {} });
  const once = {}, loads = {};

  // All parts that the figures of this page need.
  function parts() {
    const kinds = Object.keys(OWN).filter((kind) => document.querySelector(`[data-live=${kind}]`));
    return [...PARTS, ...kinds.flatMap((kind) => OWN[kind])];
  }

  // Classic scripts only: from a folder on disk a page may not fetch or import.
  function script(path) {
    once[path] ||= new Promise(function (resolve, reject) {
      const tag = document.createElement("script");
      tag.async = false; // in the order in which they were asked for
      tag.src = here + path;
      tag.onload = function () {
        tag.remove();
        resolve();
      };
      tag.onerror = function () {
        delete once[path];
        tag.remove();
        const offline = !navigator.onLine && location.protocol !== "file:";
        reject(new Error(offline ? "you are offline" : path + " could not be loaded"));
      };
      document.head.append(tag);
    });
    return once[path];
  }
  live.script = script;

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
    await Promise.all(parts().map((part) => script(part + ".js")));
    const paths = Array.from({ length: PIECES }, (_, k) => `models/${name}.${k}.js`);
    await Promise.all(paths.map((path) => script(path).then(() => progress((done += 1) / PIECES))));
    const { header, texts } = live.arrived[name];
    await live.send("load", { name, header, text: texts.join("") });
    delete live.arrived[name]; // the worker keeps it
    live.languages[name] = header.language;
    paths.forEach((path) => delete once[path]);
  }

  // Load a model, once for the page; `progress` is called with the share that has arrived.
  live.load = function (name, progress) {
    const load = (loads[name] ||= { share: 0, watchers: [] });
    load.watchers.push(progress);
    progress(load.share);
    load.done ||= fetchModel(name, function (share) {
      load.share = share;
      load.watchers.forEach((watcher) => watcher(share));
    }).then(
      () => (load.ready = true),
      function (error) {
        if (loads[name] === load) delete loads[name];
        throw error;
      },
    );
    return load.done;
  };

  // The worker is gone, and all models with it.
  live.forget = function () {
    Object.keys(loads).forEach((name) => delete loads[name]);
  };

  // A figure to draw on or to play with: when a reader first comes near it, `live.setUps` prepares it.
  function near(root) {
    root.setUp ||= Promise.all(parts().map((part) => script(part + ".js")))
      .then(() => live.setUps[root.dataset.live]?.(root))
      .then(() => (root.isSetUp = true), () => (root.setUp = null));
    return root.setUp;
  }

  // What is typed into a figure. While it is not what the answer is for, the answer is marked.
  const typed = (root) => ["text", "other"].map((name) => root.querySelector("form").elements[name]?.value).join("\n");
  function mark(root) {
    const said = root.querySelector("[role=status]"), button = root.querySelector("[type=submit]");
    const isShown = Boolean(root.querySelector(".sq-live")?.hasChildNodes());
    const isOld = isShown && typed(root) !== root.shownFor;
    if (root.busy || !isOld === !root.kept) return;
    root.classList.toggle("sq-stale", isOld);
    if (isOld) {
      root.kept = [...said.childNodes];
      said.textContent = `What you see answers what was typed before; “${button.textContent}” answers this.`;
    } else {
      said.replaceChildren(...root.kept);
      root.kept = null;
    }
  }

  function wake(root) {
    const form = root.querySelector("form");
    form.hidden = false;
    root.shownFor = typed(root);
    for (const kind of ["pointerover", "pointerdown", "focusin", "dragover"]) root.addEventListener(kind, () => near(root));
    for (const example of form.querySelectorAll(".sq-examples button"))
      example.addEventListener("click", function () {
        form.elements.text.value = example.textContent;
        live.answer(root);
      });
    form.addEventListener("input", function ({ target }) {
      if (target.type === "range") target.nextElementSibling.value = target.value;
      if (["text", "other"].includes(target.name)) mark(root);
    });
    // Once a figure has answered, it follows every control, unless that only chooses a brush.
    form.addEventListener("change", function ({ target }) {
      if (root.answered && root.matches(FOLLOWS) && target.name !== "text") live.answer(root);
    });
    // The things in a drawn scene can be pressed: that starts everything.
    root.addEventListener("pointerdown", function ({ target }) {
      if (target.closest(".sq-thing[type=submit]")) live.answer(root);
    });
    // A picture pressed before the figure is prepared is pressed again then.
    form.addEventListener("click", function ({ target }) {
      const button = target.closest("[data-picture],[data-clear],[data-shuffle]");
      if (button && !root.isSetUp) near(root).then((ready) => ready && button.click());
    });
    form.addEventListener("submit", function (event) {
      event.preventDefault();
      live.answer(root);
    });
    // An address that says what a figure is to show asks for it.
    const isMeant = () => root.dataset.opens && new RegExp(`^#(${root.dataset.opens})`).test(location.hash);
    if (isMeant()) live.answer(root);
    window.addEventListener("hashchange", () => !root.answered && isMeant() && live.answer(root));
  }

  // Load what a figure needs: a bar for each model that is not there yet, or no longer.
  live.loadAll = async function (root) {
    const said = root.querySelector("[role=status]"), bar = root.querySelector("progress");
    const chosen = root.querySelector("form").elements.model?.value; // if there is a list of models
    for (const [name, title] of Object.entries(JSON.parse(root.dataset.models))) {
      if ((chosen && name !== chosen) || loads[name]?.ready) continue;
      bar.hidden = false;
      bar.setAttribute("aria-label", `Loading ${title}`);
      said.textContent = `Loading: ${title} (${JSON.parse(root.dataset.sizes)[name]}, once) …`;
      await live.load(name, (share) => (bar.value = share)).finally(() => (bar.hidden = true));
    }
  };

  // Let the view of a figure answer. Asked while it is busy, a figure goes on to the new question
  // when it is done; a view that takes long may look at `root.again` and stop.
  live.answer = async function (root) {
    const form = root.querySelector("form"), said = root.querySelector("[role=status]");
    const button = form.querySelector("[type=submit]");
    const asked = () => JSON.stringify([...new FormData(form)]);
    root.again = root.again || (root.busy && root.busy !== asked());
    if (root.busy) return;
    const name = button.textContent;
    do {
      [root.again, root.busy, root.kept] = [false, asked(), null];
      const question = typed(root);
      button.setAttribute("aria-disabled", "true"); // and not disabled: it keeps the keyboard
      button.textContent = "Busy …";
      try {
        await live.loadAll(root);
        said.textContent = "Computing …";
        said.replaceChildren(...[await live.views[root.dataset.live](root, form)].flat());
        [root.answered, root.shownFor] = [true, question];
        root.classList.remove("sq-stale");
      } catch (error) {
        root.classList.add("sq-stale"); // what is shown answers another question
        root.kept = typed(root) === root.shownFor ? null : [];
        said.textContent = error.plain
          ? error.message
          : `That did not work (${error.message}). What you see below is the previous answer; “${name}” tries again.`;
      }
    } while (root.again);
    root.busy = "";
    button.textContent = (root.answered && root.dataset.then) || name; // what opened a figure may go on as something else
    mark(root); // somebody may have typed on
    button.removeAttribute("aria-disabled");
  };

  function wakeAll() {
    document.querySelectorAll("[data-live]").forEach(wake);
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", wakeAll);
  else wakeAll();
})();
