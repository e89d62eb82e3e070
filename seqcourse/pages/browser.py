"""An installed Chromium, which prints pages and draws their pictures."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

# In the order of preference; `tests/ensure_tools.sh` looks for the same ones.
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
FLAGS = ("--headless", "--hide-scrollbars", "--disable-background-networking")


def installed_browser() -> str | None:
    """The path of an installed Chromium or Chrome, or None."""
    found = filter(None, map(shutil.which, PROGRAMS))
    return next(found, None) or next((place for place in PLACES if Path(place).exists()), None)


def command(browser: str, page: Path, profile: Path, *options: str) -> list[str]:
    """What to run for one page; ``profile`` is a folder for what the browser keeps meanwhile."""
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0  # then it cannot use its own sandbox
    sandbox = ["--no-sandbox"] if as_root else []
    address = page.resolve().as_uri()
    return [browser, *FLAGS, *sandbox, f"--user-data-dir={profile}", *options, address]
