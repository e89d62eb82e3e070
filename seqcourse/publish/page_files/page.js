// The page of one's own model: unpacks it, decodes greedily, and shows what it says and where it looks.
(function () {
  "use strict";
  const PAD = 0, SOS = 1, EOS = 2, UNK = 3, PIXELS = 64;
  const live = (window.seqlive = { views: {}, setUps: {}, looks: {}, script: async () => {} });
  live.part = (make) => make(live); // the text of the book's runtime registers itself by it
  const facts = JSON.parse(document.getElementById("own-facts").textContent);
  const isSpeller = facts.task === "speller"; // it reads the letters of a word
  let ort = null, session = null;

  // Light or dark, as the reader's system is.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paint = () => (document.documentElement.dataset.theme = dark.matches ? "dark" : "light");
  dark.addEventListener("change", paint);
  paint();

  // The bytes of a script that holds them packed, in base64.
  async function unpacked(id) {
    const holder = document.getElementById(id), packed = Uint8Array.from(atob(holder.textContent), (c) => c.charCodeAt(0));
    holder.remove();
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  const whole = (ids, size) => {
    const row = new BigInt64Array(Math.max(size, ids.length)).fill(BigInt(PAD));
    ids.forEach((id, k) => (row[k] = BigInt(id)));
    return new ort.Tensor("int64", row, [1, row.length]);
  };

  // What is read, as the graph takes it: ids of a sentence, or a picture's bytes (64, 64, 3).
  function given(what) {
    if (facts.source.length)
      return { source: whole(what, facts.sizes?.[0] ?? 0), lengths: new ort.Tensor("int64", BigInt64Array.of(BigInt(what.length)), [1]) };
    const size = PIXELS * PIXELS, numbers = new Float32Array(3 * size);
    for (let k = 0; k < 3 * size; k++) numbers[(k % 3) * size + Math.floor(k / 3)] = what[k] / 255;
    return { picture: new ort.Tensor("float32", numbers, [1, 3, PIXELS, PIXELS]) };
  }

  // One pass: for what is written, the logits of the word after the last, and where the last word looked.
  live.pass = async function (what, written) {
    const feeds = { ...given(what), target: whole(written, facts.sizes?.[1] ?? 0) };
    for (const name of Object.keys(feeds)) if (!session.inputNames.includes(name)) delete feeds[name];
    const found = await session.run(feeds), [logits, maps] = session.outputNames.map((name) => found[name]);
    const row = ({ data, dims }) => Array.from(data.slice((written.length - 1) * dims[2], written.length * dims[2]));
    return { logits: row(logits), weights: maps ? row(maps) : null };
  };

  // The likeliest next word, over and over.
  live.greedy = async function (what) {
    const ids = [SOS], maps = [], most = facts.sizes?.[1] ?? facts.longest;
    while (ids.length < most) {
      const { logits, weights } = await live.pass(what, ids);
      for (const id of [PAD, SOS, UNK]) logits[id] = -Infinity;
      const best = logits.reduce((top, x, id) => (x > logits[top] ? id : top), 0);
      if (best === EOS) break;
      ids.push(best);
      if (weights) maps.push(weights);
    }
    return { ids: ids.slice(1), maps };
  };

  live.read = function (text) {
    const tokens = isSpeller ? [...text.trim().toLowerCase()] : live.tokenize(text), ids = new Map(facts.source.map((token, id) => [token, id]));
    if (facts.stops && !/^[.?!]$/.test(tokens.at(-1) ?? "")) tokens.push(".");
    const most = (facts.sizes?.[0] ?? facts.longest) - (facts.ends ? 1 : 0);
    if (tokens.length > most) throw new Error(`At most ${most} ${isSpeller ? "letters" : "words and signs"} can be read here, but there are ${tokens.length}.`);
    const read = tokens.map((token) => ids.get(token) ?? UNK);
    const unknown = tokens.filter((token) => !ids.has(token));
    return { tokens: facts.ends ? [...tokens, "<eos>"] : tokens, ids: facts.ends ? [...read, EOS] : read, unknown };
  };

  async function translate(root, form) {
    if (!form.elements.text.value.trim()) throw new Error("Type something first.");
    const { tokens, ids, unknown } = live.read(form.elements.text.value), found = await live.greedy(ids);
    const words = found.ids.map((id) => facts.target[id]), said = isSpeller ? words.join(" ") : live.detokenize(words, "es");
    const parts = [live.element("p", said || "(no word)", { class: "own-answer", lang: isSpeller ? "en" : "es" })];
    if (unknown.length) parts.push(live.element("p", live.unknown(unknown), { class: "sq-note" }));
    if (found.maps.length) {
      const shown = found.maps.map((row) => row.slice(0, tokens.length));
      parts.push(live.map(words, tokens, shown, "Where it looks for each word that it writes"));
    }
    live.show(root, ...parts);
    root.querySelectorAll(".sq-scroll").forEach((box) => (box.tabIndex = 0)); // a wide map scrolls by keyboard, too
    return `${said || "It writes no word."} ${live.unknown(unknown)}`.trim();
  }

  // The book's figure of scenes asks this for the caption of a picture's bytes.
  live.send = async function (_, { pixels }) {
    const { ids, maps } = await live.greedy(pixels), tokens = ids.map((id) => facts.target[id]);
    return { text: tokens.join(" "), tokens: maps.length ? tokens : [], maps };
  };

  live.loadAll = async () => {};
  const views = { translator: translate, speller: translate, captioner: (root, form) => live.views.caption(root, form) };

  async function answer(root, form) {
    const status = root.querySelector("[role=status]"), button = form.querySelector("[type=submit]");
    if (button.getAttribute("aria-disabled")) return;
    button.setAttribute("aria-disabled", "true"); // and not disabled: it keeps the keyboard
    status.textContent = "Computing …";
    const began = performance.now();
    try {
      const said = await views[facts.task](root, form);
      // Who sees the answer need not read it twice.
      status.replaceChildren(live.element("span", said, { class: "sq-heard" }), ` Computed in ${Math.round(performance.now() - began)} ms.`);
    } catch (error) {
      status.textContent = error.message;
    }
    button.removeAttribute("aria-disabled");
  }

  // Unpack, compute the example of PyTorch again, and answer.
  live.begin = async function (library) {
    const root = document.getElementById("own"), form = root.querySelector("form");
    const status = root.querySelector("[role=status]");
    try {
      ort = library();
      const [binary, model] = await Promise.all(["own-wasm", "own-model"].map(unpacked));
      Object.assign(ort.env.wasm, { wasmBinary: binary.buffer, numThreads: 1, proxy: false });
      session = await ort.InferenceSession.create(model, { executionProviders: ["wasm"] });
      const { read, written, last } = facts.example, { logits } = await live.pass(read, written);
      const off = (x, k) => (last[k] !== null ? Math.abs(x - last[k]) : Number.isFinite(x) ? Infinity : 0); // null: -inf
      const apart = Math.max(...logits.map(off));
      root.dataset.apart = apart;
      document.getElementById("own-same").textContent =
        apart < 1e-3 ? `On an example it computes what PyTorch did, within ${apart.toExponential(0)}.`
        : `Beware: on an example its numbers differ from PyTorch's by ${apart.toPrecision(2)}.`;
    } catch (error) {
      status.textContent = `The model cannot run in this browser (${error.message}). A newer one may do it.`;
      return;
    }
    form.addEventListener("submit", function (event) {
      event.preventDefault();
      answer(root, form);
    });
    for (const example of form.querySelectorAll(".sq-examples button"))
      example.addEventListener("click", function () {
        form.elements.text.value = example.textContent;
        answer(root, form);
      });
    await answer(root, form);
    root.dataset.ready = "";
  };
})();
