// Models that look at pictures: a convolutional grid, the captioners, the two streams, and the pair.
seqlive.part(function (live) {
  "use strict";
  const { EOS, SOS, UNK, add, concat, embed, gelu, linear, logSoftmax, relu, sigmoid, softmax } = live;
  const { additive, addPositions, attention, keysOf, layerNorm, lookBack, lstm, noPast, think } = live;
  const LONGEST = 24; // words of a caption

  // A 3 x 3 convolution with a border of zeros over a map (side, side, channels).
  function convolve(P, name, x, side, stride) {
    const W = P[name + ".weight"], channels = W.shape[1] / 9, out = side / stride;
    const around = new Float32Array(out * out * 9 * channels);
    for (let i = 0, at = 0; i < out; i++)
      for (let j = 0; j < out; j++)
        for (let k = 0; k < 9; k++, at += channels) {
          const row = i * stride + Math.floor(k / 3) - 1, column = j * stride + (k % 3) - 1;
          if (row < 0 || column < 0 || row >= side || column >= side) continue;
          const from = (row * side + column) * channels;
          around.set(x.subarray(from, from + channels), at);
        }
    return linear(around, out * out, W, P[name + ".bias"]);
  }

  // Bytes (size, size, 3) of a picture to the vectors of its places, row by row.
  function look(P, pixels) {
    let x = Float32Array.from(pixels, (value) => (value / 255 - 0.5) * 4);
    let side = Math.sqrt(pixels.length / 3), layer = 0;
    for (; P[`encoder.layers.${layer}.weight`]; layer += 3) {
      x = relu(convolve(P, `encoder.layers.${layer}`, x, side, 2));
      side /= 2;
    }
    for (; P[`encoder.layers.${layer}.inner.0.weight`]; layer++) {
      const inner = `encoder.layers.${layer}.inner`;
      const y = convolve(P, inner + ".3", relu(convolve(P, inner + ".0", x, side, 1)), side, 1);
      x = relu(add(x, y));
    }
    const places = side * side;
    const states = relu(linear(x, places, P["encoder.out.weight"], P["encoder.out.bias"]));
    return { length: places, states: add(states, P["encoder.places"]) };
  }

  // One place alone: the one with the largest weight.
  function largest({ weights }, memory) {
    const width = memory.states.length / memory.length, place = weights.indexOf(Math.max(...weights));
    return { weights, context: memory.states.subarray(place * width, (place + 1) * width) };
  }

  function recurrent(P, { hidden_size: size }, choose) {
    return {
      encode(pixels) {
        const memory = look(P, pixels);
        return { ...memory, keys: linear(memory.states, memory.length, P["attention.score.w_h"]) };
      },
      start() {
        const first = P.first.map(Math.tanh);
        return [first.slice(0, size), first.slice(size)];
      },
      step(token, before, memory) {
        const y = embed(P.embedding, [token]);
        const { weights, context } = choose(additive(P, "attention", before[0], memory), memory);
        const gate = sigmoid(linear(before[0], 1, P["gate.weight"], P["gate.bias"])[0]);
        const seen = context.map((value) => gate * value);
        const state = lstm(P, "cell", "", concat(y, seen), before);
        const fromState = linear(state[0], 1, P["from_state.weight"], P["from_state.bias"]);
        const known = add(add(y, fromState), linear(seen, 1, P["from_context.weight"]));
        return { logProbs: logSoftmax(linear(known, 1, P.embedding, P.output_bias)), state, weights };
      },
    };
  }
  const SoftCaptioner = (P, sizes) => recurrent(P, sizes, (found) => found);
  const HardCaptioner = (P, sizes) => recurrent(P, sizes, largest);

  function TransformerCaptioner(P, { width, heads, layers, hidden }) {
    const numbers = Array.from({ length: layers }, (_, l) => l);
    const remember = function (pixels) {
      const { length, states } = look(P, pixels);
      return { length, z: layerNorm(P, "encoder_norm", states, length) };
    };
    return {
      parameters: P, // for those who trace it
      sizes: { width, heads, layers, hidden },
      remember,
      encode(pixels) {
        const { length, z } = remember(pixels);
        const keys = numbers.map((l) => keysOf(P, `decoder.${l}.cross_attention`, z, length, width));
        return { length, keys };
      },
      start: () => numbers.map(() => noPast),
      step(token, past, memory) {
        let x = addPositions(embed(P.embedding, [token], Math.sqrt(width)), 1, width, past[0][2]);
        const weights = new Float32Array(memory.length); // the last layer's, the mean over its heads
        const state = past.map(function (before, l) {
          const block = `decoder.${l}`, seen = lookBack(P, block, x, before, width, heads);
          const z = layerNorm(P, block + ".cross_norm", seen.x, 1);
          const found = attention(P, block + ".cross_attention", seen.x, z, 1, memory.keys[l], width, heads);
          if (l === layers - 1)
            for (const [row] of found.maps) row.forEach((w, j) => (weights[j] += w / heads));
          x = think(P, block + ".mlp", found.x, 1, relu);
          return seen.past;
        });
        const z = layerNorm(P, "decoder_norm", x, 1);
        return { logProbs: logSoftmax(linear(z, 1, P.embedding, P.output_bias)), state, weights };
      },
    };
  }

  // A block of one stream, which reads only itself.
  function alone(P, name, x, n, width, heads) {
    const own = name + ".self_attention", z = layerNorm(P, name + ".self_norm", x, n);
    return think(P, name + ".mlp", attention(P, own, x, z, n, keysOf(P, own, z, n, width), width, heads).x, n, gelu);
  }

  // One unit vector for a picture and one for a caption; their product, scaled, says how well they fit.
  function ScenePair(P, { width, heads, layers }) {
    function through(name, x, n) {
      for (let l = 0; l < layers; l++) x = alone(P, `${name}_blocks.${l}`, x, n, width, heads);
      return layerNorm(P, name + "_norm", x, n);
    }
    function unit(name, x) {
      const y = linear(x, 1, P[name + ".weight"]), norm = Math.hypot(...y);
      return y.map((value) => value / norm);
    }
    return {
      longest: P["positions.table"].shape[0],
      scale: Math.min(Math.exp(P.log_scale[0]), 100),
      see(pixels) {
        const { length, states } = look(P, pixels), mean = new Float32Array(width);
        through("picture", states, length).forEach((value, i) => (mean[i % width] += value / length));
        return unit("picture", mean);
      },
      read(ids) {
        const y = add(embed(P.embedding, ids), embed(P["positions.table"], [...ids.keys()]));
        return unit("text", through("text", y, ids.length).subarray(0, width));
      },
    };
  }

  // The places of a picture in one stream, a question's words in the other.
  function TwoStream(P, { width, heads, layers }) {
    // Either stream reads the other as it was before.
    function meet(name, x, n, y, m) {
      const left = layerNorm(P, name + ".x_norm", x, n), right = layerNorm(P, name + ".y_norm", y, m);
      const one = name + ".x_attention", other = name + ".y_attention";
      const toX = attention(P, one, x, left, n, keysOf(P, one, right, m, width), width, heads);
      const toY = attention(P, other, y, right, m, keysOf(P, other, left, n, width), width, heads);
      const thought = [think(P, name + ".x_mlp", toX.x, n, gelu), think(P, name + ".y_mlp", toY.x, m, gelu)];
      return [...thought, toX.maps, toY.maps];
    }
    return {
      longest: P["positions.table"].shape[0],
      answer(pixels, ids) {
        const grid = look(P, pixels), n = grid.length, m = ids.length, atWords = [], atPlaces = [];
        let x = grid.states, y = add(embed(P.embedding, ids), embed(P["positions.table"], [...ids.keys()]));
        for (let l = 0; l < layers; l++) {
          y = alone(P, `text_blocks.${l}`, y, m, width, heads);
          if (l) x = alone(P, `picture_blocks.${l - 1}`, x, n, width, heads);
          let toWords, toPlaces;
          [x, y, toWords, toPlaces] = meet(`meetings.${l}`, x, n, y, m);
          atWords.push(toWords);
          atPlaces.push(toPlaces);
        }
        const ends = layerNorm(P, "picture_norm", x, n), first = layerNorm(P, "text_norm", y, m);
        const both = new Float32Array(width); // the mean of the places times the first word
        ends.forEach((value, i) => (both[i % width] += value / n));
        both.forEach((value, k) => (both[k] = value * first[k]));
        const inner = relu(linear(both, 1, P["answer.0.weight"], P["answer.0.bias"]));
        return { shares: softmax(linear(inner, 1, P["answer.2.weight"], P["answer.2.bias"])), atWords, atPlaces };
      },
    };
  }
  Object.assign(live.models, { HardCaptioner, ScenePair, SoftCaptioner, TransformerCaptioner, TwoStream });

  // Names of things may have several words; a question's mark stands alone.
  live.kinds.scenes = () => ({
    split: (text) => text.toLowerCase().replaceAll("?", " ?").split(/\s+/u).filter(Boolean),
    join: (words) => words.join(" "),
  });

  // A caption for bytes (size, size, 3), and for each of its words the weights of the places.
  live.caption = function ({ name, pixels, width = 3 }) {
    const { model, target, join } = live.systems[name];
    const found = live.beamSearch(model, model.encode(pixels), { width, maxLength: LONGEST });
    const tokens = found.steps.map((path) => target[path.token]);
    const maps = found.steps.map((path) => Array.from(path.out.weights));
    return { text: join(tokens), tokens, maps, score: found.score };
  };

  // A captioner's log P(caption | picture), <eos> included, for each picture.
  function byWords(model, pictures) {
    const memories = pictures.map((pixels) => model.encode(pixels));
    return (ids) => memories.map(function (memory) {
      let [sum, before, state] = [0, SOS, model.start(memory)];
      for (const token of [...ids, EOS]) {
        const out = model.step(before, state, memory);
        sum += out.logProbs[token];
        [before, state] = [token, out.state];
      }
      return sum;
    });
  }
  // The products of a pair's vectors, scaled.
  function byProduct(model, pictures) {
    const seen = pictures.map((pixels) => model.see(pixels));
    return function (ids) {
      const caption = model.read([SOS, ...ids]);
      return seen.map((picture) => model.scale * picture.reduce((sum, value, k) => sum + value * caption[k], 0));
    };
  }

  // For each caption its score with each picture, of a captioner per word; and by Bayes' rule, or by the
  // softmax of a pair, the share of each picture, all of them equally likely beforehand.
  live.fits = function ({ name, texts, pictures }) {
    const { model, ids } = live.systems[name], longest = model.see ? model.longest - 1 : LONGEST;
    const read = texts.map(function (text) {
      if (!live.isWord(live.short(text))) throw new live.Refusal("Write a caption with at least one word.");
      const words = live.spaced(text.toLowerCase().replace(/[ .]+$/, "")).split(" ");
      const strange = words.find((word) => (ids.get(word) ?? UNK) === UNK);
      if (strange !== undefined)
        throw new live.Refusal(
          `The model does not know the word "${strange}". It knows a, an, two, three, four; and, next to, ` +
            "left of, right of, above, below; and the things of its training, with their colours.",
        );
      if (words.length > longest)
        throw new live.Refusal(`This model reads at most ${longest} words; these are ${words.length}.`);
      return words.map((word) => ids.get(word));
    });
    const judge = (model.see ? byProduct : byWords)(model, pictures);
    return read.map(function (tokens) {
      const found = judge(tokens), count = model.see ? 1 : tokens.length + 1;
      return { scores: found.map((value) => value / count), shares: [...softmax(Float64Array.from(found))] };
    });
  };

  // The likeliest answers to a question about a picture, and the maps [layer][head] of both streams.
  live.ask = function ({ name, pixels, text, count = 5 }) {
    const { model, target, ids, split } = live.systems[name], words = split(live.short(text));
    if (!words.some((word) => word !== "?")) throw new live.Refusal("Write a question.");
    if (words[words.length - 1] !== "?") words.push("?");
    const strange = words.find((word) => (ids.get(word) ?? UNK) === UNK);
    if (strange !== undefined)
      throw new live.Refusal(
        `The model does not know the word "${strange}". It was asked: how many ... are there? ` +
          "what colour is the ...? what is left of / right of / above / below the ...?",
      );
    const read = [SOS, ...words.map((word) => ids.get(word))];
    if (read.length > model.longest)
      throw new live.Refusal(`This model reads at most ${model.longest - 1} words; these are ${words.length}.`);
    const { shares, atWords, atPlaces } = model.answer(pixels, read);
    const order = [...shares.keys()].sort((a, b) => shares[b] - shares[a]).slice(0, count);
    const plain = (layers) => layers.map((heads) => heads.map((rows) => rows.map((row) => Array.from(row))));
    return {
      best: order.map((id) => [target[id], shares[id]]),
      words: ["<sos>", ...words],
      atWords: plain(atWords),
      atPlaces: plain(atPlaces),
    };
  };
});
