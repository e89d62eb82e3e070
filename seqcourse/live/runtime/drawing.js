// A small grey picture to choose or to draw, with mouse, finger or keys, and what a model sees in it.
(function () {
  "use strict";
  const live = window.seqlive, SIDE = 28, BLACK = 0;

  function show(root) {
    const image = root.ink.createImageData(SIDE, SIDE);
    root.pixels.forEach((grey, k) => image.data.set([grey, grey, grey, 255], 4 * k));
    root.ink.putImageData(image, 0, 0);
  }

  // A stroke of the brush from one place to another, with soft edges; what takes away is a little wider.
  function stroke(root, [x0, y0], [x1, y1], shade) {
    root.kind = "";
    const radius = Number(root.form.elements.brush.value) / 2 + (shade === BLACK ? 1 : 0), long = (x1 - x0) ** 2 + (y1 - y0) ** 2;
    root.pixels.forEach(function (grey, k) {
      const x = (k % SIDE) + 0.5, y = Math.floor(k / SIDE) + 0.5;
      const along = long ? ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / long : 0;
      const t = Math.min(1, Math.max(0, along));
      const distance = Math.hypot(x - x0 - t * (x1 - x0), y - y0 - t * (y1 - y0));
      const cover = Math.min(1, Math.max(0, radius + 0.5 - distance));
      root.pixels[k] = grey + cover * (shade - grey);
    });
    show(root);
  }

  // The first answer loads the model; from then on the answer follows the brush, said when it rests.
  async function follow(root, done) {
    root.form.elements.strokes.value++; // another question than before
    if (!root.seen || done) return root.form.requestSubmit();
    if (root.looking) return;
    root.looking = true;
    await live.views.clothes(root).catch(() => {}); // the answer at rest says what is wrong
    root.looking = false;
  }

  // The shade to paint with: Shift, Delete or the right button take away.
  const shadeOf = (root, away) => (away ? BLACK : Number(root.form.elements.shade.value));

  function withPointer(root, canvas) {
    let last = null;
    const place = ({ clientX, clientY }) => {
      const box = canvas.getBoundingClientRect();
      return [((clientX - box.left) / box.width) * SIDE, ((clientY - box.top) / box.height) * SIDE];
    };
    function move(event) {
      if (!event.buttons) return;
      const here = place(event);
      stroke(root, last ?? here, here, shadeOf(root, event.shiftKey || event.buttons === 2));
      last = here;
      follow(root, false);
    }
    canvas.addEventListener("pointerdown", function (event) {
      canvas.setPointerCapture(event.pointerId);
      last = null;
      move(event);
    });
    canvas.addEventListener("pointermove", move);
    canvas.addEventListener("pointerup", () => last && follow(root, true));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  function withKeys(root, canvas, cursor) {
    let at = [13, 13];
    canvas.addEventListener("keydown", function (event) {
      const away = event.shiftKey || event.key === "Delete" || event.key === "Backspace";
      const moved = live.arrows[event.key], paints = [" ", "Enter", "Delete", "Backspace"].includes(event.key);
      if (!moved && !paints) return;
      event.preventDefault();
      if (moved) at = at.map((value, k) => Math.min(SIDE - 1, Math.max(0, value + moved[k])));
      cursor.style.cssText = `left:${(at[0] / SIDE) * 100}%;top:${(at[1] / SIDE) * 100}%`;
      const middle = at.map((value) => value + 0.5);
      if (paints) stroke(root, middle, middle, shadeOf(root, away));
      if (paints) follow(root, true);
      else root.querySelector("[role=status]").textContent = `Column ${at[0] + 1}, row ${at[1] + 1}.`;
    });
  }

  // Take over a picture that the page shows.
  async function take(root, picture) {
    await picture.decode();
    root.ink.drawImage(picture, 0, 0, SIDE, SIDE);
    const { data } = root.ink.getImageData(0, 0, SIDE, SIDE);
    root.pixels = Uint8ClampedArray.from({ length: SIDE * SIDE }, (_, k) => data[4 * k]);
    root.kind = picture.title; // what it is said to be, until it is drawn on
  }

  live.setUps.clothes = async function (root) {
    const first = root.querySelector(".sq-canvas img"), canvas = document.createElement("canvas");
    const cursor = document.createElement("i");
    [root.form, canvas.width, canvas.height, canvas.tabIndex] = [root.querySelector("form"), SIDE, SIDE, 0];
    canvas.setAttribute("role", "application");
    canvas.setAttribute(
      "aria-label",
      "The picture to draw on. Arrow keys move the brush, the space bar paints, Delete takes away.",
    );
    root.ink = canvas.getContext("2d", { willReadFrequently: true });
    root.querySelectorAll(".sq-pictures img").forEach((picture) => (picture.title = picture.alt));
    await take(root, first);
    first.replaceWith(canvas);
    canvas.after(cursor);
    withPointer(root, canvas);
    withKeys(root, canvas, cursor);
    root.form.addEventListener("click", async function ({ target }) {
      const button = target.closest("[data-picture],[data-clear]");
      if (!button) return;
      if (button.matches("[data-clear]")) [root.pixels, root.kind] = [root.pixels.fill(BLACK), ""];
      else await take(root, button.querySelector("img"));
      show(root);
      follow(root, true);
    });
  };

  live.views.clothes = async function (root) {
    const [[name]] = live.modelsOf(root);
    const { classes, logProbs, rollout } = await live.send("classify", { name, pixels: root.pixels });
    root.seen = true;
    const shares = logProbs.map(Math.exp), most = Math.max(...rollout);
    root.querySelectorAll(".sq-shares td").forEach(function (cell, k) {
      cell.textContent = shares[k].toFixed(2);
      cell.style.setProperty("--w", shares[k].toFixed(3));
    });
    const veil = root.querySelector(".sq-rollout");
    veil.style.backgroundImage = `url(${root.ink.canvas.toDataURL()})`;
    veil.querySelectorAll("i").forEach((patch, k) => patch.style.setProperty("--w", (rollout[k] / most).toFixed(3)));
    const order = [...shares.keys()].sort((a, b) => shares[b] - shares[a]).slice(0, 2);
    const [first, second] = order.map((k) => `${classes[k]}, ${Math.round(100 * shares[k])} %`);
    return `${first}; then ${second}.${root.kind && ` The picture is labelled ${root.kind}.`}`;
  };
})();
