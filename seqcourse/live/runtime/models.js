// The models of `seqcourse.models`: encode(ids), start(memory), step(token, state, memory).
seqlive.part(function (live) {
  "use strict";
  const { additive, attention, bothWays, concat, embed, gru, layerNorm, linear, logSoftmax, project } = live;
  const { addPositions, tanh, think } = live;

  // What both recurrent translators share.
  function recurrent(P, sizes) {
    const size = sizes.hidden_size;
    return {
      read: (ids) => ({
        length: ids.length,
        ...bothWays(P, "encoder", embed(P.source_embedding, ids), ids.length, size),
      }),
      start: (memory) =>
        tanh(linear(memory.final, 1, P["first_state.project.weight"], P["first_state.project.bias"])),
      predict(s, c, y) {
        const hidden = tanh(linear(concat(s, c, y), 1, P["readout.weight"], P["readout.bias"]));
        return logSoftmax(linear(hidden, 1, P.target_embedding, P.output_bias));
      },
    };
  }

  function AttentionSeq2Seq(P, sizes) {
    const { read, start, predict } = recurrent(P, sizes);
    return {
      start,
      encode(ids) {
        const memory = read(ids);
        return { ...memory, keys: linear(memory.states, ids.length, P["attention.score.w_h"]) };
      },
      step(token, s, memory) {
        const y = embed(P.target_embedding, [token]);
        const { weights, context } = additive(P, "attention", s, memory);
        const state = gru(P, "cell", "", concat(y, context), s);
        return { logProbs: predict(state, context, y), state, weights };
      },
    };
  }

  // One context for the whole sentence: the encoder's last states.
  function EncoderDecoder(P, sizes) {
    const { read, start, predict } = recurrent(P, sizes);
    return {
      start,
      encode: read,
      step(token, s, memory) {
        const y = embed(P.target_embedding, [token]);
        const state = gru(P, "decoder", "_l0", concat(y, memory.final), s);
        return { logProbs: predict(state, memory.final, y), state, weights: null };
      },
    };
  }

  function Transformer(P, sizes) {
    const { width, heads, layers } = sizes;
    const numbers = Array.from({ length: layers }, (_, l) => l);
    const read = (table, ids, first) =>
      addPositions(embed(table, ids, Math.sqrt(width)), ids.length, width, first);
    return {
      encode(ids) {
        const n = ids.length;
        let x = read(P.source_embedding, ids, 0);
        const maps = numbers.map(function (l) {
          const block = `encoder.${l}`, name = block + ".self_attention";
          const z = layerNorm(P, block + ".self_norm", x, n);
          const kv = [project(P, name, z, n, width, 1), project(P, name, z, n, width, 2), n];
          const found = attention(P, name, x, z, n, kv, width, heads);
          x = think(P, block, found.x, n);
          return found.maps;
        });
        const z = layerNorm(P, "encoder_norm", x, n);
        const keys = numbers.map(function (l) {
          const name = `decoder.${l}.cross_attention`;
          return [project(P, name, z, n, width, 1), project(P, name, z, n, width, 2), n];
        });
        return { length: n, keys, maps };
      },
      start: () => numbers.map(() => [new Float32Array(0), new Float32Array(0), 0]),
      step(token, past, memory) {
        let x = read(P.target_embedding, [token], past[0][2]);
        const own = [], cross = [];
        const state = past.map(function ([k, v, m], l) {
          const block = `decoder.${l}`, self = block + ".self_attention";
          let z = layerNorm(P, block + ".self_norm", x, 1);
          const longer = [concat(k, project(P, self, z, 1, width, 1)),
                          concat(v, project(P, self, z, 1, width, 2)), m + 1];
          let found = attention(P, self, x, z, 1, longer, width, heads);
          own.push(found.maps);
          z = layerNorm(P, block + ".cross_norm", found.x, 1);
          found = attention(P, block + ".cross_attention", found.x, z, 1, memory.keys[l], width, heads);
          cross.push(found.maps);
          x = think(P, block, found.x, 1);
          return longer;
        });
        const z = layerNorm(P, "decoder_norm", x, 1);
        const logProbs = logSoftmax(linear(z, 1, P.target_embedding, P.output_bias));
        // The last layer's look at the source, the mean over its heads.
        const weights = new Float32Array(memory.length);
        for (const [row] of cross[layers - 1]) row.forEach((w, j) => (weights[j] += w / heads));
        return { logProbs, state, weights, own, cross };
      },
    };
  }

  live.models = { AttentionSeq2Seq, EncoderDecoder, Transformer };
});
