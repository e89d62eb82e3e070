"""A drawing as part of a page: both of its forms, the buttons, a sentence for every step, the legend."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable, Mapping, Sequence

from seqcourse.errors import CourseError
from seqcourse.settings import is_static
from seqcourse.viz.drawing.canvas import Drawing
from seqcourse.viz.drawing.formulas import for_html, plain
from seqcourse.viz.drawing.looks import SCRIPT, STYLE, STYLE_OF_A_PICTURE
from seqcourse.viz.html import Shown, new_id
from seqcourse.viz.roles import ROLES

_LEAD = re.compile(r"\*\*(.+?)\.?\*\*")
_given = False  # whether this page (one process makes one page of the book) has the style and the script


class Drawn(Shown):
    """A drawing: inline SVG in the book; in JupyterLab an image that a script makes inline."""

    def _repr_html_(self) -> str:
        global _given
        if not is_static():
            return STYLE + self.body + SCRIPT
        first, _given = not _given, True
        return STYLE + self.body + SCRIPT if first else self.body


def show(
    draw: Callable[[Drawing], None],
    title: str,
    alt: str,
    steps: Sequence[str] = (),
    legend: Mapping[str, str] | None = None,
) -> Drawn:
    """Show a drawing of a mechanism. Make the call the last line of its cell.

    The whole drawing is seen first; buttons and the left and right arrow keys step through it. In print
    and without JavaScript it comes with the sentences of all steps.

    Args:
        draw: a function of a `Drawing`, which makes things and says where they stand; called twice.
        title: what it is, in a few words.
        alt: what is to be seen, for somebody who cannot see it.
        steps: a sentence per step, "**Lead.** The rest, with $formulas$."
        legend: role -> words; without it all roles of the drawing in the words of `ROLES`.

    Raises:
        CourseError: if title or alt are missing, a step's sentence has no lead, a role is unknown, or a
            form of the drawing is too wide.
    """
    _check(title, alt, steps, legend or {})
    name = new_id("drawing", title + alt)
    wide, narrow = Drawing(wide=True), Drawing(wide=False)
    for form in (wide, narrow):
        draw(form)
    pictures = [form.svg(name, title, alt) for form in (wide, narrow)]
    if legend is None:
        legend = {role: ROLES[role].words for role in "qkvay" if role in wide.roles}
    body = (
        f'<div class="sq-drawing" id="{name}" role="group" aria-label="{html.escape(title)}">'
        f"{_steps(steps)}{_inline_or_images(pictures, alt)}{_legend(legend)}</div>"
    )
    return Drawn(body, f"{title}: {alt}\n" + "\n".join(plain(step) for step in steps))


def _check(title: str, alt: str, steps: Sequence[str], legend: Mapping[str, str]) -> None:
    if not title.strip() or len(alt.split()) < 4:
        raise CourseError("A drawing needs a title, and an alt text of at least four words.")
    for step in steps:
        if not _LEAD.match(step):
            raise CourseError(f'A step should begin with a lead ("**Keys.** ..."), but it is {step!r}.')
    for role in legend:
        if role not in ROLES:
            raise CourseError(f"The legend's role {role!r} is none of {', '.join(ROLES)}.")


def _steps(steps: Sequence[str]) -> str:
    """The bar of buttons, a sentence per step, and a line that is read aloud when the step changes."""
    if not steps:
        return ""
    button = '<button type="button" data-go="{}" aria-label="{}"{}>{}</button>'
    made = button.format("back", "Previous step", "", "\u2039")
    for k, step in enumerate(steps, 1):
        lead = html.escape(plain(_LEAD.match(step)[1]))  # type: ignore[index]
        made += button.format(k, f"Step {k}: {lead}", "", k)
    made += button.format(0, "All steps", ' aria-current="step"', "All")
    made += button.format("next", "Next step", "", "\u203a")
    said = "".join(f"<li>{for_html(step)}</li>" for step in steps)
    begin = f'<button type="button" data-go="1">Build it in {len(steps)} steps \u203a</button>'
    return (
        f'<div class="sq-bar" role="group" aria-label="Steps of the drawing">{made}</div>'
        f'<div class="sq-talk"><p class="sq-whole">The whole drawing. {begin}</p>'
        f'<ol class="sq-said">{said}</ol></div>'
        f'<p class="sq-heard" aria-live="polite"></p>'
    )


def _inline_or_images(pictures: Sequence[str], alt: str) -> str:
    """Inline SVG for the book. An output that JupyterLab does not trust may have an image, but no SVG:
    there an image shows the wide form and carries the narrow one; the script replaces it by both.
    """
    if is_static():
        return "".join(pictures)
    wide, narrow = (_alone(picture) for picture in pictures)
    source = f"data:image/svg+xml;base64,{wide}"
    return f'<img class="wide" src="{source}" data-narrow="{narrow}" alt="{html.escape(alt)}">'


def _alone(picture: str) -> str:
    """The SVG as a file of its own, in base64."""
    named = picture.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return base64.b64encode(named.replace("<title", f"{STYLE_OF_A_PICTURE}<title", 1).encode()).decode()


def _legend(words: Mapping[str, str]) -> str:
    items = "".join(f'<li class="r-{role}"><i></i>{for_html(text)}</li>' for role, text in words.items())
    return f'<ul class="sq-legend">{items}</ul>' if items else ""
