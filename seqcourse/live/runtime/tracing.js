// One forward pass of a Transformer of which everything is kept, word by word. A state is one of
//   x0 word + position, s0 after self-attention, c0 after cross-attention, x1 after block 1 ..., memory;
// a norm, an attention or an MLP has the name of the state behind it: s0, c0, x1; the last norm is "end".
// A model of one row of symbols has a decoder alone, which looks at nothing but the row. Of a captioner, which
// sees a picture, the encoder is not traced: its memory has a vector for each place of the picture.
seqlive.part(function (live) {
  "use strict";
  const EPSILON = 1e-5;

  const blockOf = (stage) => (stage[0] === "x" ? stage[1] - 1 : Number(stage[1]));
  const attentionOf = (side, stage) => `${side}.${blockOf(stage)}.${stage[0] === "s" ? "self" : "cross"}_attention`;
  function normOf(side, stage) {
    if (stage === "end") return `${side}_norm`;
    return `${side}.${blockOf(stage)}.${{ s: "self", c: "cross", x: "mlp" }[stage[0]]}_norm`;
  }
  Object.assign(live, { attentionOf, blockOf, normOf });

  live.tracer = function (P, { width: D, heads: H, layers: L, hidden: F, alone = false, sees = false, positions }) {
    const S = D / H, layers = Array.from({ length: L }, (_, l) => l), turns = positions === "rotary";
    const stages = {
      encoder: alone ? [] : sees ? ["memory"] : ["x0", ...layers.flatMap((l) => [`s${l}`, `x${l + 1}`])],
      decoder: ["x0", ...layers.flatMap((l) =>
        [`s${l}`, ...(alone ? [] : [`c${l}`]), ...(F ? [`x${l + 1}`] : [])])],
    };
    // The state that a part reads: what stands before it in the stream.
    function before(side, stage) {
      const at = stages[side].indexOf(stage);
      return at < 0 ? stages[side].at(-1) : stages[side][at - 1]; // the last norm reads the last state
    }

    // Rotary positions: the angle at a place by which numbers c and c + S/2 of a head are turned, and both turned.
    const angle = (c, place) => place * Math.pow(10000, (-2 * (c % (S / 2))) / S);
    function turn(x, place) {
      if (!turns) return x;
      return x.map(function (value, c) {
        const isFirst = c % S < S / 2, other = x[isFirst ? c + S / 2 : c - S / 2], by = angle(c % S, place);
        return value * Math.cos(by) + (isFirst ? -other : other) * Math.sin(by);
      });
    }

    // The normalisation `name` of a vector, with the mean and the spread that it divides by.
    function norm(name, x) {
      const mean = x.reduce((sum, value) => sum + value, 0) / D;
      const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / D;
      return { y: live.layerNorm(P, name, x, 1), mean, spread: Math.sqrt(variance + EPSILON) };
    }

    // Attention `part` of word `row`, by its query q, to the first m of the keys and values: what each of
    // its heads writes to the stream, (H, D). A head that is off looks, but writes nothing.
    function look(part, q, row, keys, values, m, changes) {
      const O = P[part + ".out.weight"];
      const keyFrom = changes.order("keys", part, m), valueFrom = changes.order("values", part, m);
      const scores = [], weights = [], mixed = new Float32Array(D), wrote = [];
      const out = Float32Array.from(P[part + ".out.bias"]);
      for (let head = 0; head < H; head++) {
        const first = head * S, held = changes.held(part, head, row, m), score = new Float32Array(m);
        for (let j = 0; j < m; j++) {
          const k = keys[keyFrom[j]];
          let sum = 0;
          for (let c = first; c < first + S; c++) sum += q[c] * k[c];
          score[j] = sum / Math.sqrt(S);
        }
        const weight = held === undefined ? live.softmax(score) : score.map((_, j) => Number(j === held));
        for (let j = 0; j < m; j++)
          for (let c = first; c < first + S; c++) mixed[c] += weight[j] * values[valueFrom[j]][c];
        const written = new Float32Array(D);
        for (let k = 0; k < D && !changes.isOff(part, head); k++) {
          let sum = 0;
          for (let c = first; c < first + S; c++) sum += O[k * D + c] * mixed[c];
          written[k] = sum;
          out[k] += sum;
        }
        scores.push(score);
        weights.push(weight);
        wrote.push(written);
      }
      return { q, scores, weights, keyFrom, valueFrom, mixed, wrote, out };
    }

    // The MLP of a block: its neurons and what they write. One that is off writes nothing.
    function think(part, z, changes) {
      const inner = live.relu(live.linear(z, 1, P[part + ".inner.weight"], P[part + ".inner.bias"]));
      const out = live.linear(inner, 1, P[part + ".outer.weight"], P[part + ".outer.bias"]);
      return { inner, out: changes.isMute(part) ? out.fill(0) : out };
    }

    // A side with no words yet; a list with an entry for each word.
    const empty = (side) => ({
      side, ids: [], places: [], embedding: [], place: [],
      states: {}, norms: {}, looks: {}, keys: {}, values: {}, mlps: {},
    });
    const put = (kept, name, entry) => (kept[name] ||= []).push(entry);

    function begin(T, id, changes) {
      const table = P[T.side === "encoder" ? "source_embedding" : "target_embedding"], i = T.ids.length;
      const at = changes.placeOf(T.side, i), embedding = live.embed(table, [id], alone ? 1 : Math.sqrt(D));
      const place = new Float32Array(D);
      if (!turns) live.addPositions(place, 1, D, at);
      T.ids.push(id);
      T.places.push(at);
      T.embedding.push(embedding);
      T.place.push(place);
      put(T.states, "x0", changes.patched(T.side + ".x0", i, live.add(embedding, place)));
    }

    // The norm in front of the part `to`, and its keys and values if it looks at its own side.
    function prepare(T, to, i) {
      const found = norm(normOf(T.side, to), T.states[before(T.side, to)][i]), part = attentionOf(T.side, to);
      put(T.norms, to, found);
      if (to[0] !== "s") return;
      put(T.keys, to, turn(live.project(P, part, found.y, 1, D, 1), T.places[i]));
      put(T.values, to, live.project(P, part, found.y, 1, D, 2));
    }
    // What an attention or an MLP adds to the stream of word i; an attention looks at m words.
    function act(T, to, i, m, changes) {
      const z = T.norms[to][i].y, part = attentionOf(T.side, to), isMlp = to[0] === "x";
      const query = () => turn(live.project(P, part, z, 1, D, 0), T.places[i]);
      const found = isMlp ? think(`${T.side}.${blockOf(to)}.mlp`, z, changes)
        : look(part, query(), i, T.keys[to], T.values[to], m, changes);
      put(isMlp ? T.mlps : T.looks, to, found);
      const x = live.add(T.states[before(T.side, to)][i], found.out);
      put(T.states, to, changes.patched(`${T.side}.${to}`, i, x));
    }

    function encode(ids, changes) {
      const T = empty("encoder"), each = (one) => ids.forEach((_, i) => one(i));
      ids.forEach((id) => begin(T, id, changes));
      for (const to of stages.encoder.slice(1)) {
        each((i) => prepare(T, to, i));
        each((i) => act(T, to, i, ids.length, changes));
      }
      each(function (i) {
        const found = norm("encoder_norm", T.states[before("encoder", "end")][i]);
        put(T.norms, "end", found);
        put(T.states, "memory", changes.patched("encoder.memory", i, found.y));
      });
      return T;
    }

    // What an encoder hands over that is not traced, n vectors side by side.
    function given(vectors, n, changes) {
      const T = empty("encoder");
      for (let i = 0; i < n; i++) {
        T.ids.push(i);
        T.places.push(i);
        put(T.states, "memory", changes.patched("encoder.memory", i, vectors.slice(i * D, (i + 1) * D)));
      }
      return T;
    }

    // A decoder that has read nothing, before the memory of an encoder if there is one.
    function start(E) {
      const T = { ...empty("decoder"), logits: [] };
      for (const c of stages.decoder.filter(([kind]) => kind === "c")) {
        T.keys[c] = E.states.memory.map((z) => live.project(P, attentionOf("decoder", c), z, 1, D, 1));
        T.values[c] = E.states.memory.map((z) => live.project(P, attentionOf("decoder", c), z, 1, D, 2));
      }
      return T;
    }

    // One word more for the decoder: the logits of the word after it.
    function read(T, id, changes) {
      const i = T.ids.length;
      begin(T, id, changes);
      for (const to of stages.decoder.slice(1)) {
        prepare(T, to, i);
        act(T, to, i, to[0] === "c" ? T.keys[to].length : i + 1, changes);
      }
      put(T.norms, "end", norm("decoder_norm", T.states[before("decoder", "end")][i]));
      T.logits.push(live.linear(T.norms.end[i].y, 1, P.target_embedding, P.output_bias));
      return T.logits[i];
    }

    return { P, D, H, L, F, S, alone, sees, turns, stages, before, angle, norm, encode, given, start, read };
  };
});
