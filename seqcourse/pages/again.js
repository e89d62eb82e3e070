// What a reader answered, kept in this browser alone and under one key, and what of it comes back: after
// 1, 7 and 30 days. A wrong answer begins again. Nothing is sent.
(() => {
  "use strict";
  const KEY = "seq-answers", WAITS = [1, 7, 30], DAY = 86_400_000;
  const BLOCKED = "This browser keeps nothing for these pages, so nothing can come back.";
  const today = () => Math.floor(Date.now() / DAY - new Date().getTimezoneOffset() / 1440);
  const due = ({ day, stage }) => stage < WAITS.length && today() >= day + WAITS[stage];
  const sound = (one) => Number.isInteger(one?.day) && Number.isInteger(one.stage) && one.stage >= 0;

  function read() { // undefined where the browser forbids it
    try {
      const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}");
      return Object.fromEntries(Object.entries(kept).filter(([, one]) => sound(one)));
    } catch (error) { return error instanceof SyntaxError ? {} : undefined; }
  }

  function write(answers) {
    try { localStorage.setItem(KEY, JSON.stringify(answers)); return true; } catch { return false; }
  }

  const seen = new Set(); // of a question asked twice in one visit the first answer counts
  function answered(name, right) {
    const answers = read(), before = answers?.[name];
    if (!answers || !name || seen.has(name)) return;
    seen.add(name);
    if (before && right && !due(before)) return;
    const stage = right && before ? Math.min(before.stage + 1, WAITS.length) : 0;
    write({ ...answers, [name]: { day: today(), stage, right } });
  }

  document.addEventListener("sq-answered", ({ detail }) => answered(detail.name, detail.right));
  document.addEventListener("toggle", ({ target }) => { // a poll has no script of its own
    const poll = target.open && !target.matches(".sq-show") && target.closest(".sq-poll[data-asked]");
    if (poll) answered(poll.dataset.asked, target.matches(".sq-is-right"));
  }, true);

  if (location.hash.startsWith("#asked-")) {
    const name = decodeURIComponent(location.hash.slice(7));
    [...document.querySelectorAll("[data-asked]")].find((card) => card.dataset.asked === name)?.scrollIntoView();
  }

  const line = document.querySelector(".seq-again-line");
  if (line) {
    const count = Object.values(read() ?? {}).filter(due).length;
    line.hidden = !count;
    line.querySelector("b").textContent = count === 1 ? "1 question" : `${count} questions`;
  }

  const page = document.querySelector(".seq-again");
  if (!page) return;
  const say = page.querySelector("[role=status]"), place = page.querySelector(".seq-again-due");
  const asked = new Map([...page.querySelectorAll("template")].map((each) => [each.dataset.of, each]));

  function show(first = "") {
    const answers = read();
    place.replaceChildren();
    page.querySelectorAll("button, input").forEach((control) => { control.disabled = !answers; });
    if (!answers) { say.textContent = BLOCKED; return; }
    const names = Object.keys(answers).filter((name) => asked.has(name));
    const now = names.filter((name) => due(answers[name]));
    const later = names.filter((name) => answers[name].stage < WAITS.length && !now.includes(name));
    const days = later.map((name) => answers[name].day + WAITS[answers[name].stage] - today());
    const wait = Math.min(...days), when = wait === 1 ? "tomorrow" : `in ${wait} days`;
    const next = later.length ? ` The next one comes back ${when}.` : "";
    say.textContent = `${first}${names.length} answered, ${now.length} to be asked again today.${now.length ? "" : next}`;
    now.forEach((name) => {
      const { content, dataset } = asked.get(name), link = document.createElement("a");
      link.href = `${dataset.page}.html#asked-${name}`;
      link.textContent = name.startsWith("hand/") ? "Work it out in its chapter" : "The place in its chapter";
      place.append(content.cloneNode(true), link);
    });
    document.dispatchEvent(new Event("sq-added"));
  }

  function save(text, name, type) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // Anki shows HTML, and formulas between \( and \).
  function html(nodes) {
    const copy = document.createElement("div");
    nodes.forEach((node) => copy.append(node.cloneNode(true)));
    copy.querySelectorAll(".math").forEach((each) => {
      each.replaceWith(`\\(${each.querySelector("annotation")?.textContent.trim() ?? each.textContent}\\)`);
    });
    copy.querySelectorAll("script, button, input, [hidden], .sq-note, .sq-kind").forEach((each) => each.remove());
    copy.querySelectorAll("*").forEach((each) => ["class", "id"].forEach((mark) => each.removeAttribute(mark)));
    return copy.innerHTML.replace(/\s+/g, " ").trim();
  }

  function cards() {
    const lines = Object.keys(read() ?? {}).filter((name) => asked.has(name)).map((name) => {
      const { content, dataset } = asked.get(name), folds = [...content.querySelectorAll("details")];
      const right = folds.find((fold) => fold.matches(".sq-is-right")) ?? folds.at(-1);
      const options = folds.filter((fold) => fold.name).map((fold) => fold.querySelector("summary"));
      const front = [...content.querySelectorAll(".sq-question, .sq-given"), ...options.map((option) => {
        const line = document.createElement("div");
        line.append("– ", ...option.cloneNode(true).childNodes);
        return line;
      })];
      const back = right.name ? [...right.children] : [...right.querySelectorAll("p")];
      return [name, html(front), html(back), `seqcourse::${dataset.page}`].join("\t");
    });
    return ["#separator:tab", "#html:true", "#guid column:1", "#tags column:4", "#deck:seqcourse", ...lines, ""]
      .join("\n");
  }

  async function take(file) {
    let found;
    try { found = JSON.parse(await file.text()); } catch { /* not JSON */ }
    const kept = Object.entries(found ?? {}).filter(([name, one]) => asked.has(name) && sound(one));
    if (!kept.length) { say.textContent = "This file holds no answers that were exported here."; return; }
    const answers = read();
    kept.forEach(([name, { day, stage, right }]) => {
      if (!answers[name] || answers[name].day < day) answers[name] = { day, stage, right: Boolean(right) };
    });
    write(answers);
    show("Read. ");
  }

  const [out, anki, forget] = page.querySelectorAll("button"), file = page.querySelector("input[type=file]");
  out.addEventListener("click", () => save(JSON.stringify(read()), "seqcourse-answers.json", "application/json"));
  anki.addEventListener("click", () => save(cards(), "seqcourse-anki.txt", "text/plain"));
  file.addEventListener("change", () => file.files[0] && take(file.files[0]));
  forget.addEventListener("click", () => {
    if (!confirm("Delete everything that this browser keeps of your answers?")) return;
    localStorage.removeItem(KEY);
    seen.clear();
    show("Deleted. ");
  });
  page.querySelector(".seq-again-tools").hidden = false;
  show();
})();
