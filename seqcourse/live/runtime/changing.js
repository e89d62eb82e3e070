// What a reader changes in a Transformer that is traced: the kinds of changes, and what each is asked for.
// A change names the part that it is made in: { kind: "off", part: "decoder.1.cross_attention", head: 2 }.
seqlive.part(function (live) {
  "use strict";
  const ATTENTION = /^(encoder\.\d\.self|decoder\.\d\.(self|cross))_attention$/;
  const STAGE = /^(encoder\.(x\d|s\d|memory)|decoder\.(x\d|s\d|c\d))$/, whole = (x) => Number.isInteger(x) && x >= 0;
  const words = (...places) => places.every(whole);
  // For each kind: what its part is called, and which numbers it has.
  const KINDS = {
    off: [ATTENTION, ({ head }) => whole(head)],
    mlp: [/^(encoder|decoder)\.\d\.mlp$/, () => true],
    keys: [ATTENTION, ({ a, b }) => words(a, b)], // in all heads
    values: [ATTENTION, ({ a, b }) => words(a, b)],
    hold: [ATTENTION, ({ head, row, column }) => words(head, row, column)],
    place: [/^(encoder|decoder)$/, ({ at, to }) => words(at, to) && to < 1000],
    patch: [STAGE, ({ at, from, text }) => words(at, from) && typeof text === "string"],
    heat: [/^output$/, ({ to }) => to >= 0.1 && to <= 5],
  };

  // Changes may come from a link, so they are looked at before they are made.
  function check(changes) {
    const known = ({ kind, part, ...rest }) => KINDS[kind] && KINDS[kind][0].test(part) && KINDS[kind][1](rest);
    if (!Array.isArray(changes) || !changes.every((one) => one && known(one)))
      throw new live.Refusal("This machine has no such part, so the changes could not be made.");
  }

  // What a trace asks while it is made. `stateOf(text, side, stage, place)` is a state of another text.
  live.changing = function (changes, stateOf) {
    check(changes);
    const find = (kind, part, fits) => changes.find((one) => one.kind === kind && one.part === part && fits(one));
    return {
      isOff: (part, head) => Boolean(find("off", part, (one) => one.head === head)),
      isMute: (part) => Boolean(find("mlp", part, () => true)),
      heat: find("heat", "output", () => true)?.to ?? 1,
      placeOf: (side, at) => find("place", side, (one) => one.at === at)?.to ?? at,
      // Whose keys (or values) stand at each of m places. Two are exchanged once both can be seen.
      order(kind, part, m) {
        const from = Array.from({ length: m }, (_, j) => j);
        for (const one of changes)
          if (one.kind === kind && one.part === part && one.a < m && one.b < m)
            [from[one.a], from[one.b]] = [from[one.b], from[one.a]];
        return from;
      },
      // The only place that a row of weights may look at, or undefined.
      held: (part, head, row, m) =>
        find("hold", part, (one) => one.head === head && one.row === row && one.column < m)?.column,
      patchOf: (stage, at) => find("patch", stage, (one) => one.at === at),
      patched(stage, at, state) {
        const one = find("patch", stage, (one) => one.at === at);
        return one ? stateOf(one.text, ...stage.split("."), one.from) : state;
      },
    };
  };
  live.inEncoder = (changes) => changes.filter(({ part }) => String(part).startsWith("encoder"));
});
