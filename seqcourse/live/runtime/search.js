// Choosing tokens: beam search as in `seqcourse.decode.beam_search` for one sentence, and sampling.
seqlive.part(function (live) {
  "use strict";
  const PAD = 0, SOS = (live.SOS = 1), EOS = (live.EOS = 2);
  live.UNK = 3;
  const SPECIALS = live.SPECIALS = ["<pad>", "<sos>", "<eos>", "<unk>"];
  const FORBIDDEN = new Set([PAD, SOS]);

  // The most likely ids of a step, best first; among equals the lower id.
  function top(logProbs, count) {
    const found = [];
    for (let id = 0; id < logProbs.length; id++) {
      const value = logProbs[id];
      if (FORBIDDEN.has(id) || (found.length === count && value <= found[count - 1].value)) continue;
      let place = found.length;
      while (place > 0 && found[place - 1].value < value) place--;
      found.splice(place, 0, { id, value });
      if (found.length > count) found.pop();
    }
    return found;
  }

  // A path is its last token and the path before it. Pruning is by log-probability, ranking by
  // log-probability / length^alpha; paths that ended stop growing and stay in the beam.
  live.beamSearch = function (model, memory, { width, alpha = 1, maxLength }) {
    const score = (path) => path.logProb / path.length ** alpha;
    const likelier = (a, b) => b.logProb - a.logProb, better = (a, b) => score(b) - score(a);
    const ended = [], tree = [];
    let beam = [{ before: null, token: SOS, logProb: 0, length: 0, state: model.start(memory) }];
    for (let length = 1; ; length++) {
      const all = beam.flatMap(function (path) {
        if (path.token === EOS) return [path];
        const out = model.step(path.token, path.state, memory);
        return top(out.logProbs, width).map(({ id, value }) => ({
          before: path, token: id, logProb: path.logProb + value, length, state: out.state, out,
        }));
      });
      all.sort(likelier); // keeps the order of equals: the better path's first
      beam = all.slice(0, width);
      for (const path of beam) path.kept = true;
      tree.push(all.filter((path) => path.length === length));
      ended.push(...beam.filter((path) => path.token === EOS && path.length === length));
      const growing = beam.filter((path) => path.token !== EOS);
      if (!growing.length || length === maxLength) break;
      // Even the best path that grows could not come to more than this.
      if (ended.length && growing[0].logProb / maxLength ** alpha < Math.max(...ended.map(score))) break;
    }
    const cut = beam.filter((path) => path.token !== EOS);
    const [best] = [...ended.sort(better), ...cut.sort(better)];
    const steps = [];
    for (let path = best; path.before; path = path.before) if (path.token !== EOS) steps.unshift(path);
    for (let path = best; path; path = path.before) path.best = true;
    return { score: score(best), steps, tree };
  };

  // A stream of numbers from 0 to 1 for a seed (mulberry32). PyTorch's stream is another one.
  live.random = function (seed) {
    return function () {
      seed = (seed + 0x6d2b79f5) | 0;
      let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  };

  // An id drawn from the distribution at a temperature; at 0 the most likely one.
  live.draw = function (logProbs, temperature, random) {
    const allowed = logProbs.map((value, id) => (id < SPECIALS.length ? -Infinity : value));
    if (temperature === 0) return allowed.indexOf(Math.max(...allowed));
    let rest = random();
    const shares = live.softmax(allowed.map((value) => value / temperature));
    const id = shares.findIndex((share) => (rest -= share) < 0);
    return id < 0 ? shares.indexOf(Math.max(...shares)) : id; // rounding left a little
  };
});
