// Scenes as `seqcourse.data.arrange` composes them, pixel by pixel, and pictures made to fit.
(function () {
  "use strict";
  const live = window.seqlive, MIDDLE = 72; // the sheet's opacity stands from there on
  const SIZE = (live.SIZE = 64), BITS = 22; // of a filter's whole numbers, as Pillow has them
  const MOST_PIXELS = 60e6, MOST_SIDE = 1024;
  let drawings = null;

  const refuse = (text) => Object.assign(new Error(text), { plain: true });

  // Python rounds halves to the even number.
  function round(x) {
    const low = Math.floor(x), half = x - low === 0.5;
    return half ? low + (low & 1) : Math.round(x);
  }

  // Pillow's filters: how far each reaches, and its weight at a distance.
  const FILTERS = {
    bilinear: [1, (x) => Math.max(0, 1 - Math.abs(x))],
    box: [0.5, (x) => (x > -0.5 && x <= 0.5 ? 1 : 0)],
  };

  // For each new pixel of a line: where its old pixels begin, and their shares in whole numbers.
  function shares(size, fresh, [reach, weight]) {
    const scale = size / fresh, wide = Math.max(scale, 1), support = reach * wide;
    return Array.from({ length: fresh }, function (_, k) {
      const centre = (k + 0.5) * scale;
      const first = Math.max(0, Math.trunc(centre - support + 0.5));
      const end = Math.min(size, Math.trunc(centre + support + 0.5));
      const found = [];
      for (let x = first; x < end; x++) found.push(weight((x - centre + 0.5) / wide));
      const sum = found.reduce((a, b) => a + b, 0);
      return [first, found.map((w) => Math.trunc(0.5 + (w / sum) * 2 ** BITS))];
    });
  }

  // Lines of `size` pixels with a step between pixels and between lines, filtered to `fresh` pixels.
  function filtered(bytes, size, step, lines, lineStep, channels, fresh, filter) {
    const out = new Uint8Array(lines * fresh * channels), across = step === channels;
    shares(size, fresh, filter).forEach(function ([first, parts], k) {
      for (let line = 0; line < lines; line++)
        for (let c = 0; c < channels; c++) {
          let sum = 1 << (BITS - 1);
          for (let x = 0; x < parts.length; x++)
            sum += bytes[line * lineStep + (first + x) * step + c] * parts[x];
          const at = across ? line * fresh + k : k * lines + line;
          out[at * channels + c] = Math.min(255, sum >> BITS);
        }
    });
    return out;
  }

  // Bytes (height, width, channels) in another size, as Pillow makes them.
  function resize(bytes, width, height, channels, newWidth, newHeight, filter) {
    if (newWidth !== width)
      bytes = filtered(bytes, width, channels, height, width * channels, channels, newWidth, filter);
    if (newHeight !== height)
      bytes = filtered(bytes, height, newWidth * channels, newWidth, channels, channels, newHeight, filter);
    return bytes;
  }

  // a b / 255, rounded.
  function times(a, b) {
    const product = a * b + 128;
    return ((product >> 8) + product) >> 8;
  }

  // Red, green, blue and opacity in another size: colours count as much as they are opaque.
  function resizeCutOut({ bytes, width, height }, newWidth, newHeight) {
    const weighted = bytes.map((value, i) => ((i & 3) === 3 ? value : times(value, bytes[i | 3])));
    const out = resize(weighted, width, height, 4, newWidth, newHeight, FILTERS.bilinear);
    return out.map(function (value, i) {
      const opacity = out[i | 3];
      return (i & 3) === 3 || opacity === 0 || opacity === 255
        ? value : Math.min(255, Math.floor((255 * value) / opacity));
    });
  }

  function pixelsOf(source, width, height, draw) {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [width, height];
    const pen = canvas.getContext("2d", { willReadFrequently: true });
    draw(pen);
    return pen.getImageData(0, 0, width, height).data;
  }

  function decoded(address) {
    return new Promise(function (resolve, reject) {
      const picture = new Image();
      picture.onload = () => resolve(picture);
      picture.onerror = () => reject(refuse("This file is not a picture that your browser can show."));
      picture.src = address;
    });
  }

  // Things and grounds, read once from the sheet.
  live.openSheet = async function () {
    if (drawings) return;
    await live.script("models/things.js");
    const { things, grounds, picture } = live.sheet, sheet = await decoded(picture);
    const bytes = pixelsOf(sheet, sheet.width, sheet.height, (pen) => pen.drawImage(sheet, 0, 0));
    const at = (x, y) => 4 * (y * sheet.width + x);
    drawings = { things: new Map(), grounds: new Map() };
    let top = 0;
    for (const [name, width, height, known] of things) {
      const cut = new Uint8Array(4 * width * height);
      for (let y = 0, k = 0; y < height; y++)
        for (let x = 0; x < width; x++, k += 4) {
          cut.set(bytes.subarray(at(x, top + y), at(x, top + y) + 3), k);
          cut[k + 3] = bytes[at(MIDDLE + x, top + y)];
        }
      drawings.things.set(name, { bytes: cut, width, height, known });
      top += height;
    }
    for (const name of grounds) {
      drawings.grounds.set(name, bytes.slice(at(0, top), at(0, top + SIZE)));
      top += SIZE;
    }
  };
  live.names = (kind) => [...drawings[kind].keys()];
  live.isKnown = (name) => drawings.things.get(name).known;

  // The box (x0, y0, x1, y1) of a thing [name, x, y, longer side], moved inside the scene.
  live.boxOf = function ([name, x, y, side]) {
    const { width, height } = drawings.things.get(name), scale = side / Math.max(width, height);
    const [wide, high] = [width, height].map((length) => Math.max(1, round(length * scale)));
    const left = Math.min(Math.max(0, round(x - wide / 2)), SIZE - wide);
    const top = Math.min(Math.max(0, round(y - high / 2)), SIZE - high);
    return [left, top, left + wide, top + high];
  };

  // The scene's bytes (64, 64, 3).
  live.compose = function ({ ground, things }) {
    const sheet = drawings.grounds.get(ground), row = sheet.length / SIZE;
    const out = new Uint8Array(3 * SIZE * SIZE);
    for (let i = 0; i < SIZE * SIZE; i++) {
      const from = Math.floor(i / SIZE) * row + 4 * (i % SIZE);
      out.set(sheet.subarray(from, from + 3), 3 * i);
    }
    for (const thing of things) {
      const [x0, y0, x1, y1] = live.boxOf(thing), width = x1 - x0;
      const cut = resizeCutOut(drawings.things.get(thing[0]), width, y1 - y0);
      for (let y = y0, k = 0; y < y1; y++)
        for (let x = x0; x < x1; x++, k += 4)
          for (let c = 0; c < 3; c++) {
            const at = 3 * (y * SIZE + x) + c, opacity = cut[k + 3];
            const mixed = out[at] * (255 - opacity) + cut[k + c] * opacity + 128;
            out[at] = ((mixed >> 8) + mixed) >> 8;
          }
    }
    return out;
  };

  // The middle square of a reader's picture as bytes (64, 64, 3). It goes no further than this page.
  live.fitted = async function (file) {
    const address = URL.createObjectURL(file);
    try {
      const picture = await decoded(address), [width, height] = [picture.naturalWidth, picture.naturalHeight];
      if (!width || !height) throw refuse("This picture does not say how large it is.");
      if (width * height > MOST_PIXELS)
        throw refuse(
          `This picture has ${Math.round((width * height) / 1e6)} million pixels; ` +
            `at most ${MOST_PIXELS / 1e6} million fit here. Save it smaller and try again.`,
        );
      const side = Math.min(width, height), [left, top] = [(width - side) >> 1, (height - side) >> 1];
      const kept = Math.min(side, MOST_SIDE); // a large one is first made smaller by the browser
      const bytes = pixelsOf(picture, kept, kept, function (pen) {
        pen.imageSmoothingQuality = "high";
        pen.fillStyle = "white"; // behind what is transparent
        pen.fillRect(0, 0, kept, kept);
        pen.drawImage(picture, left, top, side, side, 0, 0, kept, kept);
      });
      const small = resize(bytes, kept, kept, 4, SIZE, SIZE, FILTERS.box);
      return small.filter((_, i) => (i & 3) !== 3);
    } finally {
      URL.revokeObjectURL(address);
    }
  };
})();
