// Layers, with the names that their parameters have in `seqcourse.nn`.
seqlive.part(function (live) {
  "use strict";
  const { add, concat, linear, mix, sigmoid, softmax } = live;
  const EPSILON = 1e-5;

  // Layer normalisation of n vectors.
  live.layerNorm = function (P, name, x, n) {
    const gamma = P[name + ".gamma"], beta = P[name + ".beta"], width = gamma.length;
    const y = new Float32Array(x.length);
    for (let i = 0; i < n; i++) {
      const row = x.subarray(i * width, (i + 1) * width);
      const mean = row.reduce((a, b) => a + b, 0) / width;
      const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / width;
      const over = 1 / Math.sqrt(variance + EPSILON);
      for (let k = 0; k < width; k++) y[i * width + k] = (row[k] - mean) * over * gamma[k] + beta[k];
    }
    return y;
  };

  // One step of a GRU: input x, state [h]. The reset gate acts on the state's part behind its matrix.
  live.gru = function (P, name, end, x, [h]) {
    const size = h.length, y = new Float32Array(size);
    const a = linear(x, 1, P[`${name}.weight_ih${end}`], P[`${name}.bias_ih${end}`]);
    const b = linear(h, 1, P[`${name}.weight_hh${end}`], P[`${name}.bias_hh${end}`]);
    for (let i = 0; i < size; i++) {
      const reset = sigmoid(a[i] + b[i]), update = sigmoid(a[size + i] + b[size + i]);
      const fresh = Math.tanh(a[2 * size + i] + reset * b[2 * size + i]);
      y[i] = fresh + update * (h[i] - fresh);
    }
    return [y];
  };

  // One step of an LSTM: input x, state [h, c] with the cell state c. The gates are input, forget, new, output.
  live.lstm = function (P, name, end, x, [h, c]) {
    const size = h.length, state = new Float32Array(size), cell = new Float32Array(size);
    const a = linear(x, 1, P[`${name}.weight_ih${end}`], P[`${name}.bias_ih${end}`]);
    const b = linear(h, 1, P[`${name}.weight_hh${end}`], P[`${name}.bias_hh${end}`]);
    for (let i = 0; i < size; i++) {
      const gate = (number) => a[number * size + i] + b[number * size + i];
      cell[i] = sigmoid(gate(1)) * c[i] + sigmoid(gate(0)) * Math.tanh(gate(2));
      state[i] = sigmoid(gate(3)) * Math.tanh(cell[i]);
    }
    return [state, cell];
  };

  // A GRU or LSTM, `cell`, over n vectors, from both sides: h at all of them (n, 2 H), and both last h
  // side by side.
  live.bothWays = function (cell, P, name, x, n) {
    const width = x.length / n, size = P[name + ".weight_hh_l0"].shape[1], zeros = new Float32Array(size);
    const states = new Float32Array(n * 2 * size), last = [];
    ["_l0", "_l0_reverse"].forEach(function (end, way) {
      let state = [zeros, zeros];
      for (let k = 0; k < n; k++) {
        const t = way === 0 ? k : n - 1 - k;
        state = cell(P, name, end, x.subarray(t * width, (t + 1) * width), state);
        states.set(state[0], (2 * t + way) * size);
      }
      last.push(state[0]);
    });
    return { states, final: concat(...last) };
  };

  // Additive attention: v · tanh(W_s s + W_h h_i), with W_h h_i prepared in `keys`.
  live.additive = function (P, name, s, memory) {
    const v = P[name + ".score.v"], q = linear(s, 1, P[name + ".score.w_s"]), size = v.length;
    const scores = new Float32Array(memory.length);
    for (let i = 0; i < memory.length; i++)
      for (let k = 0; k < size; k++) scores[i] += v[k] * Math.tanh(q[k] + memory.keys[i * size + k]);
    const weights = softmax(scores);
    return { weights, context: mix(weights, memory.states, memory.states.length / memory.length) };
  };

  // Sines and cosines added to n vectors, of which the first stands at position `first`.
  live.addPositions = function (x, n, width, first) {
    for (let i = 0; i < n; i++)
      for (let k = 0; k < width; k += 2) {
        const angle = (first + i) * Math.pow(10000, -k / width);
        x[i * width + k] += Math.sin(angle);
        x[i * width + k + 1] += Math.cos(angle);
      }
    return x;
  };

  // Queries (n, D) against keys and values (m, D), split into heads: (n, D) and maps [head][query].
  // The course's decoder writes one word at a time, so no mask is needed.
  live.attend = function (q, n, k, v, m, width, heads) {
    const size = width / heads, y = new Float32Array(n * width), maps = [];
    for (let head = 0; head < heads; head++) {
      const at = head * size, map = [];
      for (let i = 0; i < n; i++) {
        const scores = new Float32Array(m);
        for (let j = 0; j < m; j++) {
          let sum = 0;
          for (let c = at; c < at + size; c++) sum += q[i * width + c] * k[j * width + c];
          scores[j] = sum / Math.sqrt(size);
        }
        const weights = softmax(scores);
        for (let j = 0; j < m; j++)
          for (let c = at; c < at + size; c++) y[i * width + c] += weights[j] * v[j * width + c];
        map.push(weights);
      }
      maps.push(map);
    }
    return { y, maps };
  };

  // W_Q, W_K and W_V lie one above the other: the projections of n vectors from number `first` on.
  live.project = (P, name, x, n, width, first) =>
    linear(x, n, P[name + ".in_weight"], P[name + ".in_bias"], first * width, width);

  // Keys and values [k, v, n] of n vectors.
  live.keysOf = (P, name, x, n, width) =>
    [live.project(P, name, x, n, width, 1), live.project(P, name, x, n, width, 2), n];

  // x plus multi-head attention from z, its n normalised vectors, to keys and values [k, v, m].
  live.attention = function (P, name, x, z, n, [k, v, m], width, heads) {
    const found = live.attend(live.project(P, name, z, n, width, 0), n, k, v, m, width, heads);
    const out = linear(found.y, n, P[name + ".out.weight"], P[name + ".out.bias"]);
    return { x: add(x, out), maps: found.maps };
  };

  // x plus masked self-attention for one more vector: behind the keys and values `past` come its own.
  live.lookBack = function (P, block, x, [k, v, m], width, heads) {
    const name = block + ".self_attention", z = live.layerNorm(P, block + ".self_norm", x, 1);
    const [key, value] = live.keysOf(P, name, z, 1, width);
    const past = [concat(k, key), concat(v, value), m + 1];
    return { past, ...live.attention(P, name, x, z, 1, past, width, heads) };
  };
  live.noPast = [new Float32Array(0), new Float32Array(0), 0];

  // The MLP on each of n vectors alone.
  live.mlp = function (P, name, z, n, activation) {
    const inner = activation(linear(z, n, P[name + ".inner.weight"], P[name + ".inner.bias"]));
    return linear(inner, n, P[name + ".outer.weight"], P[name + ".outer.bias"]);
  };

  // x plus the MLP behind its normalisation.
  live.think = (P, name, x, n, activation) =>
    add(x, live.mlp(P, name, live.layerNorm(P, name + "_norm", x, n), n, activation));
});
