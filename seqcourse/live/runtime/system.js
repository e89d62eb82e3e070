// A model with its vocabularies: text in, text out.
seqlive.part(function (live) {
  "use strict";
  const { EOS, SPECIALS, UNK } = live;
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
