// Numbers: how a checkpoint stores them, and the algebra of vectors.
// A matrix is a Float32Array, row by row, with its `shape`.
seqlive.part(function (live) {
  "use strict";
  const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const CODE = new Int8Array(128);
  for (let i = 0; i < 64; i++) CODE[ALPHABET.charCodeAt(i)] = i;
  const LARGEST = 31; // of a whole number of 6 bits, with its sign

  function floats(base64) {
    const raw = atob(base64), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return new Float32Array(bytes.buffer);
  }

  // { shape, at, length }: 32-bit numbers in base64. With `scales`, [at, length], each character is a
  // whole number q of 6 bits and the weight is q times the scale of its row.
  live.unpack = function (entry, text) {
    const piece = (at, length) => text.substring(at, at + length);
    if (!entry.scales) return Object.assign(floats(piece(entry.at, entry.length)), { shape: entry.shape });
    const scale = floats(piece(...entry.scales)), weights = new Float32Array(entry.length);
    const columns = entry.length / scale.length;
    for (let row = 0, k = 0; row < scale.length; row++)
      for (let end = k + columns; k < end; k++)
        weights[k] = (CODE[text.charCodeAt(entry.at + k)] - LARGEST) * scale[row];
    return Object.assign(weights, { shape: entry.shape });
  };

  // x (n, in) times rows `first` to `first + outs` of W (out, in), transposed, plus b: (n, outs).
  live.linear = function (x, n, W, b, first = 0, outs = W.shape[0]) {
    const ins = W.shape[1], even = ins & ~3, y = new Float32Array(n * outs);
    for (let i = 0; i < n; i++)
      for (let o = 0; o < outs; o++) {
        const w = (first + o) * ins, a = i * ins;
        let s0 = 0, s1 = 0, s2 = 0, s3 = 0, k = 0;
        for (; k < even; k += 4) { // four sums do not wait for each other
          s0 += x[a + k] * W[w + k];
          s1 += x[a + k + 1] * W[w + k + 1];
          s2 += x[a + k + 2] * W[w + k + 2];
          s3 += x[a + k + 3] * W[w + k + 3];
        }
        for (; k < ins; k++) s0 += x[a + k] * W[w + k];
        y[i * outs + o] = s0 + s1 + s2 + s3 + (b ? b[first + o] : 0);
      }
    return y;
  };

  live.add = (x, y) => x.map((value, i) => value + y[i]);
  live.tanh = (x) => x.map(Math.tanh);
  live.relu = (x) => x.map((value) => Math.max(value, 0));
  live.sigmoid = (x) => 1 / (1 + Math.exp(-x));

  // The error function by its power series; from 4 on it is 1 within 2e-8.
  function erf(x) {
    if (Math.abs(x) >= 4) return Math.sign(x);
    let sum = x, term = x;
    for (let n = 1; Math.abs(term) > 1e-12; n++) {
      term *= (-x * x) / n;
      sum += term / (2 * n + 1);
    }
    return (2 / Math.sqrt(Math.PI)) * sum;
  }
  live.gelu = (x) => x.map((value) => (value / 2) * (1 + erf(value / Math.SQRT2)));

  live.concat = function (...vectors) {
    const y = new Float32Array(vectors.reduce((size, vector) => size + vector.length, 0));
    let at = 0;
    for (const vector of vectors) {
      y.set(vector, at);
      at += vector.length;
    }
    return y;
  };

  // The rows of a table (V, D) for some ids, times a number: (ids, D).
  live.embed = function (table, ids, times = 1) {
    const width = table.shape[1], y = new Float32Array(ids.length * width);
    ids.forEach((id, i) => y.set(table.subarray(id * width, (id + 1) * width), i * width));
    return times === 1 ? y : y.map((value) => value * times);
  };

  // The largest is subtracted first, so that no exponential is too large.
  live.softmax = function (x) {
    const top = x.reduce((a, b) => Math.max(a, b), -Infinity);
    const y = x.map((value) => Math.exp(value - top));
    const sum = y.reduce((a, b) => a + b, 0);
    return y.map((value) => value / sum);
  };
  live.logSoftmax = function (x) {
    const top = x.reduce((a, b) => Math.max(a, b), -Infinity);
    let sum = 0;
    for (let i = 0; i < x.length; i++) sum += Math.exp(x[i] - top);
    const log = top + Math.log(sum);
    return Float64Array.from(x, (value) => value - log);
  };

  // weights (N) times rows of values (N, D): (D)
  live.mix = function (weights, values, width) {
    const y = new Float32Array(width);
    for (let i = 0; i < weights.length; i++)
      for (let k = 0; k < width; k++) y[k] += weights[i] * values[i * width + k];
    return y;
  };
});
