// Pieces of words by byte-pair encoding, as in `seqcourse.data.subwords`.
seqlive.part(function (live) {
  "use strict";
  const SPACE = "▁"; // stands for the space before a word
  const PUNCTUATION = /([!-/:-@[-`{-~]|\p{P})/u;

  // Join the neighbours that were joined first in training, until no pair is known.
  function join(word, ranks, known) {
    let pieces = [...word];
    for (;;) {
      let best = Infinity, pair = null;
      for (let i = 0; i + 1 < pieces.length; i++) {
        const rank = ranks.get(`${pieces[i]} ${pieces[i + 1]}`);
        if (rank < best) [best, pair] = [rank, [pieces[i], pieces[i + 1]]];
      }
      if (!pair) return pieces.map((piece) => (known.has(piece) ? piece : "<unk>"));
      const joined = [];
      for (let i = 0; i < pieces.length; i++) {
        const here = pieces[i] === pair[0] && pieces[i + 1] === pair[1];
        joined.push(here ? pair[0] + pair[1] : pieces[i]);
        if (here) i++;
      }
      pieces = joined;
    }
  }

  // A function from a text to its pieces. `merges` are pairs "a b" in the order of training.
  live.splitter = function (merges, known) {
    const ranks = new Map(merges.map((pair, rank) => [pair, rank]));
    return function (text) {
      const words = live.spaced(text).normalize("NFC");
      const lower = [...words].map((character) => character.toLowerCase()).join("");
      if (!lower) return [];
      // Every word begins with the sign for a space; every punctuation mark stands alone.
      const first = lower.startsWith(SPACE) ? "" : SPACE;
      return (first + lower.replaceAll(" ", SPACE))
        .split(/(?=▁)/u)
        .flatMap((word) => word.split(PUNCTUATION))
        .filter(Boolean)
        .flatMap((word) => join(word, ranks, known));
    };
  };

  live.joinPieces = (pieces) => pieces.join("").replaceAll(SPACE, " ");
});
