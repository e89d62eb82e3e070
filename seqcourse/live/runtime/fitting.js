// Two captions, and which of the pictures each of them fits: the same as seqcourse/live/fitting.py makes.
(function () {
  "use strict";
  const live = window.seqlive, { element, percent } = live;

  // The bytes (size, size, 3) of a picture that is in the page.
  async function pixelsOf(picture) {
    await picture.decode();
    const canvas = element("canvas", "", { width: picture.naturalWidth, height: picture.naturalHeight });
    const pen = canvas.getContext("2d", { willReadFrequently: true });
    pen.drawImage(picture, 0, 0);
    return Uint8Array.from(pen.getImageData(0, 0, canvas.width, canvas.height).data.filter((_, i) => (i & 3) !== 3));
  }

  live.views.fit = async function (root, form) {
    const [[name]] = live.modelsOf(root), texts = [form.elements.text.value, form.elements.other.value];
    root.pictures ||= await Promise.all([...root.querySelectorAll(".sq-fits img")].map(pixelsOf));
    const found = await live.send("fits", { name, texts, pictures: root.pictures }), said = [];
    const bodies = found.map(function ({ scores, shares }, k) {
      const body = element("tbody"), title = element("tr"), row = element("tr");
      const best = shares.indexOf(Math.max(...shares));
      title.append(element("th", texts[k], { scope: "rowgroup", colspan: shares.length }));
      shares.forEach(function (share, i) {
        const value = scores[i].toFixed(2).replace("-", "−"), mark = i === best ? { class: "sq-best" } : {};
        const cell = element("td", percent(share) + " ", { ...mark, style: `--w:${share.toFixed(3)}` });
        cell.append(element("small", i === best ? `best, ${value}` : value));
        row.append(cell);
      });
      body.append(title, row);
      said.push(`“${texts[k]}” fits picture ${best + 1} best (${percent(shares[best])}).`);
      return body;
    });
    const table = root.querySelector(".sq-fits");
    table.querySelectorAll("tbody").forEach((body) => body.remove());
    table.append(...bodies);
    return said.join(" ");
  };
})();
