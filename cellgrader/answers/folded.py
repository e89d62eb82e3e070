"""A worked answer as a notebook shows it: folded, below the self-check."""

from __future__ import annotations

import html
import re

from cellgrader.answers.sheet import Worked

TITLE = "A worked answer, and another style"
REASONS = "Why each option is right or wrong"


def title(worked: Worked) -> str:
    """What stands on it while it is folded."""
    return TITLE if worked.code else REASONS


def as_html(worked: Worked) -> str:
    """The answer in a part that opens with a click."""
    explained = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(worked.explained))
    parts = [f"<p>{paragraph}</p>" for paragraph in explained.split("\n\n")]
    if worked.code:
        parts.append(_code(worked.code))
    if worked.other:
        parts += [f"<p>Another style: {html.escape(worked.style)}</p>", _code(worked.other)]
    # JupyterLab's styles take away the triangle by which one sees that it opens.
    summary = f'<summary style="display: list-item; cursor: pointer">{title(worked)}</summary>'
    return f"<details>{summary}{''.join(parts)}</details>"


def _code(source: str) -> str:
    return f'<pre style="overflow-x: auto; padding: 0.5em 1em"><code>{html.escape(source)}</code></pre>'
