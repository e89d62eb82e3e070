"""The drawings' style sheet and script: once per page of the book, elsewhere with every output."""

from __future__ import annotations

from seqcourse.viz.roles import ROLES, variables

# A role sets two colours (--f fill, --s line and text), a kind of mark uses them.
_MARKS = "".join(
    f".r-{r}{{--f:var(--d-{r});--s:var(--d-{r}2)}}.t-{r}{{fill:var(--d-{r}2)}}" for r in ROLES
)
_MARKS += """
svg .r-x{--f:var(--d-cell)}.r-l{--f:none;--s:var(--d-line)}
text{fill:var(--d-ink);text-anchor:middle}.a-s{text-anchor:start}.a-e{text-anchor:end}
.b{font-weight:650}.mu{fill:var(--d-mute)}.w{font-weight:500}.n{font-variant-numeric:tabular-nums}
.on{fill:var(--d-on);font-weight:650}
.over{paint-order:stroke;stroke:var(--d-no);stroke-width:6px;stroke-linejoin:round}
.i,.r{font-family:"STIX Two Text","Times New Roman",Times,serif}.i{font-style:italic}
.c{fill:var(--f);stroke:var(--s);stroke-width:1.5}
.cut{stroke:var(--s);stroke-width:1;stroke-opacity:.45;fill:none}
.full{fill:var(--d-full)}.ln{fill:none;stroke:var(--s);stroke-linejoin:round}
.pipe{stroke:color-mix(in srgb,var(--s) 72%,var(--d-stage))}.hd{fill:var(--s)}
.ring{fill:none;stroke:var(--d-ink);stroke-width:2.8}.pill{fill:var(--d-x)}.may{fill:var(--d-k2)}
.hatch{stroke:var(--d-no2);stroke-width:1.3;fill:none}
.panel{stroke-width:1.5;stroke:var(--s);fill:var(--f);fill-opacity:.38;stroke-opacity:.55}
.gone{visibility:hidden}"""

# An image knows no theme: it is light, on a ground of its own.
_GROUND = "background:var(--d-stage);font-family:sans-serif"
STYLE_OF_A_PICTURE = f"<style>svg{{{variables(dark=False)}{_GROUND}}}{_MARKS}</style>"

_DARK = 'html[data-theme="dark"] .sq-drawing,body[data-jp-theme-light="false"] .sq-drawing'
_PAGE = """
.sq-drawing{margin:.4rem 0;padding:14px 16px 12px;background:var(--d-stage);color:var(--d-ink);
 border:1px solid var(--d-edge);border-radius:16px;container-type:inline-size;
 font-size:15px;line-height:1.45;text-align:left}
.sq-drawing svg,.sq-drawing img{display:block;width:100%;height:auto;margin:0 auto;font-family:inherit}
.sq-drawing svg{overflow:visible}.sq-drawing .wide{max-width:760px}
.sq-drawing .narrow{max-width:430px;display:none}
@container (max-width:655px){.sq-drawing svg.wide{display:none}.sq-drawing svg.narrow{display:block}}
@media (max-width:480px){.sq-drawing{padding:10px 7px}}
html[data-theme=dark] .text_html:has(div.sq-drawing){background:none!important;padding:0!important}
.sq-drawing .f{white-space:nowrap}.sq-drawing :is(sub,sup){font-size:12px;line-height:0}
.sq-drawing .sq-said{margin:0 0 10px;padding-left:1.5em}
.sq-drawing :is(.sq-said li,.sq-whole){margin:0 0 .25em;line-height:1.45}
.sq-drawing .sq-legend{display:flex;flex-wrap:wrap;gap:2px 16px;justify-content:center;margin:10px 0 0;
 padding:0;list-style:none;font-size:13px;color:var(--d-mute)}
.sq-drawing .sq-legend li{margin:0;display:flex;align-items:center;gap:6px}
.sq-drawing .sq-legend i{width:14px;height:14px;border-radius:4px;background:var(--f);
 border:1.5px solid var(--s)}
.sq-drawing .sq-bar,.sq-drawing .sq-whole{display:none}
.sq-drawing .sq-bar button{min-width:32px;height:32px;padding:0 9px;border:1.5px solid var(--d-edge);
 border-radius:16px;background:var(--d-cell);color:var(--d-ink);font:600 14px/1 inherit;
 font-family:inherit;cursor:pointer}
.sq-drawing .sq-bar button[aria-current]{background:var(--d-ink);border-color:var(--d-ink);
 color:var(--d-stage)}
.sq-drawing .sq-whole button{padding:4px 14px;border:0;border-radius:14px;background:var(--d-ink);
 color:var(--d-stage);font:600 14px/1.3 inherit;font-family:inherit;cursor:pointer}
.sq-drawing :is(.sq-bar,.sq-whole) button:focus-visible{outline:3px solid var(--d-v2);outline-offset:2px}
.sq-heard{position:absolute;width:1px;height:1px;margin:0!important;overflow:hidden;clip-path:inset(50%)}
@media screen{
.sq-steps .sq-drawing .sq-bar{display:flex;flex-wrap:wrap;gap:6px;margin-bottom:8px}
.sq-steps .sq-drawing .sq-said{display:grid;padding:0;list-style:none}
.sq-steps .sq-drawing .sq-said li{grid-area:1/1;visibility:hidden}
.sq-steps .sq-drawing .sq-said li.now{visibility:visible}
.sq-steps .sq-drawing .sq-talk{display:grid}
.sq-steps .sq-drawing .sq-talk>*{grid-area:1/1}
.sq-steps .sq-drawing:not([data-step]) .sq-whole{display:block}
.sq-drawing :is(.st,.st *){transition:opacity .2s,fill .2s,stroke .2s}
.sq-drawing :is(.here,.later){visibility:visible}
.sq-drawing .dim{
 .c{fill:color-mix(in srgb,var(--f) 35%,var(--d-stage))}
 .c,.ln,.cut{stroke:color-mix(in srgb,var(--s) 38%,var(--d-stage))}
 .hd{fill:color-mix(in srgb,var(--s) 38%,var(--d-stage))}
 .full{fill:color-mix(in srgb,var(--d-full) 30%,var(--d-stage))}
 .may,.hatch,image{opacity:.4}text{fill:var(--d-mute)}.ring{opacity:0}}
.sq-drawing .later{
 :not(g,.c,.pill,.panel){opacity:0}
 :is(.c,.pill,.panel){fill:var(--d-stage);fill-opacity:1;stroke:var(--d-edge);stroke-opacity:1}}
}
@media (prefers-reduced-motion:reduce){.sq-drawing :is(.st,.st *){transition:none}}
@media print{.sq-drawing{break-inside:avoid}}"""

