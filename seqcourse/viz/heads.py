"""What every head of every layer looks at: small maps to choose from, and a sentence to go through."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from seqcourse.errors import CourseError
from seqcourse.viz.arrays import as_array, as_labels
from seqcourse.viz.html import Shown, new_id, style
from seqcourse.viz.roles import ROLES
from seqcourse.viz.style import COLOURS

LEAST = 0.02  # a weight below is not drawn in the small maps

_STYLE = style("heads")

_SCRIPT = """<script>(function(){
var root=document.getElementById("%s");if(!root)return;
var maps=JSON.parse(root.dataset.maps),keys=root.querySelectorAll("span.sq-word"),
pictures=Array.from(root.querySelectorAll(".sq-map")),words=Array.from(root.querySelectorAll("button.sq-word")),
said=root.querySelector("[role=status]"),head=0,word=%d,heads=%d;
function show(at){var row=maps[head][at],best=0;
pictures.forEach(function(p,i){p.setAttribute("aria-pressed",String(i===head));
p.querySelector(".sq-row").setAttribute("y",at);});
words.forEach(function(w,i){w.setAttribute("aria-pressed",String(i===at));w.tabIndex=i===word?0:-1;});
keys.forEach(function(k,j){var x=row[j]/100;if(row[j]>row[best])best=j;
k.style.setProperty("--w",x.toFixed(2));
k.querySelector("small").textContent=x.toFixed(2);});
said.textContent="Layer "+(Math.floor(head/heads)+1)+", head "+(head%%heads+1)+": "+
words[at].textContent+" looks most at "+keys[best].dataset.word+" ("+(row[best]/100).toFixed(2)+").";}
function moves(list,columns,choose){list.forEach(function(b,i){
b.addEventListener("keydown",function(e){
var to={ArrowLeft:i-1,ArrowRight:i+1,ArrowUp:i-columns,ArrowDown:i+columns}[e.key];
if(to===undefined)return;e.preventDefault();e.stopPropagation();
if(to<0||to>=list.length)return;choose(to);list[to].focus();});
b.addEventListener("click",function(){choose(i);});});}
function chooseHead(i){head=i;pictures.forEach(function(p,k){p.tabIndex=k===i?0:-1;});show(word);}
function chooseWord(i){word=i;show(i);}
moves(pictures,heads,chooseHead);moves(words,words.length,chooseWord);
words.forEach(function(w,i){w.addEventListener("pointerenter",function(e){
if(e.pointerType==="mouse")show(i);});
w.addEventListener("pointerleave",function(){show(word);});});
root.querySelector(".sq-lines").hidden=false;chooseHead(0);})();</script>"""


def heads(maps: Any, words: Sequence[str], looked_at: Sequence[str] | None = None) -> Shown:
    """All attention maps of a sentence; a reader chooses a head and goes through the words.

    Small maps stand in a row for each layer, one for each head. Below are the words: those that look,
    and those looked at, shaded by the weights of the word under the mouse (or chosen by a click or the
    arrow keys). All of it happens in the browser, in JupyterLab as in the built page; without
    JavaScript the small maps are shown. Make the call the last line of its cell, or return it from the
    function of ``viz.type_in``.

    Args:
        maps: weights, (layers, H, N, M): a row per word that looks.
        words: the N words that look.
        looked_at: the M words that are looked at; ``words`` if they are the same.

    Raises:
        CourseError: if maps and words do not fit.
    """
    table = as_array(maps, "maps", 4)
    queries = as_labels(words, "words")
    keys = queries if looked_at is None else as_labels(looked_at, "looked_at")
    if table.shape[2:] != (len(queries), len(keys)):
        raise CourseError(
            f"maps should be (layers, heads, {len(queries)}, {len(keys)}), a row for each word that "
            f"looks and a column for each word looked at, but its shape is {table.shape}."
        )
    if table.min() < 0 or table.max() > 1 + 1e-3:
        raise CourseError("maps should hold weights between 0 and 1. Are these scores before a softmax?")
    flat = table.reshape(-1, *table.shape[2:])
    whole = json.dumps(np.rint(100 * flat).astype(int).tolist(), separators=(",", ":"))
    root = new_id("heads", whole + " ".join(queries))
    first = len(queries) // 2
    body = (
        f'<div class="sq sq-card sq-heads" id="{root}" role="group" aria-label="Attention heads" '
        f'data-maps="{whole}">{_grid(table)}<div class="sq-lines" hidden>'
        f'<div class="sq-line" role="group" aria-label="word that looks"><b>looks</b>'
        f"{''.join(_word(word, i == first) for i, word in enumerate(queries))}</div>"
        f'<div class="sq-line"><b>looked at</b>{"".join(map(_key, keys))}</div>'
        f'<p role="status"></p></div><p class="sq-note">One map per head, a row per layer; in a map, '
        f"rows look at columns. Choose a head, then point at a word, or use the arrow keys.</p></div>"
    )
    script = _SCRIPT % (root, first, table.shape[1])
    layers, count = table.shape[:2]
    return Shown(
        _STYLE + body + script, f"heads: {layers} layers of {count} heads on {' '.join(queries)}"
    )


def _grid(table: np.ndarray) -> str:
    """The small maps, a row of the grid per layer."""
    layers, count = table.shape[:2]
    cells = ["<span></span>", *(f"<span>head {h + 1}</span>" for h in range(count))]
    for layer in range(layers):
        cells.append(f"<span>layer {layer + 1}</span>")
        cells += [_map(table[layer, h], layer, h) for h in range(count)]
    return f'<div class="sq-grid" style="--heads:{count}">{"".join(cells)}</div>'


def _map(weights: np.ndarray, layer: int, head: int) -> str:
    """One map as a button with a picture of rectangles."""
    rows, columns = weights.shape
    squares = "".join(
        f'<rect x="{j}" y="{i}" width="1" height="1" opacity="{weights[i, j]:.2f}"/>'
        for i, j in zip(*np.nonzero(weights >= LEAST), strict=True)
    )
    chosen = layer == head == 0
    return (
        f'<button type="button" class="sq-map" aria-pressed="{str(chosen).lower()}" '
        f'tabindex="{0 if chosen else -1}" aria-label="layer {layer + 1}, head {head + 1}">'
        f'<svg viewBox="0 0 {columns} {rows}" aria-hidden="true">'
        f'<g fill="{ROLES["a"].light[1]}">{squares}</g>'
        f'<rect class="sq-row" x="0" y="-2" width="{columns}" height="1" fill="none" '
        f'stroke="{COLOURS["blue"]}" stroke-width=".18"/></svg></button>'
    )


def _word(word: str, chosen: bool) -> str:
    return (
        f'<button type="button" class="sq-word" aria-pressed="{str(chosen).lower()}">'
        f"{html.escape(word)}</button>"
    )


def _key(word: str) -> str:
    shown = html.escape(word)
    return f'<span class="sq-word" data-word="{shown}">{shown}<small>0.00</small></span>'
