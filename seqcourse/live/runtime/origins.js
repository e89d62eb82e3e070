// Where a number of the traced Transformer comes from: a sum (or softmax) with its terms, of which each
// names the numbers that it is made of. A number is named by a node, { t: "state", side, stage, i, k };
// a node with a `text` belongs to the encoder of that other sentence.
seqlive.part(function (live) {
  "use strict";
  const SHOWN = 5;
  const number = (x) => x.toFixed(Math.abs(x) < 0.0995 && x ? 3 : 2).replace(/^-(?=[0.]+$)/, "").replace("-", "−");
  live.plainNumber = number;

  const { attentionOf, blockOf, normOf } = live;

  // What parts and states are called.
  const called = (stage) => `${stage[0] === "s" ? "self-attention" : "cross-attention"} ${blockOf(stage) + 1}`;
  function stateCalled(stage) {
    if (stage === "memory") return "memory";
    return stage[0] === "x" ? `after block ${stage[1]}` : `after ${called(stage)}`;
  }
  live.partCalled = called;

  // What the functions below have in common: the machine, the trace, its words, and names for nodes beside.
  function scene(name, node) {
    const machine = live.machineOf(name), { now, system, alone, unit, turns } = machine, other = node.text !== undefined;
    const text = node.text ?? now.text, side = node.side ?? "decoder";
    const E = alone ? null : other ? live.encoderOf(machine, text) : now.E;
    const T = side === "encoder" ? E : other ? live.decoderOf(machine, text) : now.T;
    const written = () => ["<sos>", ...now.T.ids.slice(1).map((id) => system.target[id])];
    const words = alone || other || side === "encoder" ? live.wordsOf(machine, text, side) : written();
    const beside = (t, more) => ({ t, side, ...(other && { text }), ...more });
    const columns = node.stage?.[0] === "c" ? live.wordsOf(machine, text, "encoder") : words;
    const begins = turns ? "embedding" : `${unit} + position`;
    return {
      ...machine, machine, E, T, words: live.named(words), columns: live.named(columns), beside, made: now.made, shares: now.shares, at: now.at, other,
      stateCalled: (stage) => (stage === "x0" ? begins : stateCalled(stage)),
      ofSide: alone ? "" : `, ${side}`,
    };
  }

  const rules = {};
  live.origins = rules;

  rules.share = function ({ id }, { T, shares, at, made, system, unit }) {
    const logits = T.logits[at], top = live.top(logits, SHOWN).map((one) => one.id), heat = made.heat;
    if (!top.includes(id)) top.push(id);
    const high = logits[top[0]], grown = (one) => Math.exp((logits[one] - high) / heat);
    const total = logits.reduce((sum, value) => sum + Math.exp((value - high) / heat), 0);
    const divided = heat === 1 ? "" : ` / ${heat}`;
    const terms = top.map((one) => ({
      label: ["e^(", [number(logits[one]), { t: "logit", id: one }], ` − ${number(high)})${divided} for “${system.target[one]}”`],
      value: grown(one),
    }));
    const rest = total - terms.reduce((sum, { value }) => sum + value, 0);
    terms.push({ label: [`all other ${logits.length - top.length} ${unit}s`], value: rest });
    return {
      title: `The share of “${system.target[id]}” is ${number(shares[id])}`,
      about: `softmax: ${number(grown(id))} of ${number(total)}, the sum over all ${unit}s. The highest score is subtracted first.`,
      total, terms, value: shares[id],
    };
  };

  rules.logit = function ({ id }, { T, P, D, at, system, unit }) {
    const z = T.norms.end[at].y, E = P.target_embedding, terms = [];
    for (let k = 0; k < D; k++)
      terms.push({
        label: [[number(z[k]), { t: "norm", side: "decoder", stage: "end", i: at, k }], ` · ${number(E[id * D + k])} (number ${k + 1})`],
        value: z[k] * E[id * D + k],
      });
    if (P.output_bias) terms.push({ label: [`bias of “${system.target[id]}”`], value: P.output_bias[id] });
    return {
      title: `The score of “${system.target[id]}”`,
      about: `z · embedding of the ${unit}${P.output_bias ? " + bias" : ""}: the last normalised vector, compared with the ${unit}’s row of the table.`,
      total: T.logits[at][id], terms,
    };
  };

  rules.norm = function ({ side, stage, i, k }, { T, P, before, beside, words }) {
    const { y, mean, spread } = T.norms[stage][i], from = before(side, stage), x = T.states[from][i][k];
    const gamma = P[normOf(side, stage) + ".gamma"][k], beta = P[normOf(side, stage) + ".beta"][k];
    return {
      title: `Number ${k + 1} of “${words[i]}”, normalised`,
      about: "γ (x − mean) / spread + β: every vector is brought to the same scale before a part reads it.",
      total: y[k],
      terms: [
        {
          label: [`γ ${number(gamma)} · x `, [number(x), beside("state", { stage: from, i, k })],
            " / ", [number(spread), beside("spread", { stage, i })]],
          value: (gamma * x) / spread,
        },
        {
          label: [`−γ ${number(gamma)} · mean `, [number(mean), beside("mean", { stage, i })], ` / ${number(spread)}`],
          value: (-gamma * mean) / spread,
        },
        { label: ["β"], value: beta },
      ],
    };
  };

  // The mean and the spread of a vector: of all its numbers.
  function moment(node, { T, D, before, beside, words, stateCalled }, title, about, of, total, more) {
    const from = before(node.side, node.stage), x = T.states[from][node.i];
    const terms = [...x].map((value, k) => ({
      label: ["of ", [number(value), beside("state", { stage: from, i: node.i, k })], ` (number ${k + 1})`],
      value: of(value) / D,
    }));
    return { title: `${title} of “${words[node.i]}”, ${stateCalled(from)}`, about, total, terms: [...terms, ...more] };
  }
  rules.mean = (node, found) =>
    moment(node, found, "The mean", `Σ x / ${found.D}`, (x) => x, found.T.norms[node.stage][node.i].mean, []);
  rules.spread = function (node, found) {
    const { mean, spread } = found.T.norms[node.stage][node.i];
    const root = `spread = √${number(spread ** 2)} = ${number(spread)}.`, of = (x) => (x - mean) ** 2;
    const about = `${root} Below the root: Σ (x − mean)² / ${found.D}, and 0.00001 so that it is never 0.`;
    const constant = [{ label: ["a small constant"], value: 1e-5 }];
    return moment(node, found, "The spread, squared,", about, of, spread ** 2, constant);
  };

  rules.state = function (node, found) {
    const { side, stage, i, k } = node, { T, P, D, alone, sees, turns, before, beside, words, made, other, stateCalled } = found;
    const x = T.states[stage][i], patch = !other && made.patchOf(`${side}.${stage}`, i);
    const shown = { title: `“${words[i]}”, ${stateCalled(stage)}`, vector: x, k, total: x[k], offers: [] };
    if (!other) shown.offers.push({ kind: "patch", part: `${side}.${stage}`, at: i });
    if (patch) {
      const from = { t: "state", side, stage, i: patch.from, k, text: patch.text };
      return { ...shown, about: `Taken from “${patch.text}”.`, terms: [{ label: [["the same number there", from]], value: x[k] }] };
    }
    if (stage === "memory" && sees)
      return { ...shown, about: "What the convolutional network says of this place, normalised. That network is not open here.", terms: [{ label: ["from the picture"], value: x[k] }] };
    if (stage === "memory")
      return {
        ...shown, ...rules.norm({ ...node, stage: "end" }, found),
        title: shown.title, about: "memory = norm(x): what the decoder may read.",
      };
    if (stage === "x0") {
      if (!other) shown.offers.push({ kind: "place", part: side, at: i, now: T.places[i] });
      const times = alone ? "" : `√${D} · `;
      const terms = [{ label: [[`${times}embedding`, beside("embedding", { i, k })]], value: T.embedding[i][k] }];
      if (turns) return { ...shown, about: "x = embedding. The position comes later: it turns queries and keys.", terms };
      terms.push({ label: [[`position ${T.places[i]}`, beside("place", { i, k })]], value: T.place[i][k] });
      return { ...shown, about: `x = ${times}embedding + position`, terms };
    }
    const from = before(side, stage);
    const terms = [{ label: [[stateCalled(from), beside("state", { stage: from, i, k })]], value: T.states[from][i][k] }];
    if (stage[0] === "x") {
      if (!other) shown.offers.push({ kind: "mlp", part: `${side}.${blockOf(stage)}.mlp` });
      terms.push({ label: [[`MLP ${stage[1]}`, beside("mlp", { stage, i, k })]], value: T.mlps[stage][i].out[k] });
      return { ...shown, about: "x′ = x + MLP(norm(x)): the old number stays, something is added.", terms };
    }
    T.looks[stage][i].wrote.forEach(function (written, head) {
      const off = !other && made.isOff(attentionOf(side, stage), head) ? " (off)" : "";
      terms.push({ label: [[`head ${head + 1}${off}`, beside("wrote", { stage, head, i, k })]], value: written[k] });
    });
    terms.push({ label: ["bias of the attention"], value: P[attentionOf(side, stage) + ".out.bias"][k] });
    return { ...shown, about: "x′ = x + what each head writes + bias: the old number stays, something is added.", terms };
  };

  rules.embedding = function ({ i, k }, { T, D, alone, unit, words }) {
    const times = alone ? 1 : Math.sqrt(D), value = T.embedding[i][k], stored = (value / times).toFixed(4).replace("-", "−");
    const said = alone ? "The" : `√${D} · the`;
    return {
      title: `Number ${k + 1} of the embedding of “${words[i]}”`,
      about: `${said} number in the ${unit}’s row of the table. Training chose it; it is the same in every ${alone ? "row" : "sentence"}.`,
      total: value, terms: [{ label: [alone ? stored : `√${D} · ${stored}`], value }],
    };
  };
  rules.place = ({ i, k }, { T, D }) => ({
    title: `Number ${k + 1} of position ${T.places[i]}`,
    about: "A sine or a cosine of the position. Nothing here was learned.",
    total: T.place[i][k],
    terms: [{ label: [`${k % 2 ? "cos" : "sin"}(${T.places[i]} · 10000^(−${k - (k % 2)}/${D}))`], value: T.place[i][k] }],
  });

  // The sentence's trace, and the rule for its node.
  live.origin = function ({ name, node }) {
    const found = scene(name, node), answer = rules[node.t](node, found);
    if (node.t === "state") answer.nearest = live.nearest(node, found);
    return answer;
  };
});
