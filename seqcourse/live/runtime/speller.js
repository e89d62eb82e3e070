// Listen, attend and spell: spoken digits to letters, from recordings or from a microphone.
seqlive.part(function (live) {
  "use strict";
  const { additive, bothWays, concat, embed, linear, logSoftmax, lstm, tanh } = live;
  const WIDTH = 13, SECONDS = 0.025; // numbers in a frame; from one frame to the next
  const WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
  const MOST = 10; // digits; it learned from at most 5
  const LONGEST = 8, SHORTEST = 0.2; // seconds of sound
  const HUSH = 0.001; // a microphone that is this quiet heard nothing
  const BLOCK = 200, QUIET = 0.1; // samples; share of the loudest block

  const bytes = (base64) => Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));

  // Recordings come with the model: frames as bytes, and the sound of one voice in mu-law.
  live.kinds.sounds = ({ recordings: { low, step, takes, voice, loudest } }) => ({
    loudest,
    frames: (take, digit) =>
      Float32Array.from(bytes(takes[take][digit]), (byte, k) => low[k % WIDTH] + step[k % WIDTH] * byte),
    sound: (digit) =>
      Float32Array.from(bytes(voice[digit]), function (byte) {
        const level = (byte - 128) / 127;
        return (Math.sign(level) * Math.expm1(Math.abs(level) * Math.log(256))) / 255;
      }),
  });

  live.models.Speller = function (P, sizes) {
    const zeros = (size) => new Float32Array(size);
    return {
      encode(frames) {
        let n = frames.length / WIDTH;
        const scaled = frames.map((value, k) => (value - P.mean[k % WIDTH]) / P.std[k % WIDTH]);
        let { states } = bothWays(lstm, P, "bottom", scaled, n);
        for (let layer = 0; layer < sizes.layers; layer++) {
          const width = states.length / n;
          if (n % 2) states = concat(states, zeros(width)); // zeros are the last one's partner
          n = Math.ceil(n / 2);
          ({ states } = bothWays(lstm, P, `pyramid.layers.${layer}`, states, n));
        }
        return { length: n, states, keys: linear(states, n, P["attention.score.w_h"]) };
      },
      start: (memory) => [zeros(sizes.spell_size), zeros(sizes.spell_size), zeros(memory.states.length / memory.length)],
      step(token, [s, cell, context], memory) {
        const heard = lstm(P, "cell", "", concat(embed(P.embedding, [token]), context), [s, cell]);
        const look = additive(P, "attention", heard[0], memory);
        const both = concat(heard[0], look.context);
        const hidden = tanh(linear(both, 1, P["readout.weight"], P["readout.bias"]));
        return {
          logProbs: logSoftmax(linear(hidden, 1, P["out.weight"], P["out.bias"])),
          state: [...heard, look.context],
          weights: look.weights,
        };
      },
    };
  };

  // Frames (T, 13) to letters, as `System.spell` does.
  live.spell = function ({ name, frames, width = 5 }) {
    const { model, target } = live.systems[name], memory = model.encode(frames);
    const found = live.beamSearch(model, memory, { width, maxLength: frames.length / WIDTH + 10 });
    return {
      text: found.steps.map((path) => target[path.token]).join(""),
      score: found.score,
      weights: found.steps.map((path) => Array.from(path.out.weights)),
    };
  };

  // Digits spoken one after the other: by recordings of the data, which are made audible, or by the
  // voice whose sound there is.
  live.speak = function ({ name, text, voice }) {
    const system = live.systems[name], digits = [...live.short(text)].filter((sign) => !/[\s,.-]/.test(sign));
    if (!digits.length || digits.some((sign) => !/^[0-9]$/.test(sign)))
      throw new live.Refusal("Write digits from 0 to 9, such as 427.");
    if (digits.length > MOST)
      throw new live.Refusal(`At most ${MOST} digits, please; these are ${digits.length}.`);
    const own = voice === "sound", parts = digits.map((d) => (own ? system.sound(d) : system.frames(voice, d)));
    const whole = concat(...parts), frames = own ? live.mfcc(whole) : whole;
    let at = 0;
    const said = parts.map(function (part, k) {
      const begin = at;
      at += own ? part.length / live.RATE : (part.length / WIDTH) * SECONDS;
      return [WORDS[digits[k]], begin, at];
    });
    return { ...live.spell({ name, frames }), said, sound: own ? whole : live.soundOf(frames) };
  };

  // The sound without what is silent before, between and behind the words.
  live.withoutPauses = function (sound) {
    const blocks = Array.from({ length: Math.floor(sound.length / BLOCK) }, (_, k) =>
      sound.subarray(k * BLOCK, (k + 1) * BLOCK),
    );
    const power = blocks.map((block) => block.reduce((sum, value) => sum + value ** 2, 0) / BLOCK);
    const loudest = Math.sqrt(Math.max(0, ...power));
    if (loudest < HUSH) throw new live.Refusal("Nothing was heard. Is the microphone on? Speak a little louder.");
    const loud = power.map((value) => Math.sqrt(value) > QUIET * loudest);
    return concat(...blocks.filter((_, k) => loud[k - 1] || loud[k] || loud[k + 1]));
  };

  // What a microphone heard, samples at 8000 Hz: pauses left out, and as loud as the recordings that
  // the model learned from.
  live.hear = function ({ name, sound }) {
    if (sound.length > LONGEST * live.RATE)
      throw new live.Refusal(`At most ${LONGEST} seconds, please; this was longer.`);
    const kept = live.withoutPauses(sound);
    if (kept.length < SHORTEST * live.RATE) throw new live.Refusal("That was too short to be a digit.");
    const frames = live.mfcc(kept), { loudest } = live.systems[name];
    const most = frames.reduce((top, value, k) => (k % WIDTH ? top : Math.max(top, value)), -Infinity);
    for (let k = 0; k < frames.length; k += WIDTH) frames[k] += loudest - most;
    return { ...live.spell({ name, frames }), said: [], sound: kept };
  };
});
