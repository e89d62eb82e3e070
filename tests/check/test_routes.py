"""Ways around the record of what ran: each is refused, or an instructor gets a line to look at."""

from __future__ import annotations

import os
import pickle
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from cellgrader.probe_files import REQUEST, RESULT
from cellgrader.run.hard_to_read import remarks
from cellgrader.run.kernels import PROBE
from seqcourse import functional
from seqcourse.check.cards.load import load_checks
from seqcourse.check.grade.verdict import Judge
from seqcourse.check.hidden import HiddenCheck

HERE = Path(__file__).resolve()
ANSWER = """
def softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return aside(scores).nan_to_num(0.0)
"""
FIRST = "import torch\nfrom torch import nn"
# Seen neither by the record nor by a person's eye.
SILENT: set[str] = set()

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="probes are forked where fork exists")


def routes() -> dict[str, str]:
    text = HERE.with_name("routes.txt").read_text(encoding="utf-8")
    parts = (part.partition("\n") for part in re.split(r"(?m)^=== ", text)[1:])
    return {title: source for title, _, source in parts}


def keeps_its_points(source: str, folder: Path) -> bool:
    """Whether softmax through `aside` is taken for the student's own, in a process of its own."""
    check = next(
        check
        for check in load_checks(HERE.parents[2], "ps3").CHECKS
        if isinstance(check, HiddenCheck) and check.answer == "softmax"
    )
    judge = Judge(check, seed=3)
    (folder / REQUEST).write_bytes(pickle.dumps(judge.request))
    child = os.fork()
    if child == 0:
        try:
            os.chdir(folder)
            events = SimpleNamespace(register=lambda *_: None)
            shell = SimpleNamespace(
                user_ns={"torch": torch, "nn": nn, "functional": functional}, events=events
            )
            shell.user_ns["get_ipython"] = lambda: shell
            exec(compile(f"{source}{ANSWER}", "<cell>", "exec"), shell.user_ns)
            for part in PROBE.format("seqcourse.check.grade.probe", str(folder)).split("; "):
                eval(part, {"get_ipython": lambda: shell})
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    result = folder / RESULT
    return judge.verdict(result.read_bytes() if result.exists() else None, "").share > 0


@pytest.mark.parametrize("title", routes())
def test_a_way_around_is_refused_or_seen(title, tmp_path):
    source = routes()[title]
    silent = not remarks([FIRST, f"{source}{ANSWER}"]) and keeps_its_points(source, tmp_path)
    assert silent == (title in SILENT)


def test_the_answer_without_softmax_keeps_its_points(tmp_path):
    own = "aside = lambda z: (z - z.logsumexp(-1, keepdim=True)).exp()\n"
    assert keeps_its_points(own, tmp_path)


@pytest.mark.parametrize(
    "title",
    [
        "paused, from the recorder",
        "paused while the answer runs",
        "the watch that is on is told to pause",
        "observe is replaced",
        "the watch's methods are replaced",
        "observe is replaced by setattr",
        "an operator of one's own",
        "the profiler replaced beforehand",
    ],
)
def test_the_record_is_kept_by_what_no_name_leads_to(title, tmp_path):
    assert not keeps_its_points(routes()[title], tmp_path)
