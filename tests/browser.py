"""Finds a Chromium and starts it so that it talks to nobody but the page under test."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import time
import urllib.request
from pathlib import Path

from seqcourse.pages.browser import PLACES, PROGRAMS, installed_browser  # noqa: F401 - for those that look here

QUIET = (
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WHY_NOT = (
    "The pages should be looked at by a Chromium, but none was found. "
    "Run `sh tests/ensure_tools.sh browser`, or install Chromium or Chrome."
)


def find_chromium() -> str | None:
    """The path of a Chromium or Chrome, the one that Playwright fetched included, or None."""
    return installed_browser() or _fetched_by_playwright()


def _fetched_by_playwright() -> str | None:
    from playwright.sync_api import sync_playwright

    try:
        with sync_playwright() as playwright:
            path = playwright.chromium.executable_path
    except Exception:  # no driver for this platform: then there is no browser of it either
        return None
    return path if path and Path(path).exists() else None


def flags() -> list[str]:
    """What Chromium is started with; as root it cannot use its own sandbox."""
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*QUIET, *(["--no-sandbox"] if as_root else [])]


def required() -> bool:
    """In continuous integration a missing browser is a failure, elsewhere a skipped test."""
    return os.environ.get("CI", "").lower() in ("1", "true", "yes")


def jupyter(process: subprocess.Popen, log: Path, seconds: float = 300) -> str:
    """The address of a Jupyter server, once it says it: a port looked for before could be taken by then.

    It is started with `--ServerApp.port=0`. Raises AssertionError with its log if it says none.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if said := re.search(r"http://127\.0\.0\.1:\d+(?=/)", log.read_text()):
            return said[0]
        assert process.poll() is None, log.read_text()
        time.sleep(0.1)
    raise AssertionError(f"No server began within {seconds:.0f} s:\n{log.read_text()}")


def answers(url: str, process: subprocess.Popen, log: Path, seconds: float = 300) -> None:
    """Wait until a started server answers. Raises AssertionError with its log if it does not."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        with contextlib.suppress(OSError):
            urllib.request.urlopen(url, timeout=2).close()
            return
        time.sleep(0.3)
    raise AssertionError(f"{url} did not answer within {seconds:.0f} s:\n{log.read_text()}")
