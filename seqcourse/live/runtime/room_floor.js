// The floors of the machine room: for each word and stage a tile, for each head a map and a switch. Arrow
// keys walk from one to the next; looking changes nothing.
(function () {
  "use strict";
  const live = window.seqlive, { element } = live;
  const rooms = (live.rooms ||= {});
  const WARM = [196, 84, 20], COLD = [24, 118, 190], AMBER = [214, 140, 10];
  const FULL = { memory: 3 }, USUAL = 4, DARKEST = 0.68; // the size of a number that has the full colour
  const TILES = "A tile: the numbers of one word, orange above 0, blue below.";
  const HELP = " Arrow keys walk, Enter opens, Space ticks, Escape goes back.";
  const KEYS = { // how to read a floor, by the kind of room
    sentence: `${TILES} A yellow map: who looks at whom. Choose either; untick a head to switch it off.${HELP}`,
    row: `${TILES.replace("word", "symbol")} A yellow map: who looks at whom. Choose either; untick a head to switch it off.${HELP}`,
    picture: `Choose a place. (Things cannot be moved here.) ${TILES} A head's picture is dark where it does not look. Untick a head to switch it off.${HELP}`,
  };
  const TITLES = { encoder: "Encoder: it reads", decoder: "Decoder: it writes", alone: "The model: it reads", scene: "Encoder: it looks" };

  // A number as it is shown: two digits behind the point, three for what is small.
  rooms.number = (x) =>
    x.toFixed(Math.abs(x) < 0.0995 && x ? 3 : 2).replace(/^-(?=[0.]+$)/, "").replace("-", "−");

  // Numbers as coloured squares; the ground shows through where they are small.
  function picture(values, columns, colour) {
    const canvas = element("canvas", "", { "aria-hidden": "true" }), rows = Math.ceil(values.length / columns);
    [canvas.width, canvas.height] = [columns, rows];
    const pen = canvas.getContext("2d"), image = pen.createImageData(columns, rows);
    values.forEach((value, k) => image.data.set(colour(value), 4 * k));
    pen.putImageData(image, 0, 0);
    return canvas;
  }
  const tint = (full) => (value) => [...(value < 0 ? COLD : WARM), 255 * Math.min(1, Math.abs(value) / full)];
  const tinted = (vector, full) => picture([...vector], vector.length > 100 ? 16 : 8, tint(full));
  rooms.map = function (rows) {
    const columns = Math.max(...rows.map((row) => row.length));
    const values = rows.flatMap((row) => Array.from({ length: columns }, (_, j) => row[j] ?? 0));
    return picture(values, columns, (weight) => [...AMBER, 255 * weight]);
  };

  const blockOf = (stage) => (stage[0] === "x" ? stage[1] - 1 : Number(stage[1]));
  const partOf = (side, stage) =>
    `${side}.${blockOf(stage)}.${{ s: "self_attention", c: "cross_attention", x: "mlp" }[stage[0]]}`;
  const attentionCalled = (stage) => `${stage[0] === "s" ? "self-attention" : "cross-attention"} ${blockOf(stage) + 1}`;
  const isAlone = (room) => !room.answer.encoder; // a model of one row: nothing needs to be told from a decoder
  const ofSide = (room, side) => (isAlone(room) ? "" : `, ${side}`);
  rooms.stateCalled = function (room, stage) {
    if (stage === "x0") return isAlone(room) ? "embedding" : "word + position";
    if (stage === "memory") return "memory: what the decoder reads";
    return stage[0] === "x" ? `after block ${stage[1]}` : `after ${attentionCalled(stage)}`;
  };
  // A part of the machine in words: "decoder.1.cross_attention" becomes "cross-attention 2".
  rooms.partCalled = function (room, part) {
    const [side, block, what] = part.split("."), number = Number(block) + 1;
    if (what === "cross_attention") return `cross-attention ${number}`;
    return `${what === "mlp" ? "MLP" : "self-attention"} ${number}${isAlone(room) ? "" : ` (${side})`}`;
  };

  // A switch: ticked while its part is on.
  function onOff(room, change, said, shown) {
    const label = element("label", "", { class: "sq-room-switch" });
    const box = element("input", "", { type: "checkbox", "data-key": JSON.stringify(change), "aria-label": `${shown} of ${said} is on` });
    box.checked = !room.has(change);
    box.addEventListener("change", () => room.toggle(change));
    label.append(box, shown);
    return label;
  }

  const largest = (vectors) => Math.max(...vectors.map((vector) => Math.max(...vector.map(Math.abs))));

  // The stream's states of one stage, a tile for each word.
  function tiles(room, side, stage, lines) {
    const { names, states } = room.answer[side], full = isAlone(room) ? largest(states[stage]) : FULL[stage] ?? USUAL, row = element("div", "", { class: "sq-room-row" });
    states[stage].forEach(function (vector, i) {
      const patched = room.changes.some((one) => one.kind === "patch" && one.part === `${side}.${stage}` && one.at === i);
      const said = `${names[i]}, ${rooms.stateCalled(room, stage)}${ofSide(room, side)}${patched ? `, from another ${room.kind}` : ""}`;
      const kind = patched ? "sq-room-tile sq-patched" : "sq-room-tile", key = `${side}.${stage}.${i}`;
      const tile = element("button", "", { type: "button", class: kind, "data-key": key, "aria-label": said });
      tile.append(tinted(vector, full));
      tile.addEventListener("click", () => room.look({ t: "state", side, stage, i, k: 0 }, tile));
      row.append(tile);
    });
    lines.push([...row.children]);
    return [element("p", rooms.stateCalled(room, stage), { class: "sq-room-name" }), row];
  }

  // The maps of an attention, and below each the switch of its head.
  function heads(room, side, stage, lines) {
    const part = partOf(side, stage), said = `${attentionCalled(stage)}${ofSide(room, side)}`;
    const box = element("div", "", { class: "sq-room-heads" });
    room.answer[side].maps[stage].forEach(function (rows, head) {
      const change = { kind: "off", part, head };
      const one = element("div", "", { class: room.has(change) ? "sq-room-head sq-off" : "sq-room-head" });
      const label = `map of head ${head + 1}, ${said}`, key = `${side}.${stage}.head${head}`;
      const button = element("button", "", { type: "button", class: "sq-room-map", "data-key": key, "aria-label": label });
      if (room.sees && stage[0] === "c") {
        button.classList.add("sq-room-seen");
        button.append(veil(rows.at(-1)));
      } else button.append(rooms.map(rows));
      button.addEventListener("click", () => room.look({ t: "head", side, stage, head }, button));
      one.append(button, onOff(room, change, said, `head ${head + 1}`));
      box.append(one);
    });
    lines.push([...box.querySelectorAll("button")], [...box.querySelectorAll("input")]);
    const alone = stage[0] === "s" && room.answer[side].words.length === 1 ? ` (one ${room.unit}: it can look only at itself)` : "";
    return [element("p", `+ ${attentionCalled(stage)}${alone}`, { class: "sq-room-plus" }), box];
  }

  // Where a head looks at a picture: dark where it does not look.
  const veil = (weights) =>
    picture([...weights], Math.sqrt(weights.length), (weight) => [0, 0, 0, 255 * DARKEST * (1 - weight / Math.max(...weights))]);

  // A picture whose places can be chosen, as wide as the memory's grid.
  function scene(room, lines) {
    const { words } = room.answer.encoder, side = Math.sqrt(words.length), box = element("div", "", { class: "sq-room-scene sq-room-seen" });
    box.style.setProperty("--side", side);
    words.forEach(function (word, i) {
      const isPatched = room.changes.some(({ kind, part, at }) => kind === "patch" && part === "encoder.memory" && at === i);
      const said = `${word}, memory${isPatched ? ", from another picture" : ""}`, key = `encoder.memory.${i}`;
      const place = element("button", "", { type: "button", class: isPatched ? "sq-patched" : "", "data-key": key, "aria-label": said, title: word });
      place.addEventListener("click", () => room.look({ t: "state", side: "encoder", stage: "memory", i, k: 0 }, place));
      box.append(place);
    });
    for (let row = 0; row < side; row++) lines.push([...box.children].slice(row * side, (row + 1) * side));
    return [element("p", `memory: a vector for each of ${words.length} places`, { class: "sq-room-name" }), box];
  }

  function floor(room, side, lines) {
    const { words, names, places } = room.answer[side], parts = [], first = lines.length;
    const head = element("div", "", { class: "sq-room-row sq-room-words" });
    words.forEach(function (word, i) {
      const cell = element("span", word, { title: names[i], class: side === "decoder" && i === words.length - 1 ? "sq-room-newest" : "" });
      if (places[i] !== i) cell.append(element("small", ` at ${places[i]}`));
      head.append(cell);
    });
    const isScene = room.sees && side === "encoder";
    if (isScene) parts.push(...scene(room, lines));
    else parts.push(head, ...tiles(room, side, "x0", lines));
    for (const stage of room.answer[side].stages.slice(1)) {
      if (stage[0] !== "x") parts.push(...heads(room, side, stage, lines));
      else {
        const mlp = element("div", "", { class: "sq-room-mlp" });
        mlp.append("+ ", onOff(room, { kind: "mlp", part: partOf(side, stage) }, side, `MLP ${stage[1]}`));
        lines.push([...mlp.querySelectorAll("input")]);
        parts.push(mlp);
      }
      parts.push(...tiles(room, side, stage, lines));
    }
    if (side === "encoder" && !isScene)
      parts.push(element("p", "÷ normalised", { class: "sq-room-plus" }), ...tiles(room, side, "memory", lines));
    const title = TITLES[isAlone(room) ? "alone" : isScene ? "scene" : side];
    const section = element("section", "", { class: "sq-room-floor", "aria-label": title });
    const scroller = element("div", "", { class: "sq-room-scroll" });
    scroller.append(...parts);
    section.append(element("p", title, { class: "sq-room-title" }));
    if (!first) section.append(element("p", KEYS[room.kind], { class: "sq-room-key" }));
    section.append(scroller);
    lines.slice(first).flat().forEach((one, k) => (one.tabIndex = k ? -1 : 0)); // one stop for the Tab key
    return section;
  }

  // Both floors, and the lines that the arrow keys walk.
  rooms.floors = function (room, box) {
    const held = box.contains(document.activeElement) && document.activeElement.dataset.key;
    const scrolled = [...box.querySelectorAll(".sq-room-scroll")].map((one) => one.scrollLeft);
    const lines = [];
    box.replaceChildren(...["encoder", "decoder"].filter((side) => room.answer[side]).map((side) => floor(room, side, lines)));
    box.querySelectorAll(".sq-room-scroll").forEach(function (one, k) {
      one.scrollLeft = scrolled[k] ?? 0;
      const at = room.isRow && one.querySelector(".sq-room-words").children[room.at]; // the chosen symbol is in sight
      if (at && !(at.offsetLeft >= one.scrollLeft && at.offsetLeft + at.offsetWidth <= one.scrollLeft + one.clientWidth))
        one.scrollLeft = at.offsetLeft + at.offsetWidth - one.clientWidth;
    });
    const focus = function (one) {
      const own = one.closest("section");
      lines.flat().forEach((other) => own.contains(other) && (other.tabIndex = other === one ? 0 : -1));
      one.focus({ preventScroll: held === one.dataset.key });
    };
    const again = held && lines.flat().find((one) => one.dataset.key === held);
    if (again) focus(again);
    box.onkeydown = function (event) {
      const [right, down] = live.arrows[event.key] ?? [], y = lines.findIndex((line) => line.includes(event.target));
      if (right === undefined || y < 0) return;
      event.preventDefault();
      const line = lines[y + down] ?? lines[y], { walk } = room, isOn = walk?.key === event.target.dataset.key; // up and down keep the column
      const x = right || !isOn ? lines[y].indexOf(event.target) + right : walk.x, goal = line[Math.min(Math.max(x, 0), line.length - 1)];
      room.walk = { key: goal.dataset.key, x: right ? line.indexOf(goal) : x };
      focus(goal);
    };
  };

  // Mark the tile or map whose number the lens shows.
  rooms.mark = function (box, node) {
    box.querySelectorAll("[aria-current]").forEach((one) => one.removeAttribute("aria-current"));
    if (!node?.side || node.text !== undefined) return;
    const key = node.head === undefined ? `${node.side}.${node.stage}.${node.i}` : `${node.side}.${node.stage}.head${node.head}`;
    const one = [...box.querySelectorAll("[data-key]")].find(({ dataset }) => dataset.key === key);
    one?.setAttribute("aria-current", "true");
    return one;
  };
})();
