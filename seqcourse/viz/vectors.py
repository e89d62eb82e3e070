"""Drag a query and keys in the plane and see what becomes of scores and weights."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from seqcourse.errors import CourseError
from seqcourse.viz.arrays import as_array
from seqcourse.viz.html import Shown, new_id, style

REACH = 3.0  # the plane shows -3 to 3 in both directions
UNIT = 50  # pixels
MIDDLE = 165
FACTORS = (0.25, 0.5, 1, 2, 4, 8)

_STYLE = style("vectors")

# All it knows stands in data-vectors: names, keys and query; place 0 of the handles is the query.
_SCRIPT = """<script>(function(){
var root=document.getElementById("%s");if(!root)return;
var known=JSON.parse(root.dataset.vectors),svg=root.querySelector("svg");
var places=[known.query].concat(known.keys),names=["query"].concat(known.names);
var handles=root.querySelectorAll(".sq-handle"),arrows=root.querySelectorAll("[data-sq-arrow]");
var rows=root.querySelectorAll("tbody tr"),factor=root.querySelector("[data-sq-factor]");
var out=root.querySelector("[data-sq-output]"),said=root.querySelector("[role=status]");
var R=known.reach,U=known.unit,M=known.middle;
function px(v){return [M+U*v[0],M-U*v[1]];}
function line(l,v){var p=px(v);l.setAttribute("x2",p[0]);l.setAttribute("y2",p[1]);}
function num(x){return x.toFixed(2).replace("-","\\u2212");}
function show(){var q=places[0],f=parseFloat(factor.value)/Math.SQRT2,top=-Infinity,total=0;
var e=places.slice(1).map(function(k){return f*(q[0]*k[0]+q[1]*k[1]);});
e.forEach(function(x){if(x>top)top=x;});
var a=e.map(function(x){var y=Math.exp(x-top);total+=y;return y;});
var y=[0,0],text=[];a=a.map(function(x){return x/total;});
a.forEach(function(w,i){y[0]+=w*places[i+1][0];y[1]+=w*places[i+1][1];
var cells=rows[i].querySelectorAll("td");cells[0].textContent=num(e[i]);
cells[1].textContent=w.toFixed(2);cells[2].firstChild.style.setProperty("--w",w.toFixed(3));
text.push(known.names[i]+" "+w.toFixed(2));});
places.forEach(function(v,i){var p=px(v),h=handles[i];line(arrows[i],v);
h.setAttribute("transform","translate("+p[0]+","+p[1]+")");
h.setAttribute("aria-valuenow",v[0].toFixed(1));
h.setAttribute("aria-valuetext","x "+v[0].toFixed(1)+", y "+v[1].toFixed(1));});
line(arrows[places.length],y);var p=px(y);out.setAttribute("cx",p[0]);out.setAttribute("cy",p[1]);
return "Weights: "+text.join(", ")+". Output: x "+num(y[0])+", y "+num(y[1])+".";}
function move(i,x,y){places[i]=[x,y].map(function(c){
return Math.max(-R,Math.min(R,Math.round(20*c)/20));});return show();}
handles.forEach(function(h,i){h.setAttribute("tabindex","0");
function at(e){var p=svg.createSVGPoint();p.x=e.clientX;p.y=e.clientY;
p=p.matrixTransform(svg.getScreenCTM().inverse());move(i,(p.x-M)/U,(M-p.y)/U);}
h.addEventListener("pointerdown",function(e){if(e.button)return;e.preventDefault();h.focus();
h.setPointerCapture(e.pointerId);});
h.addEventListener("pointermove",function(e){if(h.hasPointerCapture(e.pointerId))at(e);});
h.addEventListener("pointerup",function(){said.textContent=show();});
h.addEventListener("keydown",function(e){var d=e.shiftKey?0.5:0.1,
to={ArrowLeft:[-d,0],ArrowRight:[d,0],ArrowUp:[0,d],ArrowDown:[0,-d]}[e.key];
if(!to)return;e.preventDefault();e.stopPropagation();
said.textContent=move(i,places[i][0]+to[0],places[i][1]+to[1]);});});
factor.addEventListener("input",function(){said.textContent=show();});
root.querySelector(".sq-controls").hidden=false;root.querySelector(".sq-note").hidden=false;
said.textContent=show();})();</script>"""


def vectors(keys: Mapping[str, Sequence[float]], query: Sequence[float]) -> Shown:
    r"""Keys and a query as arrows that a reader moves; scores, weights and output follow.

    .. math:: e_i = \beta\, q \cdot k_i / \sqrt{2}, \qquad a = \mathrm{softmax}(e), \qquad
        y = \sum_i a_i k_i

    The keys are the values too. Arrows are moved with mouse, finger or arrow keys (with shift in
    larger steps); a list chooses the factor :math:`\beta`. All of it happens in the browser, in
    JupyterLab as in the built page; without JavaScript the first state is shown. Make the call the
    last line of its cell.

    Args:
        keys: name -> (x, y), two to eight of them, entries from -3 to 3.
        query: (x, y).

    Raises:
        CourseError: if there are too few or too many keys, or a vector is not two numbers in reach.
    """
    if not isinstance(keys, Mapping) or not 2 <= len(keys) <= 8:
        raise CourseError(f"keys should map two to eight names to (x, y), but they are {keys!r}.")
    names = [str(name) for name in keys]
    table = np.stack([_checked(f"The key {name!r}", place) for name, place in keys.items()])
    asked = _checked("The query", query)
    scores, weights, output = attend(table, asked)
    known = {
        "names": names,
        "keys": table.tolist(),
        "query": asked.tolist(),
        "reach": REACH,
        "unit": UNIT,
        "middle": MIDDLE,
    }
    root = new_id("vectors", json.dumps(known))
    body = (
        f'<div class="sq sq-card sq-vectors" id="{root}" role="group" aria-label="Query and keys to '
        f'drag" data-vectors="{html.escape(json.dumps(known))}">{_controls(root)}'
        f'<div class="sq-plane">{_plane(names, table, asked, output)}'
        f'<div class="sq-scroll">{_table(names, scores, weights)}</div></div>'
        f'<p role="status"></p>'
        f'<p class="sq-note" hidden>Drag the ends of the arrows, or choose one with the tab key and '
        f"move it with the arrow keys (shift: larger steps). Dashed: the output, the weighted average "
        f"of the keys.</p></div>"
    )
    return Shown(_STYLE + body + _SCRIPT % root, _plain(names, scores, weights, output))


def attend(
    keys: np.ndarray, query: np.ndarray, factor: float = 1.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores (N,), weights (N,) and output (2,) of a query (2,) for keys (N, 2)."""
    scores = factor * keys @ query / math.sqrt(2)
    exponentials = np.exp(scores - scores.max())
    weights = exponentials / exponentials.sum()
    return scores, weights, weights @ keys


