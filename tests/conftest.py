"""What several rooms' tests share: their order, and one browser for a whole run."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import hypothesis
import pytest

import seqcourse  # noqa: F401  (makes the course known to the grader)
from tests import browser as chromium
from tests.firefox import WHY_NOT, Firefox, find_firefox

# The same examples in every run: no test fails by chance.
hypothesis.settings.register_profile("same", derandomize=True)
hypothesis.settings.load_profile("same")

# Modules that take long in `make test` or at night, the longest first. Each runs on one worker from its
# first test to its last: one that began when the others were nearly done would be waited for.
LONG = (
    "book/test_pages.py",  # builds the book
    "check/test_assignments.py",
    "device/test_notebooks.py",
    "grading/test_real.py",
    "attacks/test_attacks.py",
    "grading/test_toy.py",
    "grading/test_grade_run.py",
    "grading/test_systems.py",
    "grading/test_watch.py",
    "instructor/test_the_day.py",
    "live/test_room_page.py",
    "live/test_room.py",
    "live/test_scenes.py",
    "lab/test_lab.py",
    "grading/test_partners.py",
    "house/test_dist.py",
    "grading/test_confine_kernel.py",
    "grading/test_confine_limits.py",
    "grading/test_plain_nbgrader.py",
    "grading/test_honest.py",
    "live/test_every_view.py",
    "live/test_listen.py",
    "live/test_translate.py",
    "viz/test_pages.py",
    "viz/test_by_hand.py",
    "train/test_trainer.py",
    "publish/test_page.py",
    "publish/test_eject.py",
    "check/test_probe.py",
    "grading/test_viva.py",
    "grading/test_run.py",
    "grading/test_editors_graded.py",
    "grading/test_confine_user.py",
    "book/test_files_of_the_site.py",  # after the book is built
    "book/test_access.py",
    "book/test_site_build.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long modules first, all others as they were found; `make test` keeps this order."""
    here = Path(__file__).parent
    rank = {here / name: number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: rank.get(item.path, len(rank)))


@pytest.fixture(scope="session", autouse=True)
def same_inputs() -> Iterator[None]:
    """Every course has the same secret, so the same hidden inputs: no test passes or fails by chance.

    Other inputs are tried by `seqcourse audit`, which says with which seed.
    """
    ours = SimpleNamespace(token_bytes=lambda size: b"s" * size, token_hex=secrets.token_hex)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cellgrader.course.folders.secrets", ours)
        yield


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
        # Scrollbars take room, as they do on many readers' machines.
        shown = ["--hide-scrollbars"]
        running = playwright.chromium.launch(
            executable_path=path, args=chromium.flags(), ignore_default_args=shown
        )
        yield running
        running.close()


@pytest.fixture(scope="module")
def firefox(tmp_path_factory) -> Iterator[Firefox]:
    """A Firefox without a window. Skips where there is none."""
    program = find_firefox()
    if program is None:
        pytest.skip(WHY_NOT)
    with Firefox(program, tmp_path_factory.mktemp("firefox")) as running:
        yield running
