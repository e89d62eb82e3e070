// Spoken digits to play or to speak; while the sound plays, each letter glows as much as it listens.
(function () {
  "use strict";
  const live = window.seqlive, { element, map, modelsOf, show } = live;
  const RATE = 8000, STATE = 0.1; // Hz; seconds that a state of the listener stands for
  const BRIGHT = 0.4; // a letter that never looks more than this never glows fully
  const MOST = 6; // seconds that the microphone stays open

  // Samples as a WAV file of 16 bits.
  function wave(sound) {
    const view = new DataView(new ArrayBuffer(44 + 2 * sound.length));
    const text = (at, letters) => [...letters].forEach((l, k) => view.setUint8(at + k, l.charCodeAt(0)));
    text(0, "RIFF");
    view.setUint32(4, 36 + 2 * sound.length, true);
    text(8, "WAVEfmt ");
    view.setUint32(16, 16, true);
    view.setUint16(20, 1, true); // plain numbers
    view.setUint16(22, 1, true); // one channel
    view.setUint32(24, RATE, true);
    view.setUint32(28, 2 * RATE, true);
    view.setUint16(32, 2, true);
    view.setUint16(34, 16, true);
    text(36, "data");
    view.setUint32(40, 2 * sound.length, true);
    sound.forEach((value, k) => view.setInt16(44 + 2 * k, Math.max(-1, Math.min(1, value)) * 32767, true));
    return new Blob([view], { type: "audio/wav" });
  }

  // Letters as buttons that jump to the moment at which they listen most.
  function lettersOf(found, audio) {
    const box = element("div", "", { class: "sq-letters" });
    let word = null; // its letters stay in one line
    [...found.text].forEach(function (letter, k) {
      const moment = (found.weights[k].indexOf(Math.max(...found.weights[k])) + 0.5) * STATE;
      const button = element("button", letter, { type: "button", class: "sq-letter" });
      button.setAttribute("aria-label", `${letter === " " ? "space" : letter}, ${moment.toFixed(1)} seconds`);
      button.addEventListener("click", () => (audio.currentTime = moment));
      if (!word) box.append((word = element("span", "", { class: "sq-word" })));
      word.append(button);
      if (letter === " ") word = null;
    });
    return box;
  }

  // What is really said, and when, with a line that moves.
  function strip(said, seconds) {
    const box = element("div", "", { class: "sq-time" }), head = element("span", "", { class: "sq-head" });
    for (const [word, begin, end] of said) {
      const place = `left:${(100 * begin) / seconds}%;width:${(100 * (end - begin)) / seconds}%`;
      box.append(element("span", word, { class: "sq-span", style: place }));
    }
    box.append(head);
    return box;
  }

  function glow(found, audio, box) {
    const seconds = found.sound.length / RATE, letters = box.querySelectorAll(".sq-letter");
    const states = found.weights[0]?.length ?? 0, head = box.querySelector(".sq-head");
    const most = found.weights.map((row) => Math.max(BRIGHT, ...row));
    function paint() {
      const t = audio.currentTime, state = Math.min(states - 1, Math.floor(t / STATE));
      letters.forEach(function (letter, k) {
        const share = t > 0 && !audio.ended ? found.weights[k][state] / most[k] : 0;
        letter.style.setProperty("--w", share.toFixed(2));
      });
      head.style.left = `${(100 * Math.min(1, t / seconds)).toFixed(2)}%`;
    }
    function run() {
      paint();
      if (!audio.paused && !audio.ended) requestAnimationFrame(run);
    }
    audio.addEventListener("play", run);
    for (const kind of ["seeked", "timeupdate", "pause", "ended"]) audio.addEventListener(kind, paint);
  }

  function put(root, found) {
    if (root.sound) URL.revokeObjectURL(root.sound);
    root.sound = URL.createObjectURL(wave(found.sound));
    const audio = element("audio", "", { controls: "", "aria-label": "What is said", src: root.sound });
    const box = element("div", "", { class: "sq-listen" }), states = found.weights[0] ?? [];
    box.append(audio, lettersOf(found, audio), strip(found.said, found.sound.length / RATE));
    const moments = [...states.keys()].map((k) => (k * STATE).toFixed(1));
    const rows = [...found.text].map((letter) => (letter === " " ? "␣" : letter));
    if (rows.length) box.append(map(rows, moments, found.weights, "Where each letter listens, in seconds"));
    show(root, box);
    glow(found, audio, box);
  }

  live.views.listen = async function (root) {
    const [[name]] = modelsOf(root), form = root.querySelector("form");
    const heard = root.heard; // by the microphone
    root.heard = null;
    const text = form.elements.text.value, voice = form.elements.voice.value;
    const found = heard
      ? await live.send("hear", { name, sound: heard })
      : await live.send("speak", { name, text, voice });
    put(root, found);
    return `${heard ? "Heard" : "Written"}: ${found.text || "nothing"}. Press play.`;
  };

  // Samples at 8000 Hz of what a recorder made.
  async function samplesOf(blob) {
    const context = new OfflineAudioContext(1, RATE, RATE);
    const decoded = await context.decodeAudioData(await blob.arrayBuffer());
    const sound = new Float32Array(decoded.length);
    for (let c = 0; c < decoded.numberOfChannels; c++)
      decoded.getChannelData(c).forEach((value, k) => (sound[k] += value / decoded.numberOfChannels));
    return sound;
  }

  const WHY = {
    NotAllowedError: "The microphone was not allowed. Allow it in the browser, or choose digits to play.",
    NotFoundError: "There is no microphone here. Choose digits to play.",
  };

  const close = (stream) => stream?.getTracks().forEach((track) => track.stop());

  // A second press, or MOST seconds, end the recording. It stays in the page.
  async function record(root, button, say) {
    if (root.recorder) return root.recorder.stop();
    if (root.asking) return; // the browser asks for the microphone
    if (!navigator.mediaDevices?.getUserMedia || !window.MediaRecorder)
      return say("This browser gives a page like this one no microphone. Choose digits to play.");
    const pieces = [], name = button.textContent;
    let stream, recorder;
    try {
      root.asking = true;
      stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      recorder = new MediaRecorder(stream);
      recorder.start();
    } catch (error) {
      close(stream);
      return say(WHY[error.name] ?? `The microphone did not start (${error.message}). Choose digits to play.`);
    } finally {
      root.asking = false;
    }
    root.recorder = recorder;
    recorder.addEventListener("dataavailable", ({ data }) => pieces.push(data));
    recorder.addEventListener("stop", async function () {
      clearTimeout(timer);
      close(stream);
      [root.recorder, button.textContent] = [null, name];
      try {
        root.heard = await samplesOf(new Blob(pieces, { type: recorder.mimeType }));
      } catch {
        return say("The recording could not be read. Speak again.");
      }
      root.querySelector("form").elements.turn.value++; // another question than before
      root.querySelector("form").requestSubmit();
    });
    const timer = setTimeout(() => recorder.stop(), MOST * 1000);
    button.textContent = "Stop";
    say(`Speak up to five digits; press again when you are done, or wait ${MOST} seconds.`);
  }

  live.setUps.listen = function (root) {
    const button = root.querySelector("[data-microphone]"), said = root.querySelector("[role=status]");
    button.addEventListener("click", () => record(root, button, (text) => (said.textContent = text)));
    button.hidden = false;
  };
})();