def _checked(who: str, place: Any) -> np.ndarray:
    """Two finite numbers in reach."""
    pair = as_array(place, who, 1)
    if pair.shape != (2,) or not np.isfinite(pair).all() or np.abs(pair).max() > REACH:
        raise CourseError(f"{who} should be two numbers from -{REACH:g} to {REACH:g}, not {place!r}.")
    return pair.astype(float)


def _controls(root: str) -> str:
    options = "".join(
        f'<option value="{f:g}"{" selected" if f == 1 else ""}>{f:g}</option>' for f in FACTORS
    )
    return (
        f'<div class="sq-controls" hidden><div class="sq-control"><label for="{root}-factor">multiply '
        f'all scores by</label><select id="{root}-factor" data-sq-factor autocomplete="off">{options}'
        f"</select></div></div>"
    )


def _pixels(place: np.ndarray) -> tuple[float, float]:
    return MIDDLE + UNIT * float(place[0]), MIDDLE - UNIT * float(place[1])


def _plane(names: list[str], keys: np.ndarray, query: np.ndarray, output: np.ndarray) -> str:
    size = 2 * MIDDLE
    parts = [
        f'<line class="sq-axis" x1="0" y1="{MIDDLE}" x2="{size}" y2="{MIDDLE}"/>',
        f'<line class="sq-axis" x1="{MIDDLE}" y1="0" x2="{MIDDLE}" y2="{size}"/>',
    ]
    ends = [("query", query), *(("key", key) for key in keys), ("output", output)]
    for kind, place in ends:
        x, y = _pixels(place)
        parts.append(
            f'<line class="sq-arrow sq-of-{kind}" data-sq-arrow x1="{MIDDLE}" y1="{MIDDLE}" '
            f'x2="{x:g}" y2="{y:g}"/>'
        )
    x, y = _pixels(output)
    parts.append(f'<circle class="sq-dot sq-of-output" data-sq-output cx="{x:g}" cy="{y:g}" r="5"/>')
    for name, (kind, place) in zip(["query", *names], ends[:-1], strict=True):
        x, y = _pixels(place)
        parts.append(
            f'<g class="sq-handle sq-of-{kind}" role="slider" aria-label="{html.escape(name)}" '
            f'aria-roledescription="vector" aria-valuemin="-{REACH:g}" aria-valuemax="{REACH:g}" '
            f'aria-valuenow="{place[0]:.1f}" aria-valuetext="x {place[0]:.1f}, y {place[1]:.1f}" '
            f'transform="translate({x:g},{y:g})"><circle class="sq-reach" r="20"/>'
            f'<circle class="sq-dot" r="8"/><text x="11" y="-8">{html.escape(name)}</text></g>'
        )
    return f'<svg viewBox="0 0 {size} {size}" role="group" aria-label="Plane">{"".join(parts)}</svg>'


def _table(names: list[str], scores: np.ndarray, weights: np.ndarray) -> str:
    rows = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th><td class="sq-number">{_number(score)}</td>'
        f'<td class="sq-number">{weight:.2f}</td>'
        f'<td><span class="sq-share" style="--w:{weight:.3f}"></span></td></tr>'
        for name, score, weight in zip(names, scores, weights, strict=True)
    )
    return (
        '<table><thead><tr><th scope="col">key</th><th scope="col" class="sq-number">score</th>'
        '<th scope="col" class="sq-number">weight</th><td></td></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _number(x: float) -> str:
    return f"{x:.2f}".replace("-", "\u2212")


def _plain(names: list[str], scores: np.ndarray, weights: np.ndarray, output: np.ndarray) -> str:
    lines = [
        f"{name:>10}  score {score:5.2f}  weight {weight:.2f}"
        for name, score, weight in zip(names, scores, weights, strict=True)
    ]
    return "\n".join(["Query and keys to drag:", *lines, f"output ({output[0]:.2f}, {output[1]:.2f})"])
