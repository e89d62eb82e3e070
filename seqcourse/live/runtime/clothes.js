// A Vision Transformer on a small grey picture: what it shows, and the rollout of its attention.
seqlive.part(function (live) {
  "use strict";
  const { attention, concat, gelu, keysOf, layerNorm, linear, logSoftmax, think } = live;

  live.kinds.pictures = () => ({});

  // Bytes of a square picture, row by row, to patches as in `functional.patches`, from -1 to 1.
  live.patches = function (pixels, side, patch) {
    const across = side / patch, vectors = new Float32Array(side * side);
    let k = 0;
    for (let row = 0; row < across; row++)
      for (let column = 0; column < across; column++)
        for (let y = 0; y < patch; y++)
          for (let x = 0; x < patch; x++)
            vectors[k++] = pixels[(row * patch + y) * side + column * patch + x] / 127.5 - 1;
    return vectors;
  };

  live.models.ViT = function (P, sizes) {
    const { size, patch, width, heads, layers } = sizes, n = 1 + (size / patch) ** 2;
    return {
      // Log-probabilities of the classes, and maps [layer][head][query].
      see(pixels) {
        const squares = live.patches(pixels, size, patch);
        const embedded = linear(squares, n - 1, P["embed.project.weight"], P["embed.project.bias"]);
        let x = live.add(concat(P.class_token, embedded), P["positions.table"]);
        const maps = [];
        for (let l = 0; l < layers; l++) {
          const block = `blocks.${l}`, name = block + ".self_attention";
          const z = layerNorm(P, block + ".self_norm", x, n);
          const kv = keysOf(P, name, z, n, width);
          const found = attention(P, name, x, z, n, kv, width, heads);
          maps.push(found.maps);
          x = think(P, block + ".mlp", found.x, n, gelu);
        }
        const first = layerNorm(P, "norm", x.subarray(0, width), 1);
        return { logProbs: logSoftmax(linear(first, 1, P["head.weight"], P["head.bias"])), maps };
      },
    };
  };

  // Row 0 of `functional.attention_rollout`: a row vector times one layer after the other, the last first.
  live.rollout = function (maps) {
    const n = maps[0][0].length;
    let row = new Float64Array(n);
    row[0] = 1;
    for (const heads of [...maps].reverse()) {
      const before = row.map((value) => value / 2);
      for (const map of heads)
        for (let i = 0; i < n; i++)
          for (let j = 0; j < n; j++) before[j] += (row[i] * map[i][j]) / heads.length / 2;
      row = before;
    }
    return row;
  };

  // `pixels`: bytes of the picture, row by row. The rollout is that of the class token to the patches.
  live.classify = function ({ name, pixels }) {
    const { model, target } = live.systems[name], { logProbs, maps } = model.see(pixels);
    const patches = live.rollout(maps).subarray(1), sum = patches.reduce((a, b) => a + b, 0);
    return {
      classes: target.slice(live.SPECIALS.length),
      logProbs: Array.from(logProbs),
      rollout: Array.from(patches, (share) => share / sum),
    };
  };
});
