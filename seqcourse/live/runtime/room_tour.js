// The tour of the machine room: each stop asks first, then does it on the machine, then says why. What the
// stops say is data of the page.
(function () {
  "use strict";
  const live = window.seqlive, { element } = live, rooms = live.rooms;

  function button(text, act, attributes = {}) {
    const made = element("button", text, { type: "button", ...attributes });
    made.addEventListener("click", act);
    return made;
  }

  // What is to be seen after an answer, and the lens beside it.
  async function reveal(room, stop) {
    const { past, changes } = room, isSame = !changes.length && !stop.changes.length;
    await room.set({ changes: stop.changes, trail: [], past: isSame ? past : [...past, { changes }] });
    if (stop.look) await room.deeper(stop.look, false);
    rooms.mark(room.parts.floors, stop.look)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  function answered(room, stop, chosen, box) {
    const right = chosen === stop.answer;
    const verdict = element("p", "", { class: right ? "sq-answer sq-is-right" : "sq-answer", tabindex: -1 });
    verdict.append(element("b", `${right ? "Right" : "Not so"}: ${stop.options[stop.answer]}. `), stop.because);
    box.replaceChildren(verdict);
    box.previousElementSibling.classList.add("sq-room-asked");
    return verdict;
  }

  rooms.tour = function (room, box) {
    const stops = JSON.parse(room.root.dataset.stops), { tour, stop: key } = room.root.dataset;
    if (!stops.length) return { open() {}, leave() {}, count: 0 };
    const numbers = element("nav", "", { class: "sq-room-stops", "aria-label": "The stops of the tour" });
    const body = element("div");
    stops.forEach(({ title }, k) =>
      numbers.append(button(String(k + 1), () => open(k), { id: `${key}-${k + 1}`, "aria-label": `${k + 1}: ${title}`, title })));
    box.replaceChildren(numbers, body);
    rest();

    function rest() {
      const said = element("p", `A tour of ${stops.length} stops ${tour} `);
      said.append(button("Start the tour", () => open(0)), ` It types “${stops[0].text}”.`);
      body.replaceChildren(said);
    }

    // A stop's question, on the machine as it is without changes; those of the reader can be brought back.
    async function open(k) {
      const stop = stops[k], options = element("div", "", { class: "sq-room-options" });
      numbers.querySelectorAll("button").forEach((one, at) => one.toggleAttribute("aria-current", at === k));
      room.stop = k;
      const title = element("p", `${k + 1} of ${stops.length}. ${stop.title}`, { class: "sq-room-title", tabindex: -1 });
      options.append(...stop.options.map((option, chosen) => button(option, async function () {
        const verdict = answered(room, stop, chosen, options);
        if (k + 1 < stops.length) options.append(button("Next stop", () => open(k + 1)));
        else body.lastChild.textContent = "End the tour";
        verdict.focus({ preventScroll: true });
        await reveal(room, stop);
      })));
      body.replaceChildren(title, element("p", stop.question), options, button("Leave the tour", () => leave(), { class: "sq-room-leave" }));
      room.form.elements.text.value = stop.text;
      const { text, at, anew, changes, most } = room, past = room.past.filter((one) => "text" in one);
      if (changes.length && !stops.some((one) => one.changes === changes)) past.push({ text, at, anew, changes, most, trail: [] });
      await room.set({ text: stop.text, at: stop.at, changes: [], trail: [], past });
      room.link(`${key}-${k + 1}`);
      title.focus({ preventScroll: true });
    }
    function leave() {
      room.stop = null;
      numbers.querySelectorAll("button").forEach((one) => one.removeAttribute("aria-current"));
      rest();
    }
    return { open, leave, count: stops.length };
  };
})();
