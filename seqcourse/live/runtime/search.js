// Choosing tokens: beam search as in `seqcourse.decode.beam_search` for one sentence, and sampling.
seqlive.part(function (live) {
  "use strict";
  const PAD = 0, SOS = (live.SOS = 1), EOS = (live.EOS = 2);
  live.UNK = 3;
  const SPECIALS = live.SPECIALS = ["<pad>", "<sos>", "<eos>", "<unk>"];
  const FORBIDDEN = new Set([PAD, SOS]);

  // The most likely ids of a step, best first; among equals the lower id.
  const top = (live.top = function (logProbs, count) {
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
  });

  // Log-probabilities at a temperature.
  const at = (logProbs, temperature) =>
    temperature === 1 ? logProbs : live.logSoftmax(logProbs.map((value) => value / temperature));

  // A path is its last token and the path before it. Pruning is by log-probability, ranking by
  // log-probability / length^alpha; paths that ended stop growing and stay in the beam.
  live.beamSearch = function (model, memory, { width, alpha = 1, temperature = 1, maxLength }) {
    const score = (path) => path.logProb / path.length ** alpha;
    const likelier = (a, b) => b.logProb - a.logProb, better = (a, b) => score(b) - score(a);
    const ended = [], tree = [];
    let beam = [{ before: null, token: SOS, logProb: 0, length: 0, state: model.start(memory) }];
    for (let length = 1; ; length++) {
      const all = beam.flatMap(function (path) {
        if (path.token === EOS) return [path];
        const out = model.step(path.token, path.state, memory);
        return top(at(out.logProbs, temperature), width).map(({ id, value }) => ({
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

  // What `seqcourse.decode.filter_logits` leaves of a distribution: a temperature, then the k likeliest
  // ids, then the fewest of them that sum to p. All that are not forbidden, likeliest first: their
  // `ids`, their `shares` before anything is cut, and how many are `kept`.
  live.filter = function (logProbs, { temperature = 1, k = Infinity, p = 1 }, forbidden = FORBIDDEN) {
    const logits = Float32Array.from(logProbs, (value) => value / temperature); // as precise as there
    const ids = [...logits.keys()].filter((id) => !forbidden.has(id)).sort((a, b) => logits[b] - logits[a]);
    const shares = live.softmax(Float64Array.from(ids, (id) => logits[id]));
    const all = shares.subarray(0, k).reduce((a, b) => a + b, 0);
    let kept = 0;
    for (let sum = 0; kept < Math.min(k, ids.length) && (p === 1 || !kept || sum < p - 1e-6); kept++)
      sum += shares[kept] / all;
    return { ids, shares, kept };
  };

  // The place, in the order of `live.filter`, of an id drawn from what it kept.
  live.pick = function ({ shares, kept }, random) {
    let rest = random() * shares.subarray(0, kept).reduce((a, b) => a + b, 0);
    const place = shares.subarray(0, kept).findIndex((share) => (rest -= share) < 0);
    return Math.max(place, 0); // rounding left a little
  };

  // An id drawn from the distribution at a temperature; at 0 the most likely one.
  const UNWRITTEN = new Set(SPECIALS.keys());
  live.draw = function (logProbs, temperature, random) {
    const found = live.filter(logProbs, { temperature: temperature || 1 }, UNWRITTEN);
    return found.ids[temperature ? live.pick(found, random) : 0];
  };
});
