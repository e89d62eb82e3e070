// From a sentence to word tokens and back, as in `seqcourse.data.text`.
seqlive.part(function (live) {
  "use strict";
  const SAME = { "’": "'", "‘": "'", "´": "'", "`": "'", "“": '"', "”": '"', "…": "...",
                 "\u00ad": "", "\u200b": "", "\ufeff": "" };
  // What Python calls white space and word characters: JavaScript's \s and \w are others.
  const SPACE = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u;
  const W = "[\\p{L}\\p{N}_]";
  const TOKEN = new RegExp(
    "(?:[\\p{L}\\p{Nl}\\p{No}]\\.){2,}" + // p.m.
      "|\\p{Nd}+(?:[.,:]\\p{Nd}+)+" + // 2:30
      `|${W}+(?:['-]${W}+)*` + // word, don't, far-off
      "|\\.{2,}|[^ ]",
    "gu",
  );
  // French: l'homme becomes l' homme, avez-vous becomes avez -vous.
  const ELISION = /^(?:l|d|j|qu|n|s|c|m|t|jusqu|lorsqu|puisqu|quoiqu)'(?=[aeiouyhàâæéèêëîïôœùû])/u;
  const CLITIC = new RegExp(
    `^(.*?${W})((?:-t)?-(?:je|tu|il|elle|on|nous|vous|ils|elles|ce|le|la|les|moi|toi|lui|leur|y|en))$`, "u",
  );
  const WHOLE = new Set(["rendez-vous"]);
  const CLOSING = new Set([".", ",", "!", "?", ";", ":", ")", "]", "}", "%", "»", "...", "°", "‽"]);
  const OPENING = new Set(["¿", "¡", "(", "[", "{", "«", "$", "€", "#"]);
  const SPACED_IN_FRENCH = new Set(["!", "?", ";", ":", "»"]);

  live.spaced = (text) => text.split(SPACE).filter(Boolean).join(" ");

  live.clean = function (text) {
    const same = text.normalize("NFC").replace(/[’‘´`“”…\u00ad\u200b\ufeff]/gu, (sign) => SAME[sign]);
    return live.spaced(same);
  };

  function splitFrench(word) {
    const before = [], after = [];
    for (let found; (found = ELISION.exec(word)); word = word.slice(found[0].length)) before.push(found[0]);
    for (let found; !WHOLE.has(word) && (found = CLITIC.exec(word)); word = found[1]) after.unshift(found[2]);
    return [...before, word, ...after];
  }

  live.tokenize = function (text) {
    const pieces = live.clean(text).toLowerCase().normalize("NFC").match(TOKEN) || [];
    return pieces.flatMap((piece) => (/['-]/.test(piece) ? splitFrench(piece) : [piece]));
  };

  live.isWord = (token) => /[\p{L}\p{N}]/u.test(token);

  live.detokenize = function (tokens, language) {
    const french = language === "fr";
    let text = "", glued = true, open = false;
    for (const token of tokens) {
      let space = " ", next = false; // next: the token after this one is glued to it
      if (token === '"') {
        space = open ? "" : " ";
        next = !open;
        open = !open;
      } else if (CLOSING.has(token)) space = french && SPACED_IN_FRENCH.has(token) ? " " : "";
      else if (OPENING.has(token)) next = !(french && token === "«");
      else if (token.length > 1 && token.startsWith("-")) space = "";
      else if (token.length > 1 && token.endsWith("'")) next = true;
      text += glued || !text ? token : space + token;
      glued = next;
    }
    return text;
  };
});
