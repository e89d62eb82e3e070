// A word's letters in, its phonemes out: the Transformer of chapter 11 on another vocabulary.
seqlive.part(function (live) {
  "use strict";
  const MOST = 30; // letters: the longest word of the dictionary has 28

  live.kinds.letters = () => ({
    split: (text) => [...text.toLowerCase()].filter((letter) => live.spaced(letter)),
    join: (phonemes) => phonemes.join(" "),
  });

  live.pronounce = function ({ name, text, width = 5 }) {
    const system = live.systems[name], { model, target, ids, join } = system;
    const source = system.split(live.short(text));
    if (!source.some(live.isWord)) throw new live.Refusal("Write a word.");
    if (source.length > MOST)
      throw new live.Refusal(`This model reads words of at most ${MOST} letters; this one has ${source.length}.`);
    const memory = live.encode(system, source);
    const found = live.beamSearch(model, memory, { width, maxLength: 2 * source.length + 10 });
    const phonemes = found.steps.map((path) => target[path.token]);
    return {
      source,
      unknown: source.filter((letter) => !ids.has(letter)),
      target: phonemes,
      text: join(phonemes),
      score: found.score,
      weights: found.steps.map((path) => Array.from(path.out.weights)),
    };
  };
});
