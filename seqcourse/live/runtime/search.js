// Beam search, as in `seqcourse.decode.beam_search` for one sentence.
seqlive.part(function (live) {
  "use strict";
  const EOS = live.EOS = 2, UNK = live.UNK = 3, PAD = 0, SOS = 1;
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
    return { score: score(best), steps, tree };
  };
});
