// What a vector is nearest to, and which part of the machine earns a word its lead over another.
seqlive.part(function (live) {
  "use strict";
  const { attentionOf, origins: rules, partCalled, plainNumber: number } = live;
  const NEAREST = 5;

  // What each part has written into the stream of the word that is read last: [label, vector, node of number k].
  function written({ T, P, stages, turns, unit, at }) {
    const node = (t, more) => (k) => ({ t, side: "decoder", i: at, k, ...more });
    const rows = [[`embedding of the last ${unit}`, T.embedding[at], node("embedding")]];
    if (!turns) rows.push(["its position", T.place[at], node("place")]);
    for (const stage of stages.decoder.slice(1)) {
      if (stage[0] === "x") rows.push([`MLP ${stage[1]}`, T.mlps[stage][at].out, node("mlp", { stage })]);
      else {
        T.looks[stage][at].wrote.forEach((vector, head) =>
          rows.push([`${partCalled(stage)}, head ${head + 1}`, vector, node("wrote", { stage, head })]));
        rows.push([`${partCalled(stage)}, bias`, P[attentionOf("decoder", stage) + ".out.bias"], null]);
      }
    }
    return rows;
  }

  // How much number k of a vector in the stream adds to the lead: the last norm is a linear map once its
  // spread is known, so the lead is the sum over parts and numbers.
  function leads({ T, P, D, at }, id, rival) {
    const { spread } = T.norms.end[at], gamma = P["decoder_norm.gamma"], E = P.target_embedding;
    return function (vector) {
      const mean = vector.reduce((sum, value) => sum + value, 0) / D;
      return Array.from(vector, (value, k) => ((value - mean) / spread) * gamma[k] * (E[id * D + k] - E[rival * D + k]));
    };
  }
  // Of each part, and of all biases.
  function sharesOf(found, id, rival) {
    const { P, D } = found, E = P.target_embedding, B = P.output_bias, parts = leads(found, id, rival), sum = (values) => values.reduce((a, b) => a + b, 0);
    const shift = Array.from(P["decoder_norm.beta"], (value, k) => value * (E[id * D + k] - E[rival * D + k]));
    return [...written(found).map(([, vector]) => sum(parts(vector))), (B ? B[id] - B[rival] : 0) + sum(shift)];
  }
  const total = (terms) => terms.reduce((sum, term) => sum + term.value, 0);

  // Without an id: the likeliest word; without a rival: the likeliest before the changes, or beside it.
  rules.credit = function (node, found) {
    const { T, P, at, system, now } = found, logits = T.logits[at], isChanged = T !== now.was;
    const best = live.top(logits, NEAREST + 1).map((one) => one.id), { id = best[0] } = node;
    const others = [...new Set([now.best, ...best])].filter((one) => one !== id).slice(0, NEAREST), { rival = others[0] } = node;
    if (!others.includes(rival)) others.push(rival);
    const lead = logits[id] - logits[rival], values = sharesOf(found, id, rival), was = isChanged && sharesOf({ ...found, T: now.was }, id, rival);
    const biases = P.output_bias ? "biases of the last norm and of the words" : "bias of the last norm";
    const terms = [...written(found), [biases]].map(([label, , goal], row) =>
      ({ label: goal ? [[label, { t: "piece", id, rival, row }]] : [label], value: values[row], ...(was && { before: was[row] }) }));
    const instead = isChanged && id === best[0] && rival === now.best ? ", no longer" : " and not";
    return {
      title: `Why “${system.target[id]}”${instead} “${system.target[rival]}”`, ...(was && { before: now.was.logits[at][id] - now.was.logits[at][rival] }),
      about: `Score ${number(logits[id])} − ${number(logits[rival])} = ${number(lead)}. Each part has written its share of it. A share is no cause: switch a part off, and see what the lead loses.`,
      total: lead, terms, id, rival, rivals: others.map((one) => ({ id: one, word: system.target[one] })),
    };
  };

  rules.piece = function ({ id, rival, row }, found) {
    const [label, vector, node] = written(found)[row], { target } = found.system;
    const terms = leads(found, id, rival)(vector).map((value, k) =>
      ({ label: [`through number ${k + 1}: `, [number(vector[k]), node(k)]], value }));
    return {
      title: `What ${label} adds to the lead of “${target[id]}” over “${target[rival]}”`,
      about: "(x − mean) / spread · γ · (embedding of the one − embedding of the other), number by number.",
      total: total(terms), terms,
    };
  };

  // The words that a state is nearest to. In the decoder: what would be written if this state were the
  // last one. In the encoder: the source words whose embeddings point in the most similar direction.
  live.nearest = function ({ side, stage, i }, { T, P, D, norm, system }) {
    const x = T.states[stage][i];
    if (side === "decoder") {
      const logits = live.linear(norm("decoder_norm", x).y, 1, P.target_embedding, P.output_bias);
      const shares = live.softmax(logits);
      return { kind: "next", words: live.top(logits, NEAREST).map(({ id }) => [system.target[id], shares[id]]) };
    }
    if (!P.source_embedding) return null; // a place of a picture is near to no word
    const E = P.source_embedding, size = Math.sqrt(x.reduce((sum, value) => sum + value * value, 0));
    const cosines = Float64Array.from({ length: E.shape[0] }, function (_, id) {
      let product = 0, square = 0;
      for (let k = 0; k < D; k++) {
        product += x[k] * E[id * D + k];
        square += E[id * D + k] ** 2;
      }
      return square ? product / (size * Math.sqrt(square)) : -1;
    });
    const words = [...system.ids.keys()];
    return { kind: "like", words: live.top(cosines, NEAREST).map(({ id }) => [words[id], cosines[id]]) };
  };
});
