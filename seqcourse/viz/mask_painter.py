"""Paint a mask cell by cell and see what becomes of the weights: a table that answers in the browser."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from seqcourse.errors import CourseError
from seqcourse.viz.arrays import as_array, as_labels
from seqcourse.viz.html import Shown, new_id, style

WAYS = {
    "before": "\u2212\u221e before the softmax",
    "after": "0 after the softmax",
    "zero": "0 before the softmax",
}

_STYLE = style("mask_painter")

# All it knows stands in data-mask: scores, words, the ready-made masks and the one shown first.
_SCRIPT = """<script>(function(){
var root=document.getElementById("%s");if(!root)return;
var known=JSON.parse(root.dataset.mask),n=known.scores.length,m=known.keys.length;
var choose=root.querySelector("[data-sq-preset]"),way=root.querySelector("[data-sq-way]");
var cells=[],sums=root.querySelectorAll(".sq-sum"),said=root.querySelector("[role=status]");
root.querySelectorAll("tbody tr").forEach(function(r){cells.push(r.querySelectorAll(".sq-cell"));});
var mask=known.masks[choose.value].map(function(r){return r.slice();});
function row(i){var e=known.scores[i],w=way.value,top=-Infinity,total=0,out=[];
e.forEach(function(s,j){var on=mask[i][j]||w==="after";
out.push(on?s:w==="zero"?0:-Infinity);if(out[j]>top)top=out[j];});
if(top===-Infinity)return null;
out=out.map(function(s){var x=Math.exp(s-top);total+=x;return x;});
return out.map(function(x,j){return w==="after"&&!mask[i][j]?0:x/total;});}
function show(){var empty=[],off=[],leak=false;
for(var i=0;i<n;i++){var a=row(i),sum=0;if(!a)empty.push(known.words[i]);
for(var j=0;j<m;j++){var c=cells[i][j],x=a?a[j]:0,on=!!mask[i][j];sum+=x;
if(!on&&x>0)leak=true;c.textContent=x.toFixed(2);c.style.setProperty("--w",x.toFixed(3));
c.setAttribute("aria-pressed",String(on));
c.setAttribute("aria-label",known.words[i]+(on?" may look at ":" may not look at ")+known.keys[j]+
", weight "+x.toFixed(2));}
sums[i].textContent=sum.toFixed(2);var bad=Math.abs(sum-1)>0.005;
sums[i].classList.toggle("sq-off",bad);if(bad&&a)off.push(known.words[i]);}
var text="Every row sums to 1, and what is masked gets exactly 0.";
if(empty.length)text="Nothing to attend to for "+empty.join(", ")+": 0/0 is NaN in a plain softmax. "+
"The course's gives zeros.";
else if(off.length)text="The rows of "+off.join(", ")+" do not sum to 1: what was masked had already "+
"taken its share.";
else if(leak)text="What is masked still gets weight: a score of 0 is not nothing, since exp(0) = 1.";
said.textContent=text;}
function paint(i,j,on){if(!!mask[i][j]===on)return;mask[i][j]=on?1:0;choose.value="own";show();}
function focus(i,j){cells.forEach(function(r){r.forEach(function(c){c.tabIndex=-1;});});
cells[i][j].tabIndex=0;cells[i][j].focus();}
var brush=null,byMouse=false;
cells.forEach(function(r,i){r.forEach(function(c,j){
c.tabIndex=i+j?-1:0;c.disabled=false;
c.addEventListener("pointerdown",function(e){if(e.pointerType!=="mouse"||e.button)return;
byMouse=true;brush=!mask[i][j];paint(i,j,brush);});
c.addEventListener("pointerenter",function(e){
if(brush!==null&&e.pointerType==="mouse"&&e.buttons&1)paint(i,j,brush);});
c.addEventListener("click",function(){if(!byMouse)paint(i,j,!mask[i][j]);});
c.addEventListener("dragstart",function(e){e.preventDefault();});
c.addEventListener("keydown",function(e){
var to={ArrowUp:[i-1,j],ArrowDown:[i+1,j],ArrowLeft:[i,j-1],ArrowRight:[i,j+1],
Home:[i,0],End:[i,m-1]}[e.key];
if(!to)return;e.preventDefault();e.stopPropagation();
focus(Math.max(0,Math.min(n-1,to[0])),Math.max(0,Math.min(m-1,to[1])));});});});
window.addEventListener("pointerup",function(){brush=null;setTimeout(function(){byMouse=false;},0);});
choose.addEventListener("input",function(){var wanted=known.masks[choose.value];
if(wanted)mask=wanted.map(function(r){return r.slice();});show();});
way.addEventListener("input",show);
root.querySelector(".sq-controls").hidden=false;root.querySelector(".sq-note").hidden=false;
show();})();</script>"""


def mask_painter(
    scores: Any, words: Sequence[str], *, padding: int = 0, window: int = 1, start: str = "causal"
) -> Shown:
    """A table of attention weights whose mask a reader paints.

    A click, a stroke with the mouse, or arrow keys and space allow or forbid a cell; a list offers the
    usual masks, another one three ways to apply them, of which only the first is right. All of it
    happens in the browser, in JupyterLab as in the built page; without JavaScript the weights of the
    first mask are shown. Make the call the last line of its cell.

    Args:
        scores: raw scores, (N, N): a row per query, a column per key.
        words: the N words.
        padding: how many of the last words are padding; then there are masks that hide them.
        window: the local mask sees this many words to each side.
        start: the mask shown first: "none", "causal", "padded", "both" or "local".

    Raises:
        CourseError: if scores and words do not fit, or there is no such mask.
    """
    table = as_array(scores, "scores", 2)
    names = as_labels(words, "words")
    if table.shape != (len(names), len(names)):
        raise CourseError(
            f"scores should have a row and a column for each of the {len(names)} words, but their "
            f"shape is {table.shape}."
        )
    if not np.isfinite(table).all():
        raise CourseError("scores should be finite: the mask is painted here, not put into them.")
    masks = ready_masks(len(names), padding, window)
    if start not in masks:
        raise CourseError(f"start should be one of {', '.join(masks)}, but it is {start!r}.")
    weights = masked_softmax(table, masks[start][1])
    known = {
        "scores": np.round(table, 6).tolist(),
        "words": names,
        "keys": names,
        "masks": {name: mask.astype(int).tolist() for name, (_, mask) in masks.items()},
    }
    root = new_id("mask", json.dumps(known))
    body = (
        f'<div class="sq sq-card sq-mask" id="{root}" role="group" aria-label="Mask to paint" '
        f'data-mask="{html.escape(json.dumps(known))}">'
        f"{_controls(root, masks, start)}"
        f'<div class="sq-scroll">{_table(names, masks[start][1], weights)}</div>'
        f'<p role="status"></p>'
        f'<p class="sq-note" hidden>Rows: who looks. Columns: at whom. Click a cell to allow or forbid '
        f"it, hold the mouse to paint; or move with the arrow keys and press space.</p></div>"
    )
    return Shown(_STYLE + body + _SCRIPT % root, _plain(names, weights))


def ready_masks(size: int, padding: int, window: int) -> dict[str, tuple[str, np.ndarray]]:
    """The masks to choose from: name -> (label, boolean (N, N), True = may attend)."""
    if not 0 <= padding < size:
        raise CourseError(f"padding should be 0 to {size - 1} of {size} words, but it is {padding}.")
    if window < 0:
        raise CourseError(f"window should be at least 0, but it is {window}.")
    i, j = np.indices((size, size))
    causal, real, near = j <= i, j < size - padding, abs(i - j) <= window
    masks = {
        "none": ("everything allowed", np.ones((size, size), dtype=bool)),
        "causal": ("causal: not ahead", causal),
        "local": (f"local: {window} to each side", near),
    }
    if padding:
        masks["padded"] = ("padding hidden", real)
        masks["both"] = ("causal, padding hidden", causal & real)
    return masks


def masked_softmax(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Weights of each row; zeros where nothing may be attended to."""
    hidden = np.where(mask, scores, -np.inf)
    top = hidden.max(1, keepdims=True)
    exponentials = np.exp(hidden - np.where(np.isfinite(top), top, 0.0))
    total = exponentials.sum(1, keepdims=True)
    return exponentials / np.where(total > 0, total, 1.0)


