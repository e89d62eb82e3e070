"""The page that shows similar submissions: one file, no scripts, no external resources.

copydetect's own report does not escape names, so a name could inject HTML.
"""

from __future__ import annotations

from html import escape

from cellgrader.pages.frame import page
from cellgrader.printable import printable
from cellgrader.similar.compare import SharedPassages, Similar, SimilarPair


def as_page(found: Similar) -> str:
    """The whole page."""
    rows = "".join(_row(number, pair) for number, pair in enumerate(found.every, start=1))
    table = (
        "<table><thead><tr><th>student</th><th>share</th><th>student</th><th>share</th>"
        f"<th>exercises</th></tr></thead><tbody>{rows}</tbody></table>"
        if found.every
        else "<p>No pair is that much alike.</p>"
    )
    skipped = "".join(f"<li>{_plain(sentence)}</li>" for sentence in found.skipped)
    skipped = f"<p>Not compared:</p><ul>{skipped}</ul>" if skipped else ""
    details = "".join(_detail(number, pair) for number, pair in enumerate(found.every, start=1))
    return page(
        f"Alike: {found.assignment}",
        f"<p>{found.compared} submissions compared. Listed are pairs in which "
        f"{found.threshold:.0%} or more of one student's own work stands in the other's too; what was "
        "released, the reference solution and well-known answers do not count. Names of variables do "
        "not count either. Below them are answers that resemble the course's own: the reference "
        "solution, or a function of the package, which students can read. "
        "Alike is a reason to look, not a verdict.</p>"
        f"{table}{skipped}{details}",
    )


def _plain(text: str) -> str:
    return escape(printable(text))


def _row(number: int, pair: SimilarPair) -> str:
    (first, second), (one, other) = pair.students, pair.shares
    tasks = ", ".join(part.exercise for part in pair.shared)
    return (
        f'<tr><td><a href="#pair-{number}">{_plain(first)}</a></td><td class="share">{one:.0%}</td>'
        f'<td>{_plain(second)}</td><td class="share">{other:.0%}</td><td>{escape(tasks)}</td></tr>'
    )


def _detail(number: int, pair: SimilarPair) -> str:
    first, second = map(_plain, pair.students)
    parts = "".join(_exercise(part, first, second) for part in pair.shared)
    return f'<h2 id="pair-{number}">{first} and {second}</h2>{parts}'


def _exercise(part: SharedPassages, first: str, second: str) -> str:
    both = "".join(
        f"<div><p>{who}</p><pre>{_marked(source, places)}</pre></div>"
        for who, source, places in zip((first, second), part.sources, part.places, strict=True)
    )
    return f'<h3>{escape(part.exercise)}</h3><div class="both">{both}</div>'


def _marked(source: str, places: tuple[tuple[int, int], ...]) -> str:
    """The escaped source with the shared passages marked."""
    done, at = [], 0
    for begin, end in sorted(places):
        begin, end = max(begin, at), min(end, len(source))
        if begin < end:
            done += [escape(source[at:begin]), "<mark>", escape(source[begin:end]), "</mark>"]
            at = end
    return "".join([*done, escape(source[at:])])
