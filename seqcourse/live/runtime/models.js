// The models of `seqcourse.models`: encode(ids), start(memory), step(token, state, memory).
seqlive.part(function (live) {
  "use strict";
  const { add, concat, embed, gelu, linear, logSoftmax, relu, tanh } = live;
  const { additive, addPositions, attention, bothWays, gru, keysOf, layerNorm, lookBack, lstm } = live;
  const { mlp, noPast, think } = live;

  // What both recurrent translators share.
  function recurrent(P) {
    return {
      read: (ids) => ({
        length: ids.length,
        ...bothWays(gru, P, "encoder", embed(P.source_embedding, ids), ids.length),
      }),
      start: (memory) =>
        tanh(linear(memory.final, 1, P["first_state.project.weight"], P["first_state.project.bias"])),
      predict(s, c, y) {
        const hidden = tanh(linear(concat(s, c, y), 1, P["readout.weight"], P["readout.bias"]));
        return logSoftmax(linear(hidden, 1, P.target_embedding, P.output_bias));
      },
    };
  }

  function AttentionSeq2Seq(P) {
    const { read, start, predict } = recurrent(P);
    return {
      start,
      encode(ids) {
        const memory = read(ids);
        return { ...memory, keys: linear(memory.states, ids.length, P["attention.score.w_h"]) };
      },
      step(token, s, memory) {
        const y = embed(P.target_embedding, [token]);
        const { weights, context } = additive(P, "attention", s, memory);
        const [state] = gru(P, "cell", "", concat(y, context), [s]);
        return { logProbs: predict(state, context, y), state, weights };
      },
    };
  }

  // One context for the whole sentence: the encoder's last states.
  function EncoderDecoder(P) {
    const { read, start, predict } = recurrent(P);
    return {
      start,
      encode: read,
      step(token, s, memory) {
        const y = embed(P.target_embedding, [token]);
        const [state] = gru(P, "decoder", "_l0", concat(y, memory.final), [s]);
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
      parameters: P, // for those who trace it
      sizes,
      encode(ids) {
        const n = ids.length;
        let x = read(P.source_embedding, ids, 0);
        for (const l of numbers) {
          const block = `encoder.${l}`, name = block + ".self_attention";
          const z = layerNorm(P, block + ".self_norm", x, n);
          const kv = keysOf(P, name, z, n, width);
          const found = attention(P, name, x, z, n, kv, width, heads);
          x = think(P, block + ".mlp", found.x, n, relu);
        }
        const z = layerNorm(P, "encoder_norm", x, n);
        const keys = numbers.map((l) => keysOf(P, `decoder.${l}.cross_attention`, z, n, width));
        return { length: n, keys };
      },
      start: () => numbers.map(() => noPast),
      step(token, past, memory) {
        let x = read(P.target_embedding, [token], past[0][2]);
        let cross;
        const state = past.map(function (before, l) {
          const block = `decoder.${l}`, name = block + ".cross_attention";
          const look = lookBack(P, block, x, before, width, heads);
          const z = layerNorm(P, block + ".cross_norm", look.x, 1);
          const found = attention(P, name, look.x, z, 1, memory.keys[l], width, heads);
          cross = found.maps;
          x = think(P, block + ".mlp", found.x, 1, relu);
          return look.past;
        });
        const z = layerNorm(P, "decoder_norm", x, 1);
        const logProbs = logSoftmax(linear(z, 1, P.target_embedding, P.output_bias));
        // The last layer's look at the source, the mean over its heads.
        const weights = new Float32Array(memory.length);
        for (const [row] of cross) row.forEach((w, j) => (weights[j] += w / heads));
        return { logProbs, state, weights };
      },
    };
  }

  // A language model has no source: its memory is null.
  function CharLM(P, sizes) {
    const zeros = new Float32Array(sizes.hidden_size);
    return {
      start: () => [zeros, zeros],
      step(token, before) {
        const state = lstm(P, "recurrent", "_l0", embed(P["embedding.weight"], [token]), before);
        return { logProbs: logSoftmax(linear(state[0], 1, P["output.weight"], P["output.bias"])), state };
      },
    };
  }

  function GPT(P, sizes) {
    const { width, heads, layers } = sizes, table = P["positions.table"];
    return {
      parameters: P,
      sizes,
      longest: table?.shape[0], // with rotary positions there is no table: such a model is only traced
      start: () => Array.from({ length: layers }, () => noPast),
      step(token, past) {
        if (!table) throw new live.Refusal("This model stands open in a room. It does not write.");
        let x = add(embed(P.embedding, [token]), embed(table, [past[0][2]]));
        const state = past.map(function (before, l) {
          const block = `blocks.${l}`, look = lookBack(P, block, x, before, width, heads);
          x = think(P, block + ".mlp", look.x, 1, gelu);
          return look.past;
        });
        const known = layerNorm(P, "norm", x, 1); // of all that was read
        return { logProbs: logSoftmax(linear(known, 1, P.embedding)), state, known };
      },
    };
  }

  // Reads a whole text at once, from both sides; each block normalises behind its sums.
  function BERT(P, sizes) {
    const { width, heads, layers } = sizes;
    return {
      longest: P["positions.table"].shape[0],
      // The logits of the words at some places of the text.
      fill(ids, places) {
        const n = ids.length, zeros = ids.map(() => 0), positions = ids.map((_, i) => i);
        let x = add(embed(P.embedding, ids), embed(P.segment_embedding, zeros));
        x = layerNorm(P, "embedding_norm", add(x, embed(P["positions.table"], positions)), n);
        for (let l = 0; l < layers; l++) {
          const block = `blocks.${l}`, name = block + ".self_attention";
          const kv = keysOf(P, name, x, n, width);
          x = layerNorm(P, block + ".self_norm", attention(P, name, x, x, n, kv, width, heads).x, n);
          x = layerNorm(P, block + ".mlp_norm", add(x, mlp(P, block + ".mlp", x, n, gelu)), n);
        }
        return places.map(function (place) {
          const state = x.subarray(place * width, (place + 1) * width);
          const dense = gelu(linear(state, 1, P["word_dense.weight"], P["word_dense.bias"]));
          return linear(layerNorm(P, "word_norm", dense, 1), 1, P.embedding, P.word_bias);
        });
      },
    };
  }

  live.models = { AttentionSeq2Seq, BERT, CharLM, EncoderDecoder, GPT, Transformer };
});
