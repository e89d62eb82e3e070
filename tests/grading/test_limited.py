"""What is done with hostile work ends: by a result, an error, or a sentence about time or memory."""

from __future__ import annotations

import os
import threading

import pytest

from cellgrader.notebook.parse import UNREADABLE, NotGradable
from cellgrader.processes.limited import TooCostly, limited

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")


def refuse() -> None:
    raise NotGradable(UNREADABLE, "It should be a notebook.")


def strange() -> None:
    class Strange(Exception):
        pass

    raise Strange("no pickle knows it")


def endless() -> None:
    while True:
        pass


def test_a_result_and_an_error_come_back():
    assert limited("", dict, [("a", 1)]) == {"a": 1}
    with pytest.raises(NotGradable, match="It should be a notebook") as caught:
        limited("", refuse)
    assert caught.value.status == UNREADABLE
    with pytest.raises(RuntimeError, match="Strange: no pickle knows it"):
        limited("", strange)


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (endless, "To try it takes more than 1 second,"),
        (lambda: bytearray(2 << 30), "To try it takes more than 1024 MiB of memory"),
        (lambda: os._exit(3), "To try it takes more than"),
    ],
)
def test_too_much_is_a_sentence(work, words):
    with pytest.raises(TooCostly, match=words):
        limited("To try it", work, seconds=1)


def test_it_waits_for_no_lock_of_another_thread():
    """Several threads at once, as in a worker with many; none inherits what another waits for."""
    found = []
    work = [threading.Thread(target=lambda k=k: found.append(limited("", pow, 2, k))) for k in range(8)]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join(60)
    assert sorted(found) == [2**k for k in range(8)]
