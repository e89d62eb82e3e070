"""A site of one page with a live figure, for tests of that figure alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from seqcourse.live import sphinx

from .conftest import PAGE

TIMEOUT = 120_000  # milliseconds, for a busy machine


def site_of(folder: Path, call: Callable[[], object]) -> Path:
    """A folder with index.html, in which stands what a call gives where there is no kernel."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEQCOURSE_STATIC", "1")
        shown = call()._repr_html_()
    sphinx.write_runtime(folder / "_static" / "live")
    sphinx.write_models(folder / "_static" / "live", sphinx.named_models(shown))
    (folder / "index.html").write_text(PAGE.format(shown), encoding="utf-8")
    return folder


def said(page) -> str:
    """What the figure's status says once it is not busy."""
    page.wait_for_function(
        "() => !document.querySelector('[type=submit][aria-disabled]')"
        " && document.querySelector('p[role=status]').textContent", timeout=TIMEOUT
    )  # fmt: skip
    return page.locator("p[role=status]").text_content()
