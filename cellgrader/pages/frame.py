"""The frame of the pages for instructors: one file, no scripts, no external resources."""

from __future__ import annotations

from html import escape

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem;
       color: #1b1f24; background: #fff; }
table { border-collapse: collapse; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid #d0d7de; text-align: left; vertical-align: top; }
td.share { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.both { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
.wide { overflow-x: auto; }
.bar { display: inline-block; height: .8rem; background: #0969da; }
pre { overflow-x: auto; background: #f6f8fa; border: 1px solid #d0d7de; border-radius: 6px;
      padding: .6rem; font-size: 13px; white-space: pre-wrap; overflow-wrap: anywhere; }
mark { background: #ffdf9e; color: inherit; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #d0d7de; }
ul { margin: 0; padding-left: 1.2rem; }
@media (max-width: 50rem) { .both { grid-template-columns: 1fr; } th, td { padding: .3rem .4rem; } }
@media (prefers-color-scheme: dark) {
  body { color: #e6edf3; background: #0d1117; }
  pre { background: #161b22; border-color: #30363d; }
  th, td, h2 { border-color: #30363d; }
  a { color: #79c0ff; }
  .bar { background: #79c0ff; }
  mark { background: #6e4a00; }
}
@media print {
  body { max-width: none; margin: 0; color: #000; background: #fff; }
  pre { color: #000; background: #fff; break-inside: avoid; }
  li, td { break-inside: avoid; }
}
"""
# Content security policy: allow only the inline style, in case an answer injects HTML.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(title: str, body: str, renew: int = 0) -> str:
    """A whole page.

    Args:
        title: plain text; also the heading.
        body: HTML in which all that students wrote is escaped.
        renew: seconds after which a browser loads the page again; 0 for never.
    """
    again = f'<meta http-equiv="refresh" content="{renew}">' if renew else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{again}<title>{escape(title)}</title><style>{STYLE}</style></head><body><main>"
        f"<h1>{escape(title)}</h1>{body}</main></body></html>\n"
    )
