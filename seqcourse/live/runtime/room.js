// The machine room: a translator stands open from the words to the next word. Here is its state, what is
// asked of the worker, and what stands around floors, lens and tour.
(function () {
  "use strict";
  const live = window.seqlive, { element } = live, rooms = live.rooms, { number } = rooms;
  const OF = { picture: "sq-room-of-picture", row: "sq-room-of-row" }; // whole: styles of unnamed classes are left out
  const MOST_THINGS = 4, MOST_WORDS = 10, LAST = 999; // a place that no text has: the last one is meant

  const said = (word) => (word === "<eos>" ? "(end)" : word);
  const sentence = (words) => words.filter((word) => word !== "<eos>").join(" ").replace(/ (?=[.,?!])/g, "");
  const bound = ({ kind }) => !["off", "mlp", "heat"].includes(kind); // to words of one sentence

  // The places of the parts, as they come with the first answer.
  function furnish(kind) {
    const isRow = kind === "row", unit = isRow ? "symbol" : "word", part = (name) => element("div", "", { class: name });
    const group = (name, label) => element("div", "", { class: name, role: "group", "aria-label": label });
    const parts = {
      room: part(`sq-room ${OF[kind] ?? ""}`.trim()), both: part("sq-room-both"), machine: part("sq-room-machine"),
      written: group("sq-room-written", isRow ? "The row: choose the symbol that has just been read" : "What it writes: choose the word that is about to be written"),
      floors: part("sq-room-floors"),
      side: group("sq-room-side", `Tour, next ${unit} and lens`),
      fold: element("button", "Fold", { type: "button", class: "sq-room-fold", "aria-expanded": true }),
      tour: part("sq-room-tour"),
      bars: group("sq-room-next", `The next ${unit}`),
      anew: element("p", "", { class: "sq-room-anew" }),
      list: element("div"), why: element("button", "", { type: "button" }), key: element("span", "", { class: "sq-room-key" }),
      below: group("sq-room-below", "Changes and lens"),
      chips: part("sq-room-chips"),
      lens: element("section", "", { class: "sq-room-lens", "aria-label": "Where a number comes from" }),
      temperature: element("input", "", { type: "range", min: 0.2, max: 3, step: 0.1 }),
    };
    const scale = element("label", `Temperature of the next ${unit} `, { class: "sq-room-do" });
    parts.below.tabIndex = 0; // it scrolls
    parts.lens.hidden = true;
    scale.append(parts.temperature, element("output"));
    parts.bars.append(parts.anew, parts.list, parts.why, " ", parts.key);
    parts.machine.append(parts.written, parts.floors);
    parts.below.append(parts.chips, parts.lens, scale);
    parts.fold.addEventListener("click", function () {
      const isFolded = parts.side.classList.toggle("sq-room-folded");
      parts.fold.setAttribute("aria-expanded", !isFolded);
      parts.fold.textContent = isFolded ? "Unfold" : "Fold";
    });
    parts.side.append(parts.fold, parts.tour, parts.bars, parts.below);
    parts.both.append(parts.machine, parts.side);
    parts.room.append(parts.both);
    return parts;
  }

  // The words that are written, one of which is about to be.
  function written(room) {
    const { plain, names, at, anew, changed } = room.answer, box = element("p");
    plain.forEach(function (word, k) {
      const one = element("button", said(word), { type: "button", "aria-pressed": !anew && k === at, "aria-label": said(names.plain[k]) });
      one.addEventListener("click", () => room.set({ at: k, anew: false, trail: [] }));
      box.append(one, " ");
    });
    const held = room.parts.written.contains(document.activeElement);
    const asks = element("p", `It writes${changed ? ", without your changes" : ""}. Choose the word that is about to be written:`, { class: "sq-room-name" });
    room.parts.written.replaceChildren(asks, box);
    if (held) box.querySelector("[aria-pressed=true]")?.focus();
    writtenAnew(room);
  }

  // What is written with the changes, beside the bars, where it is seen from every floor. A new word says why.
  function writtenAnew(room, most = MOST_WORDS) {
    const { plain, rewritten, names, at, anew, changed } = room.answer, box = room.parts.anew, held = box.contains(document.activeElement);
    if (!changed || String(rewritten) === String(plain)) return box.replaceChildren(changed ? "It writes the same as before." : "");
    const words = rewritten.map(function (word, k) {
      if (word === plain[k]) return `${said(word)} `;
      const one = element("button", said(word), { type: "button", "aria-pressed": anew && k === at, "aria-label": `${said(names.rewritten[k])}: why this word?` });
      one.addEventListener("click", async function () {
        await room.set({ at: k, anew: true, trail: [] });
        box.querySelector("[aria-pressed=true]")?.focus({ preventScroll: true });
        await room.look({ t: "credit" });
      });
      return one;
    });
    const shown = Math.max(most, anew ? at + 1 : 0), more = element("button", `… ${words.length - shown} more`, { type: "button" });
    more.addEventListener("click", () => writtenAnew(room, words.length));
    box.replaceChildren(element("b", "It writes: "), ...words.slice(0, shown).flatMap((one) => [one, " "]), words.length > shown ? more : "");
    if (held) (box.querySelector("[aria-pressed=true]") ?? box.querySelector("button")).focus({ preventScroll: true });
  }

  // The row that is read; below each symbol, how likely it was before it was read.
  function rowRead(room) {
    const { plain, names, at, changed, row } = room.answer, box = element("p"), { count, loss } = row.again;
    plain.forEach(function (symbol, k) {
      const share = row.again.shares[k], was = row.plain.shares[k], bar = element("i", "", { "aria-hidden": "true" });
      const said = k ? `${names.plain[k]}, expected with ${number(share)}${changed ? `, before ${number(was)}` : ""}` : names.plain[k];
      const one = element("button", symbol, { type: "button", "aria-pressed": k === at, "aria-label": said, title: said });
      bar.style.cssText = `--w:${100 * share}%;--b:${100 * was}%`;
      bar.className = changed ? "sq-changed" : "";
      if (k) one.append(bar);
      one.addEventListener("click", () => room.set({ at: k, trail: [] }));
      box.append(one, " ");
    });
    const before = changed ? ` (before: ${number(row.plain.loss)})` : "";
    const cost = `Symbols that can be looked up: ${count}. They cost ${number(loss)} nats each${before}; 0 would be certain.`;
    const held = room.parts.written.contains(document.activeElement);
    room.parts.written.replaceChildren(
      element("p", "It reads. Choose the symbol that has just been read. A bar: how likely the symbol was before that." + (changed ? " The thin line: before your changes." : ""), { class: "sq-room-name" }),
      box, element("p", count ? cost : "Nothing can be looked up: no symbol stands behind the same one twice.", { class: "sq-room-now" }));
    if (held) box.querySelector("[aria-pressed=true]").focus();
  }

  // The likeliest words, with a mark where each stood before the changes.
  function bars(room) {
    const { bars: rows, best, changed, heat } = room.answer, { list, why, key, temperature } = room.parts;
    const held = list.contains(document.activeElement);
    list.replaceChildren(...rows.map(function ({ id, word, share, before }) {
      const button = element("button", "", { type: "button", class: "sq-room-bar" }), bar = element("i", "", { "aria-hidden": "true" });
      bar.style.cssText = `--w:${100 * share}%;--b:${100 * before}%`;
      bar.className = changed ? "sq-changed" : "";
      button.append(element("span", said(word)), " ", bar, element("span", number(share)));
      const was = changed ? `, before ${number(before)}` : "";
      button.setAttribute("aria-label", `${said(word)} ${number(share)}${was}: where does it come from?`);
      button.addEventListener("click", () => room.look({ t: "share", id }));
      return button;
    }));
    if (held) list.firstChild.focus();
    const [first, second] = rows, lost = rows.find(({ id }) => id === best && id !== first.id), rival = lost ?? second;
    why.textContent = `Why “${said(first.word)}”, ${lost ? "no longer" : "not"} “${said(rival.word)}”?`;
    why.onclick = () => room.look({ t: "credit", id: first.id, rival: rival.id });
    key.textContent = changed ? "Thin line: before." : "";
    temperature.value = temperature.nextElementSibling.value = heat;
  }

  // While the temperature is slid, the whole way is one change.
  function slide(room) {
    const { temperature } = room.parts;
    let sliding = false;
    temperature.addEventListener("input", function () {
      const rest = room.changes.filter(({ kind }) => kind !== "heat"), to = Number(temperature.value);
      room.change(to === 1 ? rest : [...rest, { kind: "heat", part: "output", to }], sliding);
      sliding = true;
    });
    temperature.addEventListener("change", () => (sliding = false));
  }

  function open(root, form) {
    const status = root.querySelector("[role=status]");
    const given = { text: null, at: 0, anew: false, changes: [], trail: [], past: [], most: 0 }; // what the worker is asked for
    const { kind } = root.dataset, isRow = kind === "row", sees = kind === "picture", unit = isRow ? "symbol" : "word";
    form.querySelector(".sq-room-closed")?.remove();
    const room = { root, form, parts: furnish(kind), kind, isRow, sees, unit, ...given, asked: 0 };
    const { floors, lens, chips, tour } = room.parts;

    room.has = (change) => room.changes.some((one) => rooms.same(one, change));
    room.toggle = function (change) {
      const rest = room.changes.filter((one) => !rooms.same(one, change));
      return room.change(room.has(change) ? rest : [...rest, change]);
    };

    // The pictures of some texts, of things from left to right, go to the worker; the address of the last one.
    room.see = async function (texts) {
      if (!sees) return;
      await live.openSheet();
      const [[name]] = live.modelsOf(root), known = live.names("things"), canvas = element("canvas", "", { width: live.SIZE, height: live.SIZE });
      for (const text of texts) {
        const things = text.toLowerCase().split(",").map((one) => one.trim().replace(/\s+/gu, " ")), other = things.find((one) => !known.includes(one));
        if (other !== undefined || things.length > MOST_THINGS)
          throw Object.assign(new Error(`Write one to ${MOST_THINGS} things with commas between them, such as ${known.slice(0, 3).join(", ")}. ${other ? `There is no “${other.slice(0, 40)}”.` : ""}`.trim()), { plain: true });
        const count = things.length, side = Math.min(28, 56 / count);
        const placed = things.map((one, k) => [one, (live.SIZE * (k + 0.5)) / count, 38, side]);
        const pixels = live.compose({ ground: "plain", things: placed }), bytes = new ImageData(live.SIZE, live.SIZE);
        for (let i = 0; i < live.SIZE ** 2; i++) bytes.data.set([...pixels.subarray(3 * i, 3 * i + 3), 255], 4 * i);
        canvas.getContext("2d").putImageData(bytes, 0, 0);
        await live.send("see", { name, text, pixels });
      }
      return canvas.toDataURL();
    };

    // Ask the worker and show what it says; of several questions only the last is shown.
    async function compute() {
      const asked = (room.asked += 1), [[name]] = live.modelsOf(root);
      await live.loadAll(root);
      const others = room.changes.filter(({ kind }) => kind === "patch").map(({ text }) => text);
      const shown = await room.see([...others, room.text]);
      if (shown) room.parts.room.style.setProperty("--picture", `url(${shown})`);
      const answer = await live.send("operate", { name, text: room.text, at: room.at, anew: room.anew, changes: room.changes });
      if (asked !== room.asked) return;
      [room.answer, room.at, room.anew, room.name] = [answer, answer.at, answer.anew, name];
      if (!room.parts.room.isConnected) live.show(root, room.parts.room);
      (isRow ? rowRead : written)(room);
      bars(room);
      rooms.floors(room, floors);
      rooms.chips(room, chips);
      await lookAgain();
    }
    room.saying = function () {
      const { bars: [first], plain, rewritten, changed, unknown } = room.answer;
      const next = `Next ${unit}: ${said(first.word)}, ${number(first.share)}${changed ? ` (before ${number(first.before)})` : ""}.`;
      if (isRow) return [next];
      const heard = `It writes: ${sentence(changed ? rewritten : plain)}`, strange = live.unknown(unknown); // the first is seen in the words
      return [`${next} `, element("span", heard, { class: "sq-heard" }), strange && ` ${strange}`];
    };

    // New settings, as an answer; if there is none, the old settings again.
    room.put = async function (news) {
      const { text, at, anew, changes, trail, past, most } = room, mine = room.asked + 1;
      const fresh = "text" in news && { anew: false, past: [], most: news.text === text ? most : 0 };
      Object.assign(room, fresh, news);
      try {
        await compute();
      } catch (error) {
        if (mine === room.asked) Object.assign(room, { text, at, anew, changes, trail, past, most });
        throw error;
      }
      root.classList.remove("sq-stale");
      return room.saying();
    };
    room.set = (news) => room.put(news).then((saying) => status.replaceChildren(...saying), fail);
    room.change = async function (changes, again = false) {
      const { past, changes: before } = room;
      await room.set({ changes, past: again ? past : [...past, { changes: before }] });
      room.link();
    };
    room.undo = async function () {
      const back = room.past.at(-1) ?? { changes: [] };
      if ("text" in back) { // from before the tour
        form.elements.text.value = back.text;
        room.tour.leave();
      }
      await room.set({ ...back, past: room.past.slice(0, -1) });
      room.link();
    };
    room.link = function (hash = rooms.linkOf(room)) {
      history.replaceState(null, "", `#${hash}`);
    };

    function fail(error) {
      status.textContent = error.plain ? error.message : `That did not work (${error.message}).`;
    }

    // The lens: from a tile, deeper into a number, to its neighbour, back, and closed.
    async function inquire(trail, focuses) {
      const found = await live.send("origin", { name: room.name, node: trail.at(-1).node });
      trail.at(-1).title = found.title;
      room.trail = trail;
      const title = rooms.lens(room, lens, found);
      room.parts.room.classList.toggle("sq-room-deep", trail.length > 1);
      rooms.mark(floors, trail.at(-1).node);
      const { below } = room.parts, under = (one) => one.getBoundingClientRect().bottom + 4 - below.getBoundingClientRect().bottom;
      below.scrollTop = 0;
      if (under(title) > 0) below.scrollTop = lens.offsetTop - chips.offsetTop;
      const asks = lens.querySelector(".sq-room-large .sq-room-asks"); // the row of the chosen word is in sight
      if (asks) below.scrollTop += Math.max(0, under(asks));
      if (!focuses) return;
      title.focus({ preventScroll: true });
      const { top } = title.getBoundingClientRect();
      if (top < 0 || top > innerHeight) title.scrollIntoView({ block: "center" });
    }
    const ask = (trail, focuses) => inquire(trail, focuses).catch(fail);
    async function lookAgain() {
      if (!room.trail.length) return room.close(false);
      const held = lens.contains(document.activeElement);
      await inquire(room.trail, held).catch(() => room.close(held)); // what it showed may be gone
    }
    room.look = function (node, from) {
      [room.from, room.opener] = [from?.dataset.key, document.activeElement];
      return ask([{ node }], true).then(() => room.link());
    };
    room.deeper = (node, focuses = true) => ask([...room.trail, { node }], focuses).then(() => focuses && room.link());
    room.back = (step) => ask(room.trail.slice(0, step + 1), true);
    room.turn = async function (node) {
      const inGrid = document.activeElement?.closest(".sq-room-grid");
      await ask([...room.trail.slice(0, -1), { node }], false);
      lens.querySelector(inGrid ? ".sq-room-grid [aria-pressed=true]" : "select")?.focus({ preventScroll: true });
      room.link();
    };
    room.close = function (focuses = true) {
      [room.trail, lens.hidden] = [[], true];
      lens.replaceChildren();
      room.parts.below.scrollTop = 0;
      room.parts.room.classList.remove("sq-room-deep");
      rooms.mark(floors, null);
      if (!focuses) return;
      const same = [...floors.querySelectorAll("[data-key]")].find(({ dataset }) => dataset.key === room.from);
      const { opener } = room, isThere = opener?.isConnected && room.parts.room.contains(opener);
      (isThere ? opener : same ?? floors.querySelector("[tabindex='0']")).focus({ preventScroll: true });
    };
    room.parts.room.addEventListener("keydown", function (event) {
      if (event.key !== "Escape" || lens.hidden) return;
      event.preventDefault();
      if (room.trail.length > 1) room.back(room.trail.length - 2);
      else room.close();
    });

    slide(room);
    room.tour = rooms.tour(room, tour);
    room.follow = async function (hash) {
      const stop = new RegExp(`^#${root.dataset.stop}-(\\d+)$`).exec(hash), state = hash.startsWith("#room=") && rooms.fromLink(hash);
      if (stop && stop[1] >= 1 && stop[1] <= room.tour.count) await room.tour.open(stop[1] - 1);
      else if (state) {
        form.elements.text.value = state.text;
        const { at, anew, changes, node } = state;
        await room.set({ text: state.text, at, anew, changes, trail: node ? [{ node }] : [] });
      } else return false;
      return true;
    };
    window.addEventListener("hashchange", async function () {
      if (await room.follow(location.hash)) room.parts.written.scrollIntoView();
    });
    return room;
  }

  live.views.room = async function (root, form) {
    const isNew = !root.room, room = (root.room ||= open(root, form)), before = form.elements.text.value;
    const follows = isNew && (await room.follow(location.hash));
    if (follows && room.answer) {
      room.parts.written.scrollIntoView();
      return room.saying();
    }
    if (follows) form.elements.text.value = before; // the address led nowhere
    const text = form.elements.text.value, kept = room.changes.filter((one) => !bound(one));
    if (text !== room.text && Number.isInteger(room.stop)) room.tour.leave(); // its answer was about another text
    const saying = await room.put(text === room.text ? {} : { text, at: room.isRow ? LAST : 0, trail: [], changes: kept });
    const { written, side } = room.parts, isSheet = getComputedStyle(side).bottom === "0px"; // on a phone
    if (isSheet && written.getBoundingClientRect().bottom > innerHeight - side.offsetHeight) written.scrollIntoView();
    return follows ? ["The address could not be followed. ", ...saying] : saying;
  };

  // A new row: symbols drawn evenly from the table, which begin again after 12 to 18.
  live.setUps.room = function (root) {
    root.querySelector("[data-shuffle]")?.addEventListener("click", function ({ target }) {
      const draw = (count) => Math.floor(Math.random() * count), { shuffle } = target.dataset;
      const once = Array.from({ length: 12 + draw(7) }, () => shuffle[draw(shuffle.length)]).join("");
      root.querySelector("form").elements.text.value = once + once.slice(0, 6 + draw(5));
      live.answer(root);
    });
  };
})();
