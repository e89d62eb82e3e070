// A scene to compose with the mouse, a finger or the keys; whoever looks at it answers at every change.
(function () {
  "use strict";
  const live = window.seqlive, MOST = 6, SMALLEST = 10, LARGEST = 56, STEP = 2, LEAP = 8;
  const HELP =
    "Drag a thing. Or go to it with the Tab key: arrow keys move it, + and − change its size, N makes it " +
    "the next thing in the list, Delete removes it.";
  const OWN =
    "This model knows only the course's things, and names them whatever your picture shows. Your " +
    "picture stays in this page.";
  const within = (low, x, high) => Math.min(high, Math.max(low, x));

  function labelled(text, control) {
    const label = live.element("label", text + " ", { class: "sq-control" });
    label.append(control);
    return label;
  }

  function choice(names) {
    const { element } = live, list = element("select");
    const groups = [names.filter((name) => live.isKnown(name)), names.filter((name) => !live.isKnown(name))];
    ["Seen in training", "Never seen in training"].forEach(function (title, k) {
      const group = element("optgroup", "", { label: title });
      group.append(...groups[k].map((name) => element("option", name)));
      list.append(group);
    });
    return list;
  }

  function composer(root, form) {
    const { element } = live, status = root.querySelector("[role=status]");
    const { ground, things } = JSON.parse(root.dataset.scene), scene = { ground, things };
    const stage = root.querySelector(".sq-stage"), answers = root.querySelector(".sq-answers");
    const canvas = element("canvas", "", { width: live.SIZE, height: live.SIZE, role: "img" });
    const names = live.names("things");
    let picked = 0, own = null, handles = [], running = null, again = false, timer = 0;

    const button = (text) => element("button", text, { type: "button" });
    const thing = choice(names), grounds = element("select");
    const size = element("input", "", { type: "range", min: SMALLEST, max: LARGEST, step: 1 });
    const file = element("input", "", { type: "file", accept: "image/*" });
    const add = button("Add a thing"), remove = button("Remove it"), back = button("Back to the scene");
    const help = element("p", HELP, { class: "sq-note" }), tools = element("div", "", { class: "sq-controls" });
    const parts = element("span", "", { class: "sq-controls" }), picture = labelled("Your own picture", file);
    grounds.append(...live.names("grounds").map((name) => element("option", name)));
    grounds.value = ground;
    parts.append(
      labelled("The chosen thing", thing), labelled("Size", size), add, remove, labelled("Ground", grounds),
    );
    tools.append(parts, picture, back);
    stage.replaceChildren(canvas);
    const composing = element("div", "", { class: "sq-composing" });
    composing.append(help, tools);
    answers.after(composing);

    const nameOf = ([name, x, y, side]) => `${name}, at ${x} across and ${y} down, ${side} large`;

    // Where everything stands, and which thing is chosen.
    function arrange() {
      handles.forEach(function (handle, k) {
        const [x0, y0, x1, y1] = live.boxOf(scene.things[k]);
        const edges = { left: x0, top: y0, width: x1 - x0, height: y1 - y0 };
        for (const [edge, value] of Object.entries(edges)) handle.style[edge] = `${(100 * value) / live.SIZE}%`;
        handle.setAttribute("aria-label", nameOf(scene.things[k]));
        handle.setAttribute("aria-pressed", k === picked);
        handle.hidden = own !== null;
      });
      [thing.value, , , size.value] = scene.things[picked] ?? [];
      parts.hidden = own !== null;
      back.hidden = own === null;
      help.textContent = own ? OWN : HELP;
      thing.disabled = size.disabled = remove.disabled = !scene.things.length;
      add.disabled = scene.things.length >= MOST;
    }

    function paint() {
      const pixels = own ?? live.compose(scene), bytes = new ImageData(live.SIZE, live.SIZE);
      for (let i = 0; i < live.SIZE ** 2; i++) {
        bytes.data.set(pixels.subarray(3 * i, 3 * i + 3), 4 * i);
        bytes.data[4 * i + 3] = 255;
      }
      canvas.getContext("2d").putImageData(bytes, 0, 0);
      const shown = scene.things.map(([name]) => name).join(", ") || "nothing";
      canvas.setAttribute("aria-label", own ? "Your picture" : `A scene with ${shown} on ${scene.ground}`);
      return pixels;
    }

    // Answer what is there now; what changes meanwhile is answered next.
    async function run() {
      try {
        for (;;) {
          again = false;
          await live.loadAll(root);
          const began = performance.now(), pixels = paint();
          const found = await live.looks[root.dataset.live](root, form, pixels);
          answers.style.setProperty("--picture", `url(${canvas.toDataURL()})`);
          found.parts[0].append(live.element("small", ` ${Math.round(performance.now() - began)} ms`));
          answers.replaceChildren(...found.parts);
          if (!again) return found.said;
        }
      } finally {
        running = null;
      }
    }
    function answer() {
      again = true;
      return (running ||= run());
    }

    // After a change: the picture at once, the sentence for listeners when nothing moves any more.
    function changed() {
      arrange();
      answer().then(say, (error) => say(error.plain ? error.message : `That did not work (${error.message}).`));
    }
    function say(text) {
      clearTimeout(timer);
      const [name, x, y] = scene.things[picked] ?? [], where = name && !own ? ` ${name}: ${x} across, ${y} down, on ${scene.ground}.` : "";
      timer = setTimeout(() => (status.textContent = text + where), 300);
    }

    function move(x, y) {
      const [name, , , side] = scene.things[picked], place = (at) => within(0, Math.round(at), live.SIZE);
      scene.things[picked] = [name, place(x), place(y), side];
      changed();
    }
    function resize(side) {
      scene.things[picked][3] = within(SMALLEST, side, LARGEST);
      changed();
    }
    function turn(name) {
      scene.things[picked][0] = name;
      changed();
    }
    function drop() {
      scene.things.splice(picked, 1);
      picked = Math.max(0, picked - 1);
      makeHandles();
      (handles[picked] ?? add).focus();
      changed();
    }
    // A thing that is not there yet, as far as possible from the others.
    function more() {
      const spots = [16, 32, 48].flatMap((x) => [16, 32, 48].map((y) => [x, y]));
      const room = ([x, y]) => Math.min(...scene.things.map(([, a, b]) => Math.hypot(a - x, b - y)));
      const [x, y] = spots.reduce((best, spot) => (room(spot) > room(best) ? spot : best));
      const there = new Set(scene.things.map(([name]) => name));
      scene.things.push([names.find((name) => live.isKnown(name) && !there.has(name)), x, y, 22]);
      picked = scene.things.length - 1;
      makeHandles();
      handles[picked].focus();
      changed();
    }

    function press(event) {
      const [name, x, y, side] = scene.things[picked], step = event.shiftKey ? LEAP : STEP;
      const next = (by) => names[(names.indexOf(name) + by + names.length) % names.length];
      const [right, down] = live.arrows[event.key] ?? [];
      if (right !== undefined) move(x + step * right, y + step * down);
      else if (event.key === "+" || event.key === "=") resize(side + STEP);
      else if (event.key === "-" || event.key === "−") resize(side - STEP);
      else if (event.key === "n" || event.key === "N") turn(next(event.shiftKey ? -1 : 1));
      else if (event.key === "Delete" || event.key === "Backspace") drop();
      else return;
      event.preventDefault();
    }

    function makeHandles() {
      handles.forEach((handle) => handle.remove());
      handles = scene.things.map(function (_, k) {
        const handle = element("button", "", { type: "button", class: "sq-thing" });
        let from = null; // where the finger stands on the thing
        const at = function ({ clientX, clientY }) {
          const { left, top, width } = stage.getBoundingClientRect(), scale = live.SIZE / width;
          return [(clientX - left) * scale, (clientY - top) * scale];
        };
        handle.addEventListener("focus", function () {
          picked = k;
          arrange();
        });
        handle.addEventListener("keydown", press);
        handle.addEventListener("pointerdown", function (event) {
          const [, x, y] = scene.things[k], [a, b] = at(event);
          from = [x - a, y - b];
          handle.setPointerCapture(event.pointerId);
          handle.focus(); // not every browser focuses a button that is pressed
        });
        handle.addEventListener("pointermove", function (event) {
          if (!from) return;
          const [a, b] = at(event);
          move(a + from[0], b + from[1]);
        });
        for (const end of ["pointerup", "pointercancel"]) handle.addEventListener(end, () => (from = null));
        return handle;
      });
      stage.append(...handles);
    }

    root.take = async function (picture) {
      root.dropped = null;
      try {
        own = await live.fitted(picture);
        changed();
      } catch (error) {
        status.textContent = error.message;
      }
      file.value = "";
    };

    thing.addEventListener("change", () => turn(thing.value));
    size.addEventListener("input", () => resize(Number(size.value)));
    grounds.addEventListener("change", function () {
      scene.ground = grounds.value;
      changed();
    });
    add.addEventListener("click", more);
    remove.addEventListener("click", drop);
    back.addEventListener("click", function () {
      own = null;
      changed();
      (handles[picked] ?? add).focus();
    });
    file.addEventListener("change", () => file.files.length && root.take(file.files[0]));

    makeHandles();
    arrange();
    return answer;
  }

  live.views.caption = live.views.ask = async function (root, form) {
    await live.openSheet();
    if (!root.answer) {
      const start = form.querySelector("[type=submit]"), things = () => [...root.querySelectorAll(".sq-thing")];
      const leaves = !form.elements.text; // the button to start: who pressed it goes on with the first thing
      const held = leaves && document.activeElement === start ? 0 : things().indexOf(document.activeElement);
      root.answer = composer(root, form);
      things()[held]?.focus();
      start.hidden = leaves;
    }
    const said = await root.answer();
    if (root.dropped) root.take(root.dropped); // before there was a scene
    return said;
  };

  // A picture can be dropped before there is a scene: that starts everything, as pressing a thing does.
  live.setUps.caption = live.setUps.ask = function (root) {
    root.addEventListener("dragover", (event) => event.preventDefault());
    root.addEventListener("drop", function (event) {
      event.preventDefault();
      [root.dropped] = event.dataTransfer.files;
      if (root.dropped) root.take ? root.take(root.dropped) : live.answer(root);
    });
  };
})();
