"""The page that shows similar submissions: one file, no scripts, no external resources.

copydetect's own report does not escape names, so a name could inject HTML.
"""

from __future__ import annotations

from html import escape

from seqcourse.grading.similar import Pair, Shared, Similar

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem;
       color: #1b1f24; background: #fff; }
table { border-collapse: collapse; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid #d0d7de; text-align: left; }
td.share { text-align: right; font-variant-numeric: tabular-nums; }
.both { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
pre { overflow-x: auto; background: #f6f8fa; border: 1px solid #d0d7de; border-radius: 6px;
      padding: .6rem; font-size: 13px; white-space: pre-wrap; overflow-wrap: anywhere; }
mark { background: #ffdf9e; color: inherit; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #d0d7de; }
@media (max-width: 50rem) { .both { grid-template-columns: 1fr; } }
@media (prefers-color-scheme: dark) {
  body { color: #e6edf3; background: #0d1117; }
  pre { background: #161b22; border-color: #30363d; }
  th, td, h2 { border-color: #30363d; }
  a { color: #79c0ff; }
  mark { background: #6e4a00; }
}
"""
# Content security policy: allow only the inline style, in case an answer injects HTML.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def as_page(found: Similar) -> str:
    """The whole page."""
    name = escape(found.assignment)
    rows = "".join(_row(number, pair) for number, pair in enumerate(found.pairs, start=1))
    table = (
        "<table><thead><tr><th>student</th><th>share</th><th>student</th><th>share</th>"
        f"<th>exercises</th></tr></thead><tbody>{rows}</tbody></table>"
        if found.pairs
        else "<p>No pair is that much alike.</p>"
    )
    skipped = "".join(f"<li>{escape(sentence)}</li>" for sentence in found.skipped)
    skipped = f"<p>Not compared:</p><ul>{skipped}</ul>" if skipped else ""
    details = "".join(_detail(number, pair) for number, pair in enumerate(found.pairs, start=1))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Alike: {name}</title><style>{STYLE}</style></head><body>"
        f"<h1>Alike: {name}</h1><p>{found.compared} submissions compared. Listed are pairs in which "
        f"{found.threshold:.0%} or more of one student's own work stands in the other's too; what was "
        "released, the reference solution and well-known answers do not count. Names of variables do "
        "not count either. Alike is a reason to look, not a verdict.</p>"
        f"{table}{skipped}{details}</body></html>\n"
    )


def _row(number: int, pair: Pair) -> str:
    (first, second), (one, other) = pair.students, pair.shares
    tasks = ", ".join(part.exercise for part in pair.shared)
    return (
        f'<tr><td><a href="#pair-{number}">{escape(first)}</a></td><td class="share">{one:.0%}</td>'
        f'<td>{escape(second)}</td><td class="share">{other:.0%}</td><td>{escape(tasks)}</td></tr>'
    )


def _detail(number: int, pair: Pair) -> str:
    first, second = map(escape, pair.students)
    parts = "".join(_exercise(part, first, second) for part in pair.shared)
    return f'<h2 id="pair-{number}">{first} and {second}</h2>{parts}'


def _exercise(part: Shared, first: str, second: str) -> str:
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
