// The machine room's Transformer, with its lid off: a sentence is put in, changes are made, and the traces
// of the last answer stay, so that any of their numbers can be asked for.
seqlive.part(function (live) {
  "use strict";
  const { EOS, SOS, UNK } = live;
  const MOST = 24, ENCODERS = 12, BARS = 5;
  const machines = {};

  function open(name) {
    return (machines[name] ||= {
      ...live.tracer(live.systems[name].model.parameters, live.systems[name].model.sizes),
      system: live.systems[name],
      encoders: new Map(), // the latest traces of encoders: they serve while their part is unchanged
    });
  }
  live.machineOf = (name) => machines[name];

  function idsOf({ system }, text) {
    const tokens = live.readSentence(system, text);
    if (tokens.length > MOST)
      throw new live.Refusal(`The machine room has place for ${MOST} words and punctuation marks; these are ${tokens.length}.`);
    return { tokens, ids: [...tokens.map((token) => system.ids.get(token) ?? UNK), EOS] };
  }

  // Changes ready to be asked; states of other sentences come from encoders without changes.
  const ready = (machine, changes) =>
    live.changing(changes, function (text, stage, at) {
      const states = live.encoderOf(machine, text).states[stage];
      if (!states?.[at]) throw new live.Refusal("The other sentence has no such word.");
      return states[at];
    });

  live.encoderOf = function (machine, text, changes = []) {
    const own = live.inEncoder(changes), key = JSON.stringify([text, own]), { encoders } = machine;
    const found = encoders.get(key) ?? machine.encode(idsOf(machine, text).ids, ready(machine, own));
    encoders.delete(key); // the latest come last
    encoders.set(key, found);
    if (encoders.size > ENCODERS) encoders.delete(encoders.keys().next().value);
    return found;
  };

  // What is written word by word, each time the likeliest word: ids, and the trace. After `given` words
  // that are prescribed it goes on by itself, or stops if `goesOn` is false.
  function write(machine, E, changes, given, goesOn) {
    const trace = machine.start(E), ids = [], most = 2 * E.ids.length + 8;
    for (let token = SOS; ; token = ids.at(-1)) {
      const logits = machine.read(trace, token, changes), at = ids.length;
      if (at >= given.length && !goesOn) return { ids, trace };
      ids.push(given[at] ?? live.top(logits, 1)[0].id);
      if (ids.at(-1) === EOS || ids.length >= most) return { ids, trace };
    }
  }

  const sharesOf = (logits, heat) => live.softmax(Float64Array.from(logits, (value) => value / heat));

  // One answer: what each tile and map shows, the bars of the next word, what is written.
  // `at`: which word is about to be written.
  live.operate = function ({ name, text, at, changes }) {
    const machine = open(name), { system } = machine, { tokens } = idsOf(machine, text);
    const none = ready(machine, []), made = ready(machine, changes);
    if (machine.text !== text) {
      machine.plain = write(machine, live.encoderOf(machine, text), none, [], true);
      machine.text = text;
    }
    const { plain } = machine, place = Math.min(Math.max(at, 0), plain.ids.length - 1);
    const E = live.encoderOf(machine, text, changes), given = plain.ids.slice(0, place);
    const same = !changes.some(({ part }) => part !== "output");
    const T = same ? plain.trace : write(machine, E, made, given, false).trace;
    const rewritten = same ? plain.ids : write(machine, E, made, [], true).ids;
    machine.now = { text, at: place, changes, made, E, T };
    const shares = sharesOf(T.logits[place], made.heat), before = sharesOf(plain.trace.logits[place], 1);
    machine.now.shares = shares;
    const shown = live.top(T.logits[place], BARS).map(({ id }) => id), [best] = live.top(plain.trace.logits[place], 1);
    if (!shown.includes(best.id)) shown[BARS - 1] = best.id;
    const words = (ids) => ids.map((id) => system.target[id]);
    const states = ({ states }, n) => Object.fromEntries(Object.entries(states).map(([stage, all]) => [stage, all.slice(0, n)]));
    const maps = ({ looks }, n) =>
      Object.fromEntries(Object.entries(looks).map(([stage, rows]) =>
        [stage, Array.from({ length: machine.H }, (_, head) => rows.slice(0, n).map((row) => row.weights[head]))]));
    const side = (trace, said, n) =>
      ({ words: said, places: trace.places.slice(0, n), states: states(trace, n), maps: maps(trace, n) });
    return {
      encoder: side(E, [...tokens, "<eos>"], E.ids.length),
      decoder: side(T, ["<sos>", ...words(given)], place + 1),
      at: place,
      plain: words(plain.ids),
      rewritten: words(rewritten),
      bars: shown.map((id) => ({ id, word: system.target[id], share: shares[id], before: before[id] })),
      heat: made.heat,
      changed: changes.length > 0,
      unknown: tokens.filter((token) => !system.ids.has(token)),
      layers: machine.L,
    };
  };

  // Everything that the last answer kept.
  live.kept = function ({ name }) {
    const { E, T, shares } = machines[name].now;
    return { E, T, shares };
  };
});
