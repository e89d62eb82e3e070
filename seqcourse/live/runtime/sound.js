// Sound to MFCCs and back, the same formulas as in `seqcourse.functional.sound`.
seqlive.part(function (live) {
  "use strict";
  const RATE = (live.RATE = 8000), SIZE = 400, HOP = 200, BANDS = 128; // Hz, samples, samples, bands
  const BINS = SIZE / 2 + 1, QUIETEST = 1e-10, RANGE = 80; // of a spectrum; power; dB
  const turn = Array.from({ length: SIZE }, (_, n) => (2 * Math.PI * n) / SIZE);
  const cosine = turn.map(Math.cos), sine = turn.map(Math.sin);
  const fade = cosine.map((value) => 0.5 - 0.5 * value); // Hann

  const toMel = (hertz) => (hertz < 1000 ? (hertz * 3) / 200 : 15 + (27 * Math.log(hertz / 1000)) / Math.log(6.4));
  const toHertz = (mel) => (mel < 15 ? (mel * 200) / 3 : 1000 * Math.exp(((mel - 15) * Math.log(6.4)) / 27));

  // Triangles, 1 high: [band][bin]; and their widths over 2, in Hz.
  const edges = Array.from({ length: BANDS + 2 }, (_, m) => toHertz((toMel(RATE / 2) * m) / (BANDS + 1)));
  const triangles = edges.slice(1, -1).map(function (middle, m) {
    const low = edges[m], high = edges[m + 2];
    return Float64Array.from({ length: BINS }, function (_, k) {
      const hertz = (k * RATE) / SIZE;
      return Math.max(0, Math.min((hertz - low) / (middle - low), (high - hertz) / (high - middle)));
    });
  });
  const halfWidth = triangles.map((_, m) => (edges[m + 2] - edges[m]) / 2);

  // Row k of the cosine transform at band n.
  const dct = (k, n) =>
    Math.sqrt((k ? 2 : 1) / BANDS) * Math.cos((Math.PI * k * (2 * n + 1)) / (2 * BANDS));

  // The frame around sample t * HOP, faded in and out; outside the sound is silence.
  const frame = (sound, t) => fade.map((value, n) => value * (sound[t * HOP + n - SIZE / 2] ?? 0));

  function spectrum(samples) {
    const real = new Float64Array(BINS), imaginary = new Float64Array(BINS);
    for (let k = 0; k < BINS; k++)
      for (let n = 0, at = 0; n < SIZE; n++, at = (at + k) % SIZE) {
        real[k] += samples[n] * cosine[at];
        imaginary[k] -= samples[n] * sine[at];
      }
    return { real, imaginary };
  }

  function samplesOf({ real, imaginary }) {
    return fade.map(function (_, n) {
      let sum = real[0] + (n % 2 ? -1 : 1) * real[BINS - 1];
      for (let k = 1, at = n; k < BINS - 1; k++, at = (at + n) % SIZE)
        sum += 2 * (real[k] * cosine[at] - imaginary[k] * sine[at]);
      return sum / SIZE;
    });
  }

  // Samples at 8000 Hz to MFCCs, rows of `count` numbers one after the other.
  live.mfcc = function (sound, count = 13) {
    const frames = Math.floor(sound.length / HOP) + 1, levels = [];
    for (let t = 0; t < frames; t++) {
      const { real, imaginary } = spectrum(frame(sound, t));
      const power = real.map((value, k) => value ** 2 + imaginary[k] ** 2);
      levels.push(triangles.map(function (triangle, m) {
        let sum = 0;
        for (let k = 0; k < BINS; k++) sum += triangle[k] * power[k];
        return 10 * Math.log10(Math.max(sum / halfWidth[m], QUIETEST));
      }));
    }
    const floor = levels.reduce((top, level) => Math.max(top, ...level), -Infinity) - RANGE;
    const y = new Float32Array(frames * count);
    levels.forEach(function (level, t) {
      for (let k = 0; k < count; k++)
        y[t * count + k] = level.reduce((sum, value, n) => sum + Math.max(value, floor) * dct(k, n), 0);
    });
    return y;
  };

  // A power spectrum that has about the levels of one frame of MFCCs.
  function powerOf(coefficients) {
    const power = new Float64Array(BINS), weight = new Float64Array(BINS);
    triangles.forEach(function (triangle, m) {
      const level = coefficients.reduce((sum, value, k) => sum + value * dct(k, m), 0);
      const width = triangle.reduce((sum, value) => sum + value, 0) / halfWidth[m]; // of the even filter
      const share = 10 ** (level / 10) / Math.max(width, 1e-8);
      triangle.forEach(function (value, k) {
        power[k] += value * share;
        weight[k] += value;
      });
    });
    return power.map((value, k) => value / Math.max(weight[k], 1e-8));
  }

  // MFCCs (T, 13) made audible as by `functional.sound_of_mfcc`: a buzz with a little noise, coloured
  // frame by frame. The noise is another one than PyTorch's.
  live.soundOf = function (coefficients, count = 13, pitch = 110, noise = 0.1) {
    const frames = coefficients.length / count, length = (frames - 1) * HOP, random = live.random(0);
    const source = Float64Array.from({ length }, function (_, n) {
      // In 32 bits, as in PyTorch: it decides into which sample a pulse falls.
      const phase = Math.fround(Math.fround(n * pitch) / RATE) % 1;
      const buzz = phase < Math.fround(pitch / RATE) ? Math.sqrt(RATE / pitch) : 0;
      const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
      return buzz + noise * normal;
    });
    const whole = new Float64Array(length + SIZE), weight = new Float64Array(length + SIZE).fill(1e-3);
    for (let t = 0; t < frames; t++) {
      const power = powerOf(coefficients.subarray(t * count, (t + 1) * count)).map(Math.sqrt);
      const { real, imaginary } = spectrum(frame(source, t));
      const piece = samplesOf({
        real: real.map((value, k) => value * power[k]),
        imaginary: imaginary.map((value, k) => value * power[k]),
      });
      piece.forEach(function (value, n) {
        whole[t * HOP + n] += value * fade[n];
        weight[t * HOP + n] += fade[n] ** 2;
      });
    }
    const sound = Float32Array.from({ length }, (_, n) => whole[n + SIZE / 2] / weight[n + SIZE / 2]);
    const top = sound.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-9);
    return sound.map((value) => (0.9 * value) / top);
  };
});
