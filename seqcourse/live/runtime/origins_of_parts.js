// Where the numbers inside an attention and an MLP come from: weights, scores, queries, keys, values, neurons.
seqlive.part(function (live) {
  "use strict";
  const { attentionOf, origins: rules, partCalled: called, plainNumber: number } = live;
  const ROWS = { query: 0, key: 1, value: 2 }; // of in_weight, in parts of D rows
  const range = (first, count) => Array.from({ length: count }, (_, k) => first + k);

  rules.head = function ({ side, stage, head }, { T, words, columns, made, beside, at, other, unit, ofSide, sees }) {
    const looks = side === "decoder" && !other ? T.looks[stage].slice(0, at + 1) : T.looks[stage];
    const part = attentionOf(side, stage), done = made.isOff(part, head);
    const title = `Head ${head + 1} of ${called(stage)}${ofSide}`, offers = other ? [] : [{ kind: "off", part, head, done }];
    // The weights of the word that is read last, as they lie on the picture.
    function places(weights, i) {
      const side = range(0, Math.sqrt(weights.length)), at = (row, column) => row * side.length + column;
      const all = (make) => side.map((row) => side.map((column) => make(at(row, column))));
      return {
        rows: side.map((k) => `row ${k + 1}`), columns: side.map((k) => k + 1),
        weights: all((j) => weights[j]), labels: all((j) => columns[j]),
        nodes: all((j) => beside("weight", { stage, head, i, j })),
      };
    }
    if (sees && stage[0] === "c") return { title, about: `Where “${words[looks.length - 1]}” looks: each cell is a place of the picture. Choose a weight.`, map: places(looks.at(-1).weights[head], looks.length - 1), offers };
    return {
      title,
      about: `A row is a ${unit} that looks, a column a ${unit} that is looked at. Each row sums to 1. Choose a weight.`,
      map: {
        rows: looks.map((_, i) => words[i]),
        columns: columns.slice(0, looks.at(-1).weights[head].length),
        weights: looks.map((look) => look.weights[head]),
        nodes: looks.map((look, i) => [...look.weights[head]].map((_, j) => beside("weight", { stage, head, i, j }))),
        asks: side === "decoder" && !other ? looks.length - 1 : undefined,
      },
      offers,
    };
  };

  // What a head writes into one number of the stream.
  rules.wrote = function ({ side, stage, head, i, k }, { T, P, D, S, words, columns, beside, made, other, unit }) {
    const part = attentionOf(side, stage), look = T.looks[stage][i], O = P[part + ".out.weight"];
    const isOff = !other && made.isOff(part, head);
    const terms = [...look.weights[head]].map(function (weight, j) {
      const value = T.values[stage][look.valueFrom[j]];
      const carried = range(head * S, S).reduce((sum, c) => sum + O[k * D + c] * value[c], 0);
      return {
        label: [[number(weight), beside("weight", { stage, head, i, j })], " · ",
          [number(carried), beside("carried", { stage, head, i, j, k })], ` from “${columns[j]}”`],
        value: isOff ? 0 : weight * carried,
      };
    });
    return {
      title: `Number ${k + 1} of what head ${head + 1} writes for “${words[i]}”`,
      about: isOff
        ? "This head is off: it looks, but it writes nothing."
        : `Σ weight · W_O value: each ${unit} hands over its value, as much as its weight says.`,
      total: look.wrote[head][k], terms, offers: other ? [] : [{ kind: "off", part, head, done: isOff }],
    };
  };

  rules.carried = function ({ side, stage, head, i, j, k }, { T, P, D, S, columns, beside }) {
    const O = P[attentionOf(side, stage) + ".out.weight"], from = T.looks[stage][i].valueFrom[j];
    const value = T.values[stage][from];
    const terms = range(head * S, S).map((c) => ({
      label: [`W_O ${number(O[k * D + c])} · `,
        [number(value[c]), beside("project", { stage, which: "value", i: from, c })], ` (value ${c - head * S + 1})`],
      value: O[k * D + c] * value[c],
    }));
    const moved = from === j ? "" : ` The values are exchanged: this is that of “${columns[from]}”.`;
    return {
      title: `What “${columns[j]}” hands over to number ${k + 1} through head ${head + 1}`,
      about: `W_O value.${moved}`, total: terms.reduce((sum, term) => sum + term.value, 0), terms,
    };
  };

  rules.weight = function ({ side, stage, head, i, j }, { T, words, columns, beside, made, other }) {
    const part = attentionOf(side, stage), look = T.looks[stage][i], scores = look.scores[head], m = scores.length;
    const held = other ? undefined : made.held(part, head, i, m), weight = look.weights[head][j];
    const high = Math.max(...scores), grown = (score) => Math.exp(score - high);
    const terms = [...scores].map((score, column) => ({
      label: ["e^(", [number(score), beside("score", { stage, head, i, j: column })], ` − ${number(high)}) for “${columns[column]}”`],
      value: grown(score),
    }));
    const total = terms.reduce((sum, term) => sum + term.value, 0), share = grown(scores[j]);
    const usual = `softmax: ${number(share)} of ${number(total)}, the sum of the row, is ${number(share / total)}. The highest score is subtracted first.`;
    const offers = [
      { kind: "hold", part, head, row: i, column: j, word: columns[j], done: held === j },
      { kind: "keys", part, a: j, words: columns.slice(0, m) },
      { kind: "values", part, a: j, words: columns.slice(0, m) },
    ];
    return {
      title: `“${words[i]}” looks at “${columns[j]}”: ${number(weight)}`,
      about: held === undefined ? usual : `You hold this row on “${columns[held]}”. Without that: ${usual}`,
      total, terms, value: weight, offers: other ? [] : offers,
    };
  };

  rules.score = function ({ side, stage, head, i, j }, { T, S, words, columns, beside, turns, unit }) {
    const made = turns ? "turned" : "project", look = T.looks[stage][i], from = look.keyFrom[j], key = T.keys[stage][from], root = Math.sqrt(S);
    const terms = range(head * S, S).map((c) => ({
      label: ["q ", [number(look.q[c]), beside(made, { stage, which: "query", i, c })],
        " · k ", [number(key[c]), beside(made, { stage, which: "key", i: from, c })], ` / √${S}`],
      value: (look.q[c] * key[c]) / root,
    }));
    const moved = from === j ? "" : ` The keys are exchanged: this is that of “${columns[from]}”.`;
    return {
      title: `The score of “${columns[j]}” for “${words[i]}”`,
      about: `q · k / √${S}: the query of the ${unit} that looks, the key of the ${unit} that is looked at.${moved}`,
      total: look.scores[head][j], terms,
    };
  };

  // One number of a query, key or value: a row of the projection times the vector that is projected.
  rules.project = function (node, { T, E, P, D, S, words, columns, beside, turns, unit }) {
    const { side, stage, which, i, c } = node;
    const part = attentionOf(side, stage), W = P[part + ".in_weight"], row = ROWS[which] * D + c;
    const across = stage[0] === "c" && which !== "query"; // keys and values of the memory
    const z = across ? E.states.memory[i] : T.norms[stage][i].y;
    const goal = (k) => across ? beside("state", { side: "encoder", stage: "memory", i, k }) : beside("norm", { stage, i, k });
    const terms = range(0, D).map((k) => ({
      label: [`W ${number(W[row * D + k])} · `, [number(z[k]), goal(k)], ` (number ${k + 1})`],
      value: W[row * D + k] * z[k],
    }));
    terms.push({ label: ["bias"], value: P[part + ".in_bias"][row] });
    const kept = turns && which !== "value" ? null : read(T, node)[c]; // what was turned is kept after its turn
    return {
      title: `Number ${(c % S) + 1} of the ${which} of “${(across ? columns : words)[i]}”, head ${Math.floor(c / S) + 1}`,
      about: `W_${which[0].toUpperCase()} z + bias, with z the ${across ? "memory" : "normalised vector"} of the ${unit}.`,
      total: kept ?? terms.reduce((sum, { value }) => sum + value, 0), terms,
    };
  };
  const read = (T, { stage, which, i }) =>
    which === "query" ? T.looks[stage][i].q : (which === "key" ? T.keys : T.values)[stage][i];

  // One number of a query or key that its position has turned, together with its partner in the pair.
  rules.turned = function (node, found) {
    const { which, i, c } = node, { T, S, words, angle, beside } = found, place = T.places[i];
    const isFirst = c % S < S / 2, partner = isFirst ? c + S / 2 : c - S / 2, by = angle(c % S, place);
    const of = (at) => rules.project({ ...node, c: at }, found).total, shown = number(by % (2 * Math.PI));
    const term = (at, times, said) => ({
      label: [`${said}(${shown}) · `, [number(of(at)), beside("project", { stage: node.stage, which, i, c: at })]],
      value: times * of(at),
    });
    return {
      title: `Number ${(c % S) + 1} of the ${which} of “${words[i]}”, turned by place ${place}`,
      about: `Numbers ${(Math.min(c, partner) % S) + 1} and ${(Math.max(c, partner) % S) + 1} are a pair, turned by the angle ${shown}. A score then depends on the distance of two places.`,
      total: read(T, node)[c],
      terms: [term(c, Math.cos(by), "cos"), term(partner, (isFirst ? -1 : 1) * Math.sin(by), isFirst ? "−sin" : "sin")],
    };
  };

  rules.mlp = function ({ side, stage, i, k }, { T, P, F, words, beside, made, other }) {
    const part = `${side}.${live.blockOf(stage)}.mlp`, { inner, out } = T.mlps[stage][i], W = P[part + ".outer.weight"];
    const lit = range(0, F).filter((f) => inner[f] > 0), mute = !other && made.isMute(part);
    const terms = lit.map((f) => ({
      label: [[number(inner[f]), beside("neuron", { stage, i, f })], ` · W ${number(W[k * F + f])} (neuron ${f + 1})`],
      value: mute ? 0 : inner[f] * W[k * F + f],
    }));
    terms.push({ label: ["bias"], value: mute ? 0 : P[part + ".outer.bias"][k] });
    return {
      title: `Number ${k + 1} of what MLP ${stage[1]} writes for “${words[i]}”`,
      about: mute
        ? "This MLP is off: it writes nothing."
        : `Σ neuron · W + bias: ${lit.length} of ${F} neurons are above 0 for this word.`,
      total: out[k], terms, offers: other ? [] : [{ kind: "mlp", part, done: mute }],
    };
  };

  rules.neuron = function ({ side, stage, i, f }, { T, P, D, words, beside }) {
    const part = `${side}.${live.blockOf(stage)}.mlp`, W = P[part + ".inner.weight"], z = T.norms[stage][i].y;
    const terms = range(0, D).map((k) => ({
      label: [`W ${number(W[f * D + k])} · `, [number(z[k]), beside("norm", { stage, i, k })], ` (number ${k + 1})`],
      value: W[f * D + k] * z[k],
    }));
    terms.push({ label: ["bias"], value: P[part + ".inner.bias"][f] });
    const sum = terms.reduce((total, term) => total + term.value, 0), value = T.mlps[stage][i].inner[f];
    return {
      title: `Neuron ${f + 1} of MLP ${stage[1]} for “${words[i]}” is ${number(value)}`,
      about: "max(0, W z + bias): a neuron looks at one word's vector alone, and says nothing when the sum is below 0.",
      total: sum, terms, value,
    };
  };
});
