// What a reader changes in the machine room: what the lens offers, the changes as chips to take back, and
// the link that holds them.
(function () {
  "use strict";
  const live = window.seqlive, { element } = live, rooms = live.rooms;
  const own = ({ kind, part, head, row, column, a, b, at, from, text }) =>
    JSON.stringify([kind, part, head, row, column, a, b, at, from, text]);
  rooms.same = (one, other) => own(one) === own(other);

  // A change in words.
  rooms.changeCalled = function (room, change) {
    const { kind, part, head, a, b, at, to, row, column } = change, called = (one) => rooms.partCalled(room, one);
    const { encoder, decoder } = room.answer, words = (part.startsWith("encoder") ? encoder : decoder).names;
    const read = (part.includes("cross") || part.startsWith("encoder") ? encoder : decoder).names;
    const word = (list, i) => `“${list[i] ?? `word ${i + 1}`}”`;
    if (kind === "off") return `head ${head + 1} of ${called(part)} off`;
    if (kind === "mlp") return `${called(part)} off`;
    if (kind === "heat") return `temperature ${to}`;
    if (kind === "place") return `${word(words, at)}${encoder ? ` (${part})` : ""} at place ${to}`;
    const stage = () => rooms.stateCalled(room, part.split(".")[1]).split(":")[0];
    if (kind === "patch") return `${word(words, at)}, ${stage()}, from “${change.text}”`;
    if (kind === "hold") return `head ${head + 1} of ${called(part)}: ${word(words, row)} → ${word(read, column)}`;
    return `${kind} ${word(read, a)} ↔ ${word(read, b)}, all heads of ${called(part)}`;
  };

  function button(text, act) {
    const made = element("button", text, { type: "button" });
    made.addEventListener("click", act);
    return made;
  }
  function choice(words, said) {
    const list = element("select", "", { "aria-label": said });
    words.forEach(([word, value]) => list.append(element("option", word, { value })));
    return list;
  }

  // A text to take a state from: what the reader typed, or of the examples the one that has least in common.
  function otherThan({ root, text, other }) {
    const words = (of) => of.toLowerCase().match(/[\p{L}\d]+/gu) ?? [], here = words(text);
    if (other && String(words(other)) !== String(here)) return other;
    const all = [root.dataset.other, ...[...root.querySelectorAll(".sq-examples button")].map((one) => one.textContent)];
    const common = (of) => words(of).filter((word) => here.includes(word)).length;
    return all.reduce((best, one) => (common(one) < common(best) ? one : best));
  }

  const offers = {
    off: (room, { part, head, done }) => [button(done ? "Switch this head on" : "Switch this head off", () => room.toggle({ kind: "off", part, head }))],
    mlp: (room, { part, done }) => [button(done ? "Switch this MLP on" : "Switch this MLP off", () => room.toggle({ kind: "mlp", part }))],
    hold: (room, { part, head, row, column, word, done }) => [
      button(done ? "Let it look freely" : `Let it look only at “${word}”`, function () {
        const rest = room.changes.filter((one) => one.kind !== "hold" || one.part !== part || one.head !== head || one.row !== row);
        room.change(done ? rest : [...rest, { kind: "hold", part, head, row, column }]);
      })],
    place: (room, { part, at, now }) => [
      `Place ${now}: `,
      ...[["one earlier", now - 1], ["one later", now + 1]].filter(([, to]) => to >= 0).map(([said, to]) =>
        button(said, function () {
          const rest = room.changes.filter((one) => one.kind !== "place" || one.part !== part || one.at !== at);
          room.change(to === at ? rest : [...rest, { kind: "place", part, at, to }]);
        }))],
    patch(room, { part, at }) {
      const what = `another ${room.kind}`, text = element("input", "", { value: otherThan(room), "aria-label": what, maxlength: 90 });
      const list = choice([], `${room.unit} of ${what}`), side = part.split(".")[0];
      // The words there are known to the worker: a decoder's are those that it would write.
      async function fill() {
        const there = { name: room.name, text: text.value, side };
        const words = await room.see([text.value]).then(() => live.send("wordsThere", there)).catch(() => []);
        if (there.text !== text.value) return;
        list.replaceChildren(...words.map((word, i) => element("option", word, { value: i })));
        list.value = Math.min(at, words.length - 1);
      }
      let filled = fill();
      text.addEventListener("input", function () {
        room.other = text.value;
        filled = fill();
      });
      return ["Take this state from ", text, list, button("Patch", async function () {
        await filled;
        const rest = room.changes.filter((one) => one.kind !== "patch" || one.part !== part || one.at !== at);
        room.change([...rest, { kind: "patch", part, at, text: text.value, from: Number(list.value) }]);
      })];
    },
  };
  // Keys or values of two words exchanged, in all heads of an attention.
  offers.keys = offers.values = function (room, { kind, part, a, words }) {
    const others = words.map((word, j) => [word, j]).filter(([, j]) => j !== a);
    if (!others.length) return [];
    const asks = `Exchange the ${kind.slice(0, -1)} of “${words[a]}” in all heads with that of`, list = choice(others, asks);
    const change = () => ({ kind, part, a: Math.min(a, list.value), b: Math.max(a, list.value) });
    return [button(asks, () => room.toggle(change())), list];
  };

  rooms.offer = function (room, offer) {
    const box = element("div", "", { class: "sq-room-do" });
    box.append(...offers[offer.kind](room, offer));
    return box;
  };

  // The score: so many heads are off and nothing else is changed; is the translation still the same?
  function score(room) {
    const { encoder, decoder, same } = room.answer, off = room.changes.length, what = room.isRow ? "next symbol" : "sentence";
    if (room.changes.some(({ kind }) => kind !== "off")) return "";
    const all = [encoder, decoder].filter(Boolean).flatMap(({ maps }) => Object.values(maps)).flat().length;
    if (same) room.most = Math.max(room.most, off);
    const record = room.most ? ` Most with the same, so far: ${room.most}.` : "";
    return `${off} of ${all} heads off, ${same ? "still the same" : "another"} ${what}. How many can go?${same && off === 1 ? " Try all heads of one attention." : ""}${record}`;
  }

  function called(room, group) {
    if (group.length === 1) return rooms.changeCalled(room, group[0]);
    const heads = group.map(({ head }) => head + 1).sort((a, b) => a - b);
    return `heads ${heads.join(", ")} of ${rooms.partCalled(room, group[0].part)} off`;
  }

  // The changes, each with a button that takes it back; first what takes back the last one, or all.
  rooms.chips = function (room, box) {
    const held = box.contains(document.activeElement);
    if (!room.changes.length) {
      const back = room.past.at(-1);
      box.replaceChildren(...(back ? [button("text" in back ? "Bring your changes back" : "Undo", () => room.undo())] : []));
      if (held) (box.firstChild ?? room.parts.why).focus({ preventScroll: true });
      return;
    }
    const groups = new Map(); // the heads of one part are one group
    for (const change of room.changes) {
      const key = change.kind === "off" ? change.part : change;
      groups.set(key, [...(groups.get(key) ?? []), change]);
    }
    const chips = [...groups.values()].map(function (group) {
      const rest = () => room.changes.filter((one) => !group.includes(one));
      const chip = button(`${called(room, group)} ×`, () => room.change(rest()));
      chip.className = "sq-room-chip";
      return chip;
    });
    const undo = button("Undo", () => room.undo()), reset = button("Reset", () => room.change([]));
    const counted = element("p", score(room), { class: "sq-room-name" });
    box.replaceChildren(undo, reset, element("span", "You changed: "), ...chips, counted);
    if (held) undo.focus({ preventScroll: true });
  };

  // The state of the room as the part of an address behind "#", and back.
  rooms.linkOf = ({ text, at, anew, changes, trail }) =>
    "room=" + encodeURIComponent(JSON.stringify({ text, at, ...(anew && { anew }), changes, node: trail.at(-1)?.node }));
  rooms.fromLink = function (hash) {
    try {
      const { text, at, anew, changes, node } = JSON.parse(decodeURIComponent(hash.slice("#room=".length)));
      return { text: String(text), at: Number(at) || 0, anew: anew === true, changes: Array.isArray(changes) ? changes : [], node };
    } catch {
      return null; // no link of ours
    }
  };
})();
