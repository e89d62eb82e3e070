// A model with its vocabularies: text in, text out.
seqlive.part(function (live) {
  "use strict";
  const { EOS, SOS, SPECIALS, UNK } = live;
  const running = new Map(); // texts that are being written
  const MOST = 60; // tokens: what was trained on has at most half as many
  const MOST_CHARACTERS = 1000; // of a text that a reader types
  live.systems = {};

  // A sentence for the reader, no error of the program.
  live.Refusal = class extends Error {};

  // How each kind of vocabulary splits a text, and joins what was written. Other parts add theirs.
  live.kinds = {
    words: (header) => ({ split: live.tokenize, join: (words) => live.detokenize(words, header.language) }),
    characters: () => ({ split: (text) => [...text], join: (characters) => characters.join("") }),
    subwords: (header, ids) => ({ split: live.splitter(header.merges, ids), join: live.joinPieces }),
  };

  live.load = function ({ name, header, text }) {
    const P = {};
    for (const [key, entry] of Object.entries(header.tensors)) P[key] = live.unpack(entry, text);
    const source = [...SPECIALS, ...(header.source ?? [])];
    const ids = new Map(source.map((token, id) => [token, id]));
    live.systems[name] = {
      model: live.models[header.model](P, header.sizes),
      target: header.target ? [...SPECIALS, ...header.target] : source,
      ids,
      subwords: header.kind === "subwords",
      merges: header.merges,
      ...live.kinds[header.kind](header, ids),
    };
  };

  // A text that may be split: what is much longer than any model reads would take long to split.
  live.short = function (text) {
    const count = [...text].length;
    if (count > MOST_CHARACTERS)
      throw new live.Refusal(
        `Write at most ${MOST_CHARACTERS.toLocaleString("en")} characters; these are ${count.toLocaleString("en")}.`,
      );
    return text;
  };

  // The tokens of whole sentences, as in training: a missing full stop is added.
  function read({ split, subwords }, text) {
    live.short(text);
    const most = subwords ? 4 * MOST : MOST;
    const tokens = split(subwords && !/[.?!]["'»)]*\s*$/u.test(text) ? text.trimEnd() + "." : text);
    if (!live.isWord(text)) throw new live.Refusal("Write a sentence with at least one word.");
    if (tokens.length > most)
      throw new live.Refusal(
        `This model reads at most ${most} words and punctuation marks; these are ${tokens.length}.`,
      );
    return subwords || /^[.?!]$/.test(tokens[tokens.length - 1]) ? tokens : [...tokens, "."];
  }

  live.readSentence = read;

  // What a model knows of a source.
  live.encode = function ({ model, ids }, source) {
    return model.encode([...source.map((token) => ids.get(token) ?? UNK), EOS]);
  };

  // Begin to continue a text token by token; `goOn` writes, in steps of their own for each `run`. Without
  // `cache` a model that looks back reads the whole text anew for every token.
  live.begin = function ({ name, run = name, text, temperature, seed, cache = true }) {
    const { model, ids, split, subwords } = live.systems[name];
    const tokens = split(live.short(text)), known = tokens.map((token) => ids.get(token) ?? UNK);
    const unit = subwords ? "pieces of words" : "characters", looksBack = "longest" in model;
    if (!known.length) throw new live.Refusal("Write at least one character to begin with.");
    if (looksBack && known.length >= model.longest)
      throw new live.Refusal(`This model reads at most ${model.longest} ${unit}; these are ${known.length}.`);
    const random = live.random(seed), state = model.start();
    running.set(run, { name, known, cache: cache || !looksBack, temperature, random, next: 0, state });
    return { unit, looksBack, unknown: tokens.filter((token) => !ids.has(token)) };
  };

  // `count` more tokens; `milliseconds` of computing for each.
  live.goOn = function ({ name, run = name, count }) {
    const at = running.get(run), { model, target, join } = live.systems[at.name];
    const tokens = [], logProbs = [], milliseconds = [];
    while (count-- > 0 && at.known.length <= (model.longest ?? Infinity)) {
      const began = performance.now();
      if (!at.cache) [at.next, at.state] = [0, model.start()];
      let out;
      for (; at.next < at.known.length; at.next++) {
        out = model.step(at.known[at.next], at.state, null);
        at.state = out.state;
      }
      const id = live.draw(out.logProbs, at.temperature, at.random);
      at.known.push(id);
      logProbs.push(out.logProbs[id]);
      tokens.push(target[id]);
      milliseconds.push(performance.now() - began);
    }
    return { text: join(tokens), logProbs, milliseconds };
  };

  // The cell state of an LSTM behind every character of a text: [character][entry].
  live.cells = function ({ name, text }) {
    const { model, ids, split } = live.systems[name], characters = split(live.short(text)), cells = [];
    if (!characters.length) throw new live.Refusal("Write at least one character.");
    let state = model.start();
    for (const character of characters) {
      ({ state } = model.step(ids.get(character) ?? UNK, state));
      cells.push(state[1]);
    }
    return { characters, cells, unknown: characters.filter((character) => !ids.has(character)) };
  };

  // The pieces of a text when only the first so many pairs are joined, and the last pair of these.
  live.merge = function ({ name, text, count }) {
    const { merges, ids } = live.systems[name], pieces = live.splitter(merges.slice(0, count), ids)(live.short(text));
    if (!pieces.length) throw new live.Refusal("Write at least one character.");
    return { pieces, latest: merges[count - 1]?.split(" ") };
  };

  // Which class a text belongs to, by one layer on what a GPT knows behind its last token: for each class
  // a row of weights, with its bias at the end. At most `longest` tokens are read, as in training.
  live.sort = function ({ name, text, layer, longest }) {
    const { model, ids, split } = live.systems[name];
    if (!live.isWord(live.short(text))) throw new live.Refusal("Write a passage with at least one word.");
    const tokens = split(text), read = tokens.slice(0, longest - 1).map((token) => ids.get(token) ?? UNK);
    let state = model.start(), known;
    for (const id of [...read, EOS]) ({ state, known } = model.step(id, state, null));
    const logits = layer.map((row) => known.reduce((sum, value, i) => sum + value * row[i], row.at(-1)));
    return { shares: [...live.softmax(Float64Array.from(logits))], left: tokens.length - read.length };
  };

  // The words that BERT finds likeliest for each blank, a row of two or more "_".
  live.fill = function ({ name, text, count = 5 }) {
    const { model, target, ids, split } = live.systems[name];
    const parts = live.short(text).split(/_{2,}|<mask>/u).map(split);
    const tokens = parts.flatMap((part, k) => (k ? ["<mask>", ...part] : part));
    const all = [SOS, ...tokens.map((token) => ids.get(token) ?? UNK), EOS];
    const blank = ids.get("<mask>"), places = all.flatMap((id, place) => (id === blank ? [place] : []));
    if (!places.length) throw new live.Refusal("Put ___ where a word is missing.");
    if (all.length > model.longest)
      throw new live.Refusal(`This model reads at most ${model.longest - 2} words and punctuation marks.`);
    const hidden = new Set([...SPECIALS.keys(), blank]);
    const blanks = model.fill(all, places).map(function (logits) {
      const shares = live.softmax(logits.map((value, id) => (hidden.has(id) ? -Infinity : value)));
      const order = [...shares.keys()].sort((a, b) => shares[b] - shares[a]).slice(0, count);
      return order.map((id) => [target[id], shares[id]]);
    });
    return { blanks, unknown: tokens.filter((token) => !ids.has(token)) };
  };

  live.translate = function ({ name, text, width = 5, alpha = 1 }) {
    const system = live.systems[name], { model, target, ids } = system, source = read(system, text);
    const memory = live.encode(system, source);
    const found = live.beamSearch(model, memory, { width, alpha, maxLength: 2 * source.length + 10 });
    const words = found.steps.map((path) => target[path.token]);
    return {
      source,
      unknown: source.filter((token) => !ids.has(token)),
      target: words,
      text: system.join(words).trim(),
      score: found.score,
      weights: found.steps.map((path) => path.out.weights && Array.from(path.out.weights)),
    };
  };

  // For each word of a greedy translation: the word, the second choice there, and what then follows.
  live.slips = function ({ name, text }) {
    const system = live.systems[name], { model, target, ids } = system, source = read(system, text);
    const memory = live.encode(system, source), most = 2 * source.length + 10;
    function write(given) {
      const found = [];
      for (let token = SOS, state = model.start(memory); token !== EOS && found.length < most; ) {
        const out = model.step(token, state, memory), [first, second] = live.top(out.logProbs, 2);
        state = out.state;
        token = given[found.length] ?? first.id;
        found.push([token, second.id]);
      }
      return found;
    }
    const plain = write([]), tokens = plain.map(([token]) => token), word = (token) => target[token];
    const rows = plain.flatMap(function ([token, second], place) {
      if (token === EOS) return [];
      const rest = write([...tokens.slice(0, place), second]).slice(place + 1).map(([other]) => other);
      return [[word(token), word(second), rest.filter((other) => other !== EOS).map(word)]];
    });
    return { rows, unknown: source.filter((one) => !ids.has(one)) };
  };

  // Where a sentence lies in a plane: a linear map of what the encoder hands over.
  live.locate = function ({ name, text, rows, shift }) {
    const system = live.systems[name], source = read(system, text);
    const { final } = live.encode(system, source);
    const at = rows.map((row, k) => row.reduce((sum, value, i) => sum + value * final[i], shift[k]));
    return { at, unknown: source.filter((one) => !system.ids.has(one)) };
  };

  // The tree of a beam search: a list of nodes, each with those that continue it.
  live.grow = function ({ name, text, width, alpha, temperature = 1 }) {
    const system = live.systems[name], { model, target } = system, source = read(system, text);
    const memory = live.encode(system, source);
    const maxLength = 2 * source.length + 10;
    const found = live.beamSearch(model, memory, { width, alpha, temperature, maxLength });
    const nodes = new Map(), roots = [];
    for (const path of found.tree.flat()) {
      const { token, logProb, kept = false, best = false } = path;
      const node = { word: target[token], logProb, kept, best, next: [] };
      nodes.set(path, node);
      (nodes.get(path.before)?.next ?? roots).push(node);
    }
    return { text: system.join(found.steps.map((path) => target[path.token])), score: found.score, roots };
  };

  // Translations drawn word by word. Each word comes with what it was drawn from: the likeliest words
  // with their probabilities, how many words were kept and how many cut.
  live.sample = function ({ name, text, count, seed, temperature, k, p, shown }) {
    const system = live.systems[name], { model, target } = system, source = read(system, text);
    const memory = live.encode(system, source);
    const random = live.random(seed), drawn = [];
    while (drawn.length < count) {
      const steps = [];
      let token = SOS, state = model.start(memory), logProb = 0;
      while (steps.length < 2 * source.length + 10) {
        const out = model.step(token, state, memory);
        const found = live.filter(out.logProbs, { temperature, k: k || Infinity, p });
        token = found.ids[live.pick(found, random)];
        state = out.state;
        logProb += out.logProbs[token];
        const some = shown ?? Math.min(Math.max(8, found.kept + 3), 14); // some that are cut, too
        const likeliest = [...found.ids.slice(0, some)].map((id, place) => [target[id], found.shares[place]]);
        steps.push({ word: target[token], likeliest, kept: found.kept, words: found.ids.length });
        if (token === EOS) break;
      }
      const words = steps.map(({ word }) => word).filter((word) => word !== SPECIALS[EOS]);
      drawn.push({ steps, text: system.join(words), logProb });
    }
    return drawn;
  };
});
