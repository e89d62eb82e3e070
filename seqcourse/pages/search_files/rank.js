// Ranks the sections of the book for a query. Knows nothing of the page: results.js shows what it finds.
const seqsearch = (function () {
  "use strict";
  // What a word counts in a title, among the glossary's terms for a section, in the titles of the page and
  // the sections around it, in its text, among the functions that its code calls.
  const WEIGHTS = { title: 7, keywords: 6, within: 1.5, text: 1, code: 0.4 };
  const LENGTHS = { title: 0.3, keywords: 0.3, within: 0, text: 0.6, code: 0.3 }; // how much a long field counts less
  const SATURATION = 2; // a word's tenth occurrence says little more than its fifth
  // These titles stand in every chapter, and an entry of the glossary leads on to the section itself.
  const GENERIC = /(^|\d )(Exercises|Sources|What we now know)$/;
  const LESS = { generic: 0.4, entry: 0.5 };
  const ENOUGH = 0.2; // of the best score: what has less is not shown
  const STOP = new Set(
    ("a an and are as at be by can do does for from has have how i in into is it its not of on one or so " +
      "that the their there these they this to was what when where which who why will with you").split(" "),
  );
  // Words that a reader may type for a word that the book uses.
  const ALIASES = {
    sqrt: ["root"], "√": ["root"], square: ["root"], dimension: ["width"], cnn: ["convolution"],
    rnn: ["recurrent"], seq2seq: ["decoder", "sequence"], encoding: ["position"], positional: ["position"],
    kv: ["key-value"], mha: ["multi-head"], ffn: ["mlp"], feedforward: ["mlp"], norm: ["normalisation"],
    dropout: ["regularise"], install: ["installing"], marks: ["grade"], submission: ["work"], submissions: ["work"], asr: ["speech"], vit: ["patch"],
    layernorm: ["layer normalisation"], bpe: ["byte-pair"], plagiarism: ["similar work"],
    cheating: ["similar work", "forbidden"], axis: ["row"], teacher: ["forcing"], product: ["dot"], oov: ["unknown"], topk: ["sampling"], caching: ["cache"],
  };

  // One form for the singular and the plural, for "mask", "masked" and "masking", for -ise and -ize.
  function stem(word) {
    let s = word.replace(/iz(e|es|ed|ing|ation|ations)$/, "is$1");
    if (/ies$/.test(s) && s.length > 4) s = s.slice(0, -3) + "y";
    else if (/(ss|x|ch|sh)es$/.test(s)) s = s.slice(0, -2);
    else if (/[^su]s$/.test(s) && s.length > 3 && !/is$/.test(s)) s = s.slice(0, -1);
    const cut = s.match(/^(.*[aeiouy].*?)(ations?|ate|ing|ed)$/);
    if (cut && cut[1].length > 2) s = cut[1].replace(/([^aeiousl])\1$/, "$1");
    return s.length > 4 ? s.replace(/e$/, "") : s;
  }

  function words(text) {
    const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/['’]s\b/g, "");
    return plain.match(/\p{L}+\p{N}*|\p{N}+|√/gu) || [];
  }

  const stems = (text) => words(text).map(stem);

  // Sections with their words counted, from what sections.js brings; `weights` of pages are 1 if not given.
  function index(given, weights) {
    const sections = given.map(function (section, place) {
      const { title, text = "", keywords = [], within = [], code = "", page } = section;
      const said = { title, keywords: keywords.join(" ; "), within: within.join(" ; "), text, code };
      const fields = Object.fromEntries(Object.entries(said).map(([k, v]) => [k, stems(v)]));
      const counts = new Map();
      for (const [field, list] of Object.entries(fields))
        for (const one of list) {
          if (!counts.has(one)) counts.set(one, { title: 0, keywords: 0, within: 0, text: 0, code: 0 });
          counts.get(one)[field] += 1;
        }
      // What the section is about, in whole: a query that says just this means this section.
      const names = [title.replace(/^[\d.]+ /, ""), ...keywords].map((name) => stems(name).join(" "));
      const generic = GENERIC.test(title) ? LESS.generic : 1, entry = section.entry ? LESS.entry : 1;
      const share = generic * entry * (weights[page] || 1);
      return { ...section, text, within, fields, counts, names, share, place };
    });
    const means = {}, having = new Map(); // how many sections have a word
    for (const field of Object.keys(WEIGHTS))
      means[field] = sections.reduce((sum, s) => sum + s.fields[field].length, 0) / sections.length || 1;
    for (const section of sections)
      for (const one of section.counts.keys()) having.set(one, (having.get(one) || 0) + 1);
    return { sections, means, having };
  }

  // The words of a query that count, each with the stems that may stand for it and how well they do.
  function terms(query, known) {
    const all = words(query), telling = all.filter((w) => !STOP.has(w));
    const long = telling.filter((w) => w.length > 1 || w === "√");
    const used = [...new Set(long.length ? long : telling.length ? telling : all)];
    return used.map(function (word, k) {
      const meant = new Map([[stem(word), 1]]);
      for (const other of (Object.hasOwn(ALIASES, word) ? ALIASES[word] : []).flatMap(stems))
        if (!meant.has(other)) meant.set(other, 0.7);
      // What is being typed may be the beginning of a longer word.
      if (k === used.length - 1 && word.length > 2 && !known.having.has(stem(word)))
        for (const other of known.having.keys())
          if (other.startsWith(word) && !meant.has(other)) meant.set(other, 0.6);
      return { word, meant };
    });
  }

  // Okapi's BM25 over several fields, for one word of the query in one section.
  function weight(term, section, known) {
    let best = 0;
    for (const [one, share] of term.meant) {
      const counts = section.counts.get(one);
      if (!counts) continue;
      let often = 0;
      for (const [field, value] of Object.entries(WEIGHTS)) {
        const length = section.fields[field].length / known.means[field];
        often += (value * counts[field]) / (1 - LENGTHS[field] + LENGTHS[field] * length);
      }
      const rare = Math.log(1 + known.sections.length / known.having.get(one));
      best = Math.max(best, (share * rare * often) / (SATURATION + often));
    }
    return best;
  }

  // Whether the words of the query stand in a field in one piece.
  const inOnePiece = (query, list) => ` ${list.join(" ")} `.includes(` ${query} `);

  function find(query, known) {
    const asked = terms(query, known);
    if (!asked.length) return { found: [], asked };
    const phrase = stems(query).join(" ");
    const found = [];
    for (const section of known.sections) {
      const weights = asked.map((term) => weight(term, section, known));
      const met = weights.filter(Boolean).length;
      if (!met) continue;
      let score = weights.reduce((a, b) => a + b) * (met / asked.length) ** 2;
      if (section.names.includes(phrase)) score *= 2;
      else if (inOnePiece(phrase, section.fields.title)) score *= 1.5;
      else if (asked.length > 1 && inOnePiece(phrase, section.fields.text)) score *= 1.2;
      found.push({ section, score: score * section.share });
    }
    found.sort((a, b) => b.score - a.score || a.section.place - b.section.place);
    return { found: found.filter((hit) => hit.score > ENOUGH * found[0].score), asked };
  }

  // How many letters must be changed, added, taken away or swapped to make one word the other.
  function distance(a, b) {
    const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
    for (let i = 1; i <= a.length; i += 1) {
      rows.push([i]);
      for (let j = 1; j <= b.length; j += 1) {
        const same = a[i - 1] === b[j - 1];
        let least = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + !same);
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
          least = Math.min(least, rows[i - 2][j - 2] + 1);
        rows[i].push(least);
      }
    }
    return rows[a.length][b.length];
  }

  // The query with each unknown word replaced by the nearest that the book has, or null.
  function suggest(query, known) {
    const often = new Map();
    for (const section of known.sections)
      for (const word of words(`${section.title} ${section.text}`))
        if (word.length > 3) often.set(word, (often.get(word) || 0) + 1);
    let changed = false;
    const better = words(query).map(function (word) {
      if (known.having.has(stem(word)) || STOP.has(word)) return word;
      let best = null;
      for (const [other, count] of often) {
        if (Math.abs(other.length - word.length) > 2) continue;
        const far = distance(word, other);
        if (far > (word.length > 5 ? 2 : 1)) continue;
        if (!best || far < best.far || (far === best.far && count > best.count)) best = { other, far, count };
      }
      changed ||= Boolean(best);
      return best ? best.other : null;
    });
    return changed ? better.filter(Boolean).join(" ") : null;
  }

  // About thirty words of a text with as many words of the query as possible; null if it has none.
  function snippet(text, asked) {
    const meant = new Set(asked.flatMap((term) => [...term.meant.keys()]));
    const pieces = text.split(" ");
    const hits = pieces.map((piece) => stems(piece).find((one) => meant.has(one)));
    const width = 32;
    let best = { start: 0, value: 0 };
    for (let start = 0; start < Math.max(1, pieces.length - width / 2); start += 1) {
      const inside = hits.slice(start, start + width).filter(Boolean);
      const begins = start === 0 || /[.!?:]$/.test(pieces[start - 1]);
      const value = new Set(inside).size * 4 + Math.min(inside.length, 4) + (begins ? 1.5 : 0);
      if (inside.length && value > best.value) best = { start, value };
    }
    const { start } = best, end = Math.min(pieces.length, start + width);
    return {
      before: start > 0 ? "… " : "",
      words: pieces.slice(start, end).map((text, k) => ({ text, hit: Boolean(hits[start + k]) })),
      after: end < pieces.length ? " …" : "",
    };
  }

  return { index, find, suggest, snippet, stem };
})();
