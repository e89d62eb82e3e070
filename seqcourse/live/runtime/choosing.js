// How a translation is chosen word by word: the tree of a beam search.
(function () {
  "use strict";
  const live = window.seqlive, { element, map, modelsOf, show } = live;

  // A beam search as a tree that grows to the right: pruned candidates are pale, the best path is marked.
  function branch(nodes) {
    const list = element("ul");
    for (const { word, logProb, kept, best, next } of nodes) {
      const item = element("li"), node = element("span", word, { class: best ? "best" : kept ? "kept" : "pruned" });
      node.append(element("small", logProb.toFixed(2).replace("-", "−")));
      item.append(node);
      if (next.length) item.append(branch(next));
      list.append(item);
    }
    return list;
  }

  live.views.tree = async function (root, form) {
    const [name] = modelsOf(root)[0], text = form.elements.text.value;
    const width = Number(form.elements.width.value), alpha = Number(form.elements.alpha.value);
    const found = await live.send("grow", { name, text, width, alpha });
    const box = element("div", "", { class: "sq-scroll sq-tree" });
    box.append(branch(found.roots));
    show(root, element("p", found.text), box);
    return `${found.text} (score ${found.score.toFixed(2)})`;
  };
})();