def _controls(root: str, masks: dict[str, tuple[str, np.ndarray]], start: str) -> str:
    def chosen(kind: str, label: str, options: dict[str, str], first: str) -> str:
        items = "".join(
            f'<option value="{key}"{" selected" if key == first else ""}>{html.escape(text)}</option>'
            for key, text in options.items()
        )
        return (
            f'<div class="sq-control"><label for="{root}-{kind}">{label}</label><select '
            f'id="{root}-{kind}" data-sq-{kind} autocomplete="off">{items}</select></div>'
        )

    labels = {name: label for name, (label, _) in masks.items()} | {"own": "your own"}
    return (
        '<div class="sq-controls" hidden>'
        + chosen("preset", "mask", labels, start)
        + chosen("way", "masked by", WAYS, "before")
        + "</div>"
    )


def _table(words: list[str], mask: np.ndarray, weights: np.ndarray) -> str:
    head = "".join(f'<th scope="col">{html.escape(word)}</th>' for word in words)
    rows = []
    for i, word in enumerate(words):
        cells = "".join(
            f'<td><button type="button" disabled class="sq-cell" '
            f'aria-pressed="{str(bool(on)).lower()}" style="--w:{weight:.3f}">{weight:.2f}</button></td>'
            for on, weight in zip(mask[i], weights[i], strict=True)
        )
        rows.append(
            f'<tr><th scope="row">{html.escape(word)}</th>{cells}'
            f'<td class="sq-sum">{weights[i].sum():.2f}</td></tr>'
        )
    return (
        f'<table><thead><tr><td></td>{head}<th scope="col">sum</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _plain(words: list[str], weights: np.ndarray) -> str:
    lines = [
        f"{word:>10}  " + "  ".join(f"{weight:.2f}" for weight in row)
        for word, row in zip(words, weights, strict=True)
    ]
    return "Mask to paint; weights shown first:\n" + "\n".join(lines)
