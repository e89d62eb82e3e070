// One forward pass of a Transformer of which everything is kept, word by word. A state is one of
//   x0 word + position, s0 after self-attention, c0 after cross-attention, x1 after block 1 ..., memory;
// a norm, an attention or an MLP has the name of the state behind it: s0, c0, x1; the last norm is "end".
seqlive.part(function (live) {
  "use strict";
  const EPSILON = 1e-5;

  live.tracer = function (P, { width: D, heads: H, layers: L, hidden: F }) {
    const S = D / H, layers = Array.from({ length: L }, (_, l) => l);

    // The normalisation `name` of a vector, with the mean and the spread that it divides by.
    function norm(name, x) {
      const mean = x.reduce((sum, value) => sum + value, 0) / D;
      const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / D;
      return { y: live.layerNorm(P, name, x, 1), mean, spread: Math.sqrt(variance + EPSILON) };
    }

    // Attention `part` of word `row`, z normalised, to the first m of the keys and values: what each of
    // its heads writes to the stream, (H, D). A head that is off looks, but writes nothing.
    function look(part, z, row, keys, values, m, changes) {
      const q = live.project(P, part, z, 1, D, 0), O = P[part + ".out.weight"];
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
      const at = changes.placeOf(T.side, i), embedding = live.embed(table, [id], Math.sqrt(D));
      const place = live.addPositions(new Float32Array(D), 1, D, at);
      T.ids.push(id);
      T.places.push(at);
      T.embedding.push(embedding);
      T.place.push(place);
      put(T.states, "x0", changes.patched(T.side + ".x0", i, live.add(embedding, place)));
    }

    // A sublayer's norm, and its keys and values if it looks at its own side.
    function prepare(T, from, to, name, part, i) {
      const found = norm(name, T.states[from][i]);
      put(T.norms, to, found);
      if (!part) return;
      put(T.keys, to, live.project(P, part, found.y, 1, D, 1));
      put(T.values, to, live.project(P, part, found.y, 1, D, 2));
    }
    function attend(T, from, to, part, i, keys, values, m, changes) {
      const found = look(part, T.norms[to][i].y, i, keys, values, m, changes);
      put(T.looks, to, found);
      put(T.states, to, changes.patched(`${T.side}.${to}`, i, live.add(T.states[from][i], found.out)));
    }
    function addMlp(T, from, to, block, i, changes) {
      prepare(T, from, to, block + ".mlp_norm", null, i);
      const found = think(block + ".mlp", T.norms[to][i].y, changes);
      put(T.mlps, to, found);
      put(T.states, to, changes.patched(`${T.side}.${to}`, i, live.add(T.states[from][i], found.out)));
    }

    function encode(ids, changes) {
      const T = empty("encoder"), each = (act) => ids.forEach((_, i) => act(i)), n = ids.length;
      ids.forEach((id) => begin(T, id, changes));
      for (const l of layers) {
        const block = `encoder.${l}`, part = block + ".self_attention", x = `x${l}`, s = `s${l}`;
        each((i) => prepare(T, x, s, block + ".self_norm", part, i));
        each((i) => attend(T, x, s, part, i, T.keys[s], T.values[s], n, changes));
        each((i) => addMlp(T, s, `x${l + 1}`, block, i, changes));
      }
      each(function (i) {
        const found = norm("encoder_norm", T.states[`x${L}`][i]);
        put(T.norms, "end", found);
        put(T.states, "memory", changes.patched("encoder.memory", i, found.y));
      });
      return T;
    }

    // A decoder that has read nothing, before the memory of an encoder.
    function start(E) {
      const T = { ...empty("decoder"), logits: [] };
      for (const l of layers) {
        const part = `decoder.${l}.cross_attention`;
        T.keys[`c${l}`] = E.states.memory.map((z) => live.project(P, part, z, 1, D, 1));
        T.values[`c${l}`] = E.states.memory.map((z) => live.project(P, part, z, 1, D, 2));
      }
      return T;
    }

    // One word more for the decoder: the logits of the word after it.
    function read(T, id, changes) {
      const i = T.ids.length;
      begin(T, id, changes);
      for (const l of layers) {
        const block = `decoder.${l}`, own = block + ".self_attention", across = block + ".cross_attention";
        const [x, s, c] = [`x${l}`, `s${l}`, `c${l}`];
        prepare(T, x, s, block + ".self_norm", own, i);
        attend(T, x, s, own, i, T.keys[s], T.values[s], i + 1, changes);
        prepare(T, s, c, block + ".cross_norm", null, i);
        attend(T, s, c, across, i, T.keys[c], T.values[c], T.keys[c].length, changes);
        addMlp(T, c, `x${l + 1}`, block, i, changes);
      }
      put(T.norms, "end", norm("decoder_norm", T.states[`x${L}`][i]));
      T.logits.push(live.linear(T.norms.end[i].y, 1, P.target_embedding, P.output_bias));
      return T.logits[i];
    }

    return { P, D, H, L, F, S, norm, encode, start, read };
  };
});
