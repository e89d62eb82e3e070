// A model with its vocabularies: text in, text out.
seqlive.part(function (live) {
  "use strict";
  const { EOS, SPECIALS, UNK } = live;
  const running = new Map(); // texts that are being written
  const MOST = 60; // tokens: what was trained on has at most half as many
  live.systems = {};

  // A sentence for the reader, no error of the program.
  live.Refusal = class extends Error {};

  live.load = function ({ name, header, text }) {
    const P = {};
    for (const [key, entry] of Object.entries(header.tensors)) P[key] = live.unpack(entry, text);
    const source = [...SPECIALS, ...header.source], target = [...SPECIALS, ...header.target];
    live.systems[name] = {
      model: live.models[header.model](P, header.sizes),
      language: header.language,
      target,
      ids: new Map(source.map((token, id) => [token, id])),
    };
  };

  // The words of a whole sentence, as in training: a missing full stop is added.
  function read(text) {
    const tokens = live.tokenize(text);
    if (!tokens.some(live.isWord)) throw new live.Refusal("Write a sentence with at least one word.");
    if (tokens.length > MOST)
      throw new live.Refusal(
        `This model reads single sentences of at most ${MOST} words and signs; these are ${tokens.length}.`,
      );
    return /^[.?!]$/.test(tokens[tokens.length - 1]) ? tokens : [...tokens, "."];
  }

  // Begin to continue a text character by character; `goOn` writes. Without `cache` a model that looks
  // back reads the whole text anew for every character.
  live.begin = function ({ name, text, temperature, seed, cache = true }) {
    const { model, ids } = live.systems[name];
    const known = [...text].map((character) => ids.get(character) ?? UNK);
    if (!known.length) throw new live.Refusal("Write at least one character to begin with.");
    if (known.length >= (model.longest ?? Infinity))
      throw new live.Refusal(`This model reads at most ${model.longest} characters.`);
    running.set(name, { known, cache, temperature, random: live.random(seed), next: 0, state: model.start() });
  };

  live.goOn = function ({ name, count }) {
    const { model, target } = live.systems[name], at = running.get(name), logProbs = [];
    let text = "";
    while (count-- > 0 && at.known.length <= (model.longest ?? Infinity)) {
      if (!at.cache) [at.next, at.state] = [0, model.start()];
      let out;
      for (; at.next < at.known.length; at.next++) {
        out = model.step(at.known[at.next], at.state, null);
        at.state = out.state;
      }
      const id = live.draw(out.logProbs, at.temperature, at.random);
      at.known.push(id);
      logProbs.push(out.logProbs[id]);
      text += target[id];
    }
    return { text, logProbs };
  };

  live.translate = function ({ name, text, width = 5, alpha = 1 }) {
    const { model, language, target, ids } = live.systems[name];
    const source = read(text);
    const memory = model.encode([...source.map((token) => ids.get(token) ?? UNK), EOS]);
    const found = live.beamSearch(model, memory, { width, alpha, maxLength: 2 * source.length + 10 });
    const words = found.steps.map((path) => target[path.token]);
    return {
      source,
      unknown: source.filter((token) => !ids.has(token)),
      target: words,
      text: live.detokenize(words, language),
      score: found.score,
      weights: found.steps.map((path) => path.out.weights && Array.from(path.out.weights)),
    };
  };
});