STYLE = (
    f"<style>.sq-drawing{{{variables(dark=False)}"
    f"{_MARKS.replace('svg .r-x', '& svg .r-x')}}}"
    f"@media screen{{{_DARK}{{{variables(dark=True)}}}}}{_PAGE}</style>"
)

# It listens on the document, so it answers for drawings that come later, and a second copy does nothing.
SCRIPT = """<script>(function(){
document.querySelectorAll(".sq-drawing img[data-narrow]").forEach(function(image){
[image.src.split(",")[1],image.dataset.narrow].forEach(function(code){
var bytes=Uint8Array.from(atob(code),function(c){return c.charCodeAt(0);});
var made=document.createElement("div");
made.innerHTML=new TextDecoder().decode(bytes).replace(/<style>.*?<\\/style>/s,"");
image.before(made.firstChild);});
image.remove();});
if(window.sqDrawing)return;window.sqDrawing=true;
document.documentElement.classList.add("sq-steps");
function show(root,step){
var said=root.querySelectorAll(".sq-said li"),n=said.length,k=(step+n+1)%(n+1);
if(k)root.dataset.step=k;else delete root.dataset.step;
root.querySelectorAll(".st").forEach(function(g){
var at=g.dataset.at.split(" ").map(Number),lit=g.dataset.lit.indexOf(" "+k+" ")>=0;
var later=k>0&&k<at[0];
g.classList.toggle("later",later);g.classList.toggle("dim",k>0&&!later&&!lit);
g.classList.toggle("here",k>=at[0]&&k<=at[1]);});
said.forEach(function(li,i){li.classList.toggle("now",i===k-1);});
var current=null;
root.querySelectorAll(".sq-bar button").forEach(function(b){
if(b.dataset.go===String(k)){b.setAttribute("aria-current","step");current=b;}
else b.removeAttribute("aria-current");});
root.querySelector(".sq-heard").textContent=
k?"Step "+k+" of "+n+". "+said[k-1].textContent:"The whole drawing.";
return current;}
function rootOf(e,within){var at=e.target.closest&&e.target.closest(".sq-drawing "+within);
return at&&at.closest(".sq-drawing");}
document.addEventListener("click",function(e){
var root=rootOf(e,":is(.sq-bar,.sq-whole) button");if(!root)return;
var go=e.target.closest("button").dataset.go,now=+root.dataset.step||0;
var current=show(root,go==="next"?now+1:go==="back"?now-1:+go);
if(current&&e.target.closest(".sq-whole"))current.focus();});
document.addEventListener("keydown",function(e){
var by={ArrowRight:1,ArrowLeft:-1}[e.key],root=by&&rootOf(e,".sq-bar");
if(!root||e.ctrlKey||e.altKey||e.metaKey)return;
e.preventDefault();e.stopPropagation();
show(root,(+root.dataset.step||0)+by).focus();},true);
})();</script>"""
