"""What several rooms' tests share: one browser for a whole run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import browser as chromium


@pytest.fixture(scope="module")
def chrome() -> Iterator[object]:
    """A headless Chromium. Skips where there is none; fails where CI=true.

    One for all tests of a module: Playwright cannot be started a second time beside itself, and
    while it runs no other test of the process can run an event loop of its own.
    """
    path = chromium.find_chromium()
    if path is None:
        if chromium.required():
            pytest.fail(chromium.WHY_NOT)
        pytest.skip(chromium.WHY_NOT)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=chromium.flags())
        yield running
        running.close()
