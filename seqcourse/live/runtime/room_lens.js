// The lens of the machine room: a number, and the sum that made it. Each term names the numbers that it is
// made of, and each of those can be asked in turn.
(function () {
  "use strict";
  const live = window.seqlive, { element } = live, rooms = live.rooms, { number } = rooms;
  const MOST = 8, LARGE = 8; // terms of a sum; rows of a map
  // What a node is, for readers who hear "0.42" and nothing beside it.
  const KINDS = {
    carried: "what is handed over", credit: "reasons", embedding: "embedding", head: "map", logit: "score",
    mean: "mean", mlp: "sum", neuron: "neuron", norm: "normalised number", piece: "share by numbers",
    place: "position", project: "projection", score: "score", share: "share", spread: "spread",
    state: "number of the stream", weight: "weight", turned: "turned number", wrote: "sum",
  };

  // How large a term is, now or before the changes; the largest come first.
  const size = ({ value, before = 0 }) => Math.max(Math.abs(value), Math.abs(before));
  const sorted = (terms) => [...terms].sort((a, b) => size(b) - size(a));
  const plain = (label) => label.map((part) => (Array.isArray(part) ? part[0] : part)).join("");

  // A line of a sum: a label with buttons, a bar to the left or right of zero, the value.
  function line(room, { label, value, before }, top) {
    const row = element("li"), said = element("span"), bar = element("i", "", { "aria-hidden": "true" });
    for (const part of label)
      if (Array.isArray(part)) {
        const [text, node] = part;
        const button = element("button", text, { type: "button", "data-node": node.t, "aria-label": `${text}, open: ${KINDS[node.t]}` });
        button.addEventListener("click", () => room.deeper(node));
        said.append(button);
      } else said.append(part);
    const long = (x) => `${((48 * x) / top).toFixed(1)}%`;
    bar.style.cssText = `--w:${long(Math.abs(value))};--b:${long(before ?? 0)}`;
    bar.classList.toggle("sq-below", value < 0);
    bar.classList.toggle("sq-changed", before !== undefined);
    row.append(said, bar, element("em", number(value)));
    return row;
  }

  // A sum: its largest terms and the rest of them together, until all are asked for.
  function sum(room, { terms, total, before }) {
    const add = (of, what) => of.reduce((all, term) => all + term[what], 0), isChanged = before !== undefined;
    const list = element("ul", "", { class: "sq-room-sum" });
    const order = terms.length > MOST + 1 ? sorted(terms) : terms;
    function fill(count) {
      const shown = order.slice(0, count), rest = order.slice(count);
      const together = { label: [], value: add(rest, "value"), ...(isChanged && { before: add(rest, "before") }) };
      const top = Math.max(...[...shown, together].map(size), 1e-12);
      list.replaceChildren(...shown.map((term) => line(room, term, top)));
      if (rest.length) {
        const row = line(room, together, top);
        const more = element("button", `the other ${rest.length} together`, { type: "button" });
        more.addEventListener("click", function () {
          fill(order.length);
          list.children[count].querySelector("button")?.focus();
        });
        row.firstChild.append(more);
        list.append(row);
      }
      const end = element("li", "", { class: "sq-room-total" });
      end.append(element("span", "sum"), element("i"), element("em", number(total)));
      list.append(end);
      if (isChanged) {
        const was = element("li");
        was.append(element("span", "sum before your changes"), element("i"), element("em", number(before)));
        list.append(was);
      }
    }
    fill(order.length > MOST + 1 ? MOST : order.length);
    return list;
  }

  // The same as a sentence, for those who do not see the bars.
  function sentence({ title, terms, total, before }) {
    const order = sorted(terms).slice(0, 4);
    const rest = terms.length - order.length;
    const was = (x) => (x === undefined ? "" : ` (before your changes ${number(x)})`);
    const parts = order.map(({ label, value, before }) => `${number(value)}${was(before)} by ${plain(label)}`);
    return `${title}. The sum ${number(total)}${was(before)} is made of ${parts.join("; ")}${rest ? `; and ${rest} more terms` : ""}.`;
  }

  // The numbers of a vector, one to choose; arrow keys go from one to the next.
  function grid(room, { vector, k }, node) {
    const box = element("div", "", { class: "sq-room-grid", role: "group", "aria-label": `The ${vector.length} numbers of this vector` });
    const top = Math.max(...vector.map(Math.abs)), columns = vector.length % 24 ? 16 : 24;
    box.style.setProperty("--columns", columns);
    vector.forEach(function (value, at) {
      const cell = element("button", "", {
        type: "button", "aria-pressed": at === k, tabindex: at === k ? 0 : -1, title: `${at + 1}: ${number(value)}`,
        "aria-label": `number ${at + 1}: ${number(value)}`, class: value < 0 ? "sq-below" : "",
        style: `--w:${((100 * Math.abs(value)) / top).toFixed(0)}%`,
      });
      cell.addEventListener("click", () => room.turn({ ...node, k: at }));
      box.append(cell);
    });
    box.addEventListener("keydown", function (event) {
      const [right, down] = live.arrows[event.key] ?? [], goal = k + right + columns * down;
      if (right === undefined || !(goal in vector)) return;
      event.preventDefault();
      room.turn({ ...node, k: goal });
    });
    return box;
  }

  // The head of a row or a column: of a word that is counted, the count is small.
  function heading(name, scope) {
    const [, word, count] = /^(.*?)(?: \((\d+\w\w)\))?$/.exec(name), made = element("th", word, { scope, title: name });
    if (count) made.append(" ", element("small", count));
    return made;
  }

  function map(room, { rows, columns, weights, nodes, labels, asks }) {
    const table = element("table", "", { class: "sq-room-weights" }), head = element("tr"), body = element("tbody");
    head.append(element("td"), ...columns.map((word) => heading(String(word), "col")));
    rows.forEach(function (word, i) {
      const row = element("tr", "", i === asks ? { class: "sq-room-asks" } : {});
      row.append(heading(word, "row"));
      weights[i].forEach(function (weight, j) {
        const cell = element("td"), text = weight.toFixed(2);
        const label = `${text}: ${labels ? labels[i][j] : `${word} looks at ${columns[j]}`}`, style = `--w:${(100 * weight).toFixed(0)}%`;
        const button = element("button", text, { type: "button", "data-node": "weight", style, "aria-label": label });
        button.addEventListener("click", () => room.deeper(nodes[i][j]));
        cell.append(button);
        row.append(cell);
      });
      body.append(row);
    });
    const all = [...body.querySelectorAll("button")]; // one stop for the Tab key; arrow keys walk
    all.forEach((one, k) => (one.tabIndex = k ? -1 : 0));
    body.addEventListener("keydown", function (event) {
      const [right, down] = live.arrows[event.key] ?? [], at = all.indexOf(event.target), x = at % columns.length + right;
      const goal = x >= 0 && x < columns.length && all[at + right + columns.length * down];
      if (right === undefined || at < 0) return;
      event.preventDefault();
      if (!goal) return;
      [event.target.tabIndex, goal.tabIndex] = [-1, 0];
      goal.focus();
    });
    const top = element("thead"), box = element("div", "", { class: rows.length > LARGE ? "sq-room-scroll sq-room-large" : "sq-room-scroll" });
    top.append(head);
    table.append(top, body);
    box.append(table);
    return box;
  }

  function nearest({ kind, words }) {
    const isNext = kind === "next", shown = ([word, value]) => `${word} ${isNext ? live.percent(value) : number(value)}`;
    const said = isNext ? "If this were the last state, it would write" : "Nearest words, by the cosine with their embeddings";
    return element("p", `${said}: ${words.map(shown).join(", ")}.`, { class: "sq-room-near" });
  }

  // How the reader came here: each step can be gone back to.
  function trail(room) {
    const nav = element("nav", "", { class: "sq-room-trail", "aria-label": "How you came here" });
    room.trail.slice(0, -1).forEach(function ({ title }, step) {
      const back = element("button", title, { type: "button" });
      back.addEventListener("click", () => room.back(step));
      nav.append(back, " › ");
    });
    return nav;
  }

  // Whom the word is compared with.
  function rivals(room, found, node) {
    const label = element("label", "Compared with ", { class: "sq-room-do" }), list = element("select");
    list.append(...found.rivals.map(({ id, word }) => element("option", word, { value: id })));
    list.value = found.rival;
    list.addEventListener("change", () => room.turn({ ...node, id: found.id, rival: Number(list.value) }));
    label.append(list);
    return label;
  }

  rooms.lens = function (room, box, found) {
    const node = room.trail.at(-1).node;
    const close = element("button", "×", { type: "button", class: "sq-room-close", "aria-label": "× close" });
    close.addEventListener("click", () => room.close());
    const title = element("p", found.title, { class: "sq-room-title", tabindex: -1 });
    const parts = [close, trail(room), title];
    if (found.nearest) parts.push(nearest(found.nearest));
    parts.push(element("p", found.about, { class: "sq-room-about" }));
    if (found.vector) parts.push(grid(room, found, node), element("p", `Number ${found.k + 1} is ${number(found.total)}:`));
    if (found.map) parts.push(map(room, found.map));
    if (found.before !== undefined) parts.push(element("p", "The thin line on a bar: before your changes.", { class: "sq-room-key" }));
    if (found.terms) parts.push(element("p", sentence(found), { class: "sq-heard" }), sum(room, found));
    if (found.rivals) parts.push(rivals(room, found, node));
    parts.push(...(found.offers ?? []).map((offer) => rooms.offer(room, offer)));
    box.replaceChildren(...parts);
    box.hidden = false;
    const asks = [...box.querySelectorAll(".sq-room-large .sq-room-asks button")], table = asks[0]?.closest(".sq-room-scroll");
    if (table) { // the row of the chosen word is in sight, and where it looks most
      const most = asks[found.map.weights[found.map.asks].indexOf(Math.max(...found.map.weights[found.map.asks]))];
      [table.scrollTop, table.scrollLeft] = [table.scrollHeight, most.offsetLeft - table.clientWidth / 2];
    }
    return title;
  };
})();
