// The machine room's Transformer, with its lid off: a text is put in, changes are made, and the traces of the
// last answer stay, so that any of their numbers can be asked for. A translator reads a sentence and writes;
// a model of one row of symbols reads the row, a captioner a picture that the page has composed of the text.
seqlive.part(function (live) {
  "use strict";
  const { EOS, SOS, UNK } = live;
  const MOST = 24, MOST_SYMBOLS = 64, KEPT = 16, BARS = 5;
  const machines = {};

  // A captioner has a decoder as a translator does. A GPT is a decoder alone; its parts get the same names.
  function tracerOf({ parameters: P, sizes, remember }) {
    if (!P.embedding) return live.tracer(P, sizes);
    if (remember) return live.tracer({ ...P, target_embedding: P.embedding }, { ...sizes, sees: true });
    const rename = (name) => name.replace(/^blocks/, "decoder").replace(/^norm/, "decoder_norm");
    const named = Object.fromEntries(Object.entries(P).map(([name, values]) => [rename(name), values]));
    return live.tracer({ ...named, target_embedding: P.embedding }, { ...sizes, alone: true });
  }
  function open(name) {
    const system = live.systems[name];
    if (machines[name]) return machines[name];
    const tracer = tracerOf(system.model);
    return (machines[name] = {
      ...tracer,
      system,
      unit: tracer.alone ? "symbol" : "word",
      pictures: new Map(), // what was composed of a text, as vectors of its places
      kept: new Map(), // the latest traces: they serve while their part is unchanged
    });
  }
  live.machineOf = (name) => machines[name];
  live.see = function ({ name, text, pixels }) {
    const { pictures, system } = open(name);
    if (!pictures.has(text)) pictures.set(text, system.model.remember(pixels));
  };
  function placesOf({ pictures }, text) {
    const { length } = pictures.get(text), side = Math.sqrt(length), ids = Array.from({ length }, (_, i) => i);
    return { tokens: ids.map((i) => `row ${Math.floor(i / side) + 1}, column ${(i % side) + 1}`), ids };
  }

  function readRow({ system: { ids, split } }, text) {
    const tokens = split(live.spaced(live.short(text)).replaceAll(" ", "")), known = [...ids.keys()].slice(live.SPECIALS.length);
    const other = tokens.find((token) => !known.includes(token));
    if (!tokens.length) throw new live.Refusal("Write a row with at least one symbol.");
    if (other) throw new live.Refusal(`This model knows the symbols ${known.join("")}; “${other}” is none of them.`);
    if (tokens.length > MOST_SYMBOLS)
      throw new live.Refusal(`The machine room has place for ${MOST_SYMBOLS} symbols; these are ${tokens.length}.`);
    return { tokens, ids: tokens.map((token) => ids.get(token)) };
  }
  function idsOf(machine, text) {
    if (machine.alone) return readRow(machine, text);
    if (machine.sees) return placesOf(machine, text);
    const { system } = machine, tokens = live.readSentence(system, text);
    if (tokens.length > MOST)
      throw new live.Refusal(`The machine room has place for ${MOST} words and punctuation marks; these are ${tokens.length}.`);
    return { tokens: [...tokens, "<eos>"], ids: [...tokens.map((token) => system.ids.get(token) ?? UNK), EOS] };
  }

  // Changes ready to be asked; states of other texts come from machines without changes.
  function ready(machine, changes) {
    const made = live.changing(changes, function (text, side, stage, at) {
      const states = (side === "encoder" ? live.encoderOf(machine, text) : live.decoderOf(machine, text)).states[stage];
      if (!states?.[at]) throw new live.Refusal(`There is no such ${machine.unit} in “${text}”.`);
      return states[at];
    });
    const has = (part) => part === "output" || machine.stages[part.split(".")[0]].length > 0;
    if (!changes.every(({ part }) => has(part))) throw new live.Refusal("This machine has no such part.");
    return made;
  }

  // A trace that is made unless it is there; the latest come last.
  function latest({ kept }, key, make) {
    const found = kept.get(key) ?? make();
    kept.delete(key);
    kept.set(key, found);
    if (kept.size > KEPT) kept.delete(kept.keys().next().value);
    return found;
  }
  live.encoderOf = function (machine, text, changes = []) {
    const own = live.inEncoder(changes);
    return latest(machine, JSON.stringify([text, own]), function () {
      const made = ready(machine, own);
      if (!machine.sees) return machine.encode(idsOf(machine, text).ids, made);
      const { z, length } = machine.pictures.get(text);
      return machine.given(z, length, made);
    });
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
  function readAll(machine, ids, changes) {
    const trace = machine.start(null);
    ids.forEach((id) => machine.read(trace, id, changes));
    return { ids, trace };
  }
  // Without changes: what is written (or was read), and the trace.
  const plainly = (machine, text) =>
    latest(machine, text, function () {
      const none = ready(machine, []);
      if (machine.alone) return readAll(machine, idsOf(machine, text).ids, none);
      return write(machine, live.encoderOf(machine, text), none, [], true);
    });
  live.decoderOf = (machine, text) => plainly(machine, text).trace;

  // The words that a side has a vector for, in the answer or without changes in another text.
  live.wordsOf = function (machine, text, side) {
    if (machine.alone || side === "encoder") return idsOf(machine, text).tokens;
    return ["<sos>", ...plainly(machine, text).trace.ids.slice(1).map((id) => machine.system.target[id])];
  };
  live.wordsThere = ({ name, text, side }) => live.named(live.wordsOf(machines[name], text, side));

  // Words told apart: one that stands more than once is counted, "w (2nd)".
  const ENDS = ["th", "st", "nd", "rd"], counted = (n) => n + ((n % 100 > 10 && n % 100 < 14) || n % 10 > 3 ? "th" : ENDS[n % 10]);
  live.named = (words) => words.map(function (word, i) {
    const isSame = (other) => other === word;
    return words.filter(isSame).length < 2 ? word : `${word} (${counted(words.slice(0, i + 1).filter(isSame).length)})`;
  });

  const sharesOf = (logits, heat) => live.softmax(Float64Array.from(logits, (value) => value / heat));

  // How likely each symbol of a row was before it was read, and the mean loss of those that stand behind
  // the same symbol as before: those can be looked up.
  function judged({ ids, trace: { logits } }) {
    const shares = ids.map((id, t) => (t ? live.softmax(Float64Array.from(logits[t - 1]))[id] : null));
    const seen = ids.map((id, t) => t && ids.slice(1, t).some((other, s) => other === id && ids[s] === ids[t - 1]));
    const costs = shares.filter((_, t) => seen[t]).map((share) => -Math.log(share));
    return { shares, count: costs.length, loss: costs.reduce((sum, cost) => sum + cost, 0) / costs.length };
  }

  // The traces of an answer, and what is written or read, without and with the changes. `was`: the trace
  // without the changes, behind the same words.
  function read(machine, text, { at, anew }, changes, made) {
    const plain = plainly(machine, text), same = !changes.some(({ part }) => part !== "output"), was = plain.trace;
    const within = (ids) => Math.min(Math.max(at, 0), ids.length - 1);
    if (machine.alone) {
      const again = same ? plain : readAll(machine, plain.ids, made);
      return { E: null, T: again.trace, was, place: within(plain.ids), row: { plain: judged(plain), again: judged(again) } };
    }
    const E = live.encoderOf(machine, text, changes);
    const rewritten = same ? plain.ids : write(machine, E, made, [], true).ids, ids = anew ? rewritten : plain.ids;
    const place = within(ids), after = (E, made) => write(machine, E, made, ids.slice(0, place), false).trace;
    const T = same ? was : after(E, made);
    return { E, T, was: ids === plain.ids ? was : after(live.encoderOf(machine, text), ready(machine, [])), place, rewritten };
  }

  // One answer: what each tile and map shows, the bars of the next word, what is written.
  // `at`: which word is about to be written, or which symbol has just been read. `anew`: of the words that are
  // written with the changes.
  live.operate = function ({ name, text, at, anew = false, changes }) {
    const machine = open(name), { system } = machine, { tokens } = idsOf(machine, text), made = ready(machine, changes);
    const { E, T, was, place, rewritten, row } = read(machine, text, { at, anew }, changes, made), plain = plainly(machine, text);
    const shares = sharesOf(T.logits[place], made.heat), before = sharesOf(was.logits[place], 1);
    const shown = live.top(T.logits[place], BARS).map(({ id }) => id), [best] = live.top(was.logits[place], 1);
    machine.now = { text, at: place, changes, made, E, T, was, best: best.id, shares };
    if (!shown.includes(best.id)) shown[BARS - 1] = best.id;
    const words = (ids) => ids.map((id) => system.target[id]);
    const states = ({ states }, n) => Object.fromEntries(Object.entries(states).map(([stage, all]) => [stage, all.slice(0, n)]));
    const maps = ({ looks }, n) =>
      Object.fromEntries(Object.entries(looks).map(([stage, rows]) =>
        [stage, Array.from({ length: machine.H }, (_, head) => rows.slice(0, n).map((row) => row.weights[head]))]));
    const side = (trace, said, n) => ({
      words: said.slice(0, n), names: live.named(said).slice(0, n), places: trace.places.slice(0, n), states: states(trace, n), maps: maps(trace, n),
      stages: machine.stages[trace.side],
    });
    const fed = machine.alone ? tokens : ["<sos>", ...words(T.ids.slice(1))], written = words(plain.ids), now = rewritten && words(rewritten);
    return {
      encoder: E && side(E, tokens, E.ids.length),
      decoder: side(T, fed, place + 1),
      at: place,
      unit: machine.unit,
      anew: anew && Boolean(rewritten) && String(rewritten) !== String(plain.ids),
      plain: written,
      rewritten: now,
      names: { plain: live.named(written), rewritten: now && live.named(now) },
      best: best.id,
      row,
      same: rewritten ? String(rewritten) === String(plain.ids) : live.top(T.logits[place], 1)[0].id === best.id,
      bars: shown.map((id) => ({ id, word: system.target[id], share: shares[id], before: before[id] })),
      heat: made.heat,
      changed: changes.length > 0,
      unknown: machine.sees ? [] : tokens.filter((token) => !system.ids.has(token)),
    };
  };

  // Everything that the last answer kept.
  live.kept = function ({ name }) {
    const { E, T, shares } = machines[name].now;
    return { E, T, shares };
  };
});
