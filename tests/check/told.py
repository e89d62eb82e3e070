"""What people are told: a dump of every answer of the corpus, to compare two states of the grader.

python -m tests.check.told FOLDER [psN ...]
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from cellgrader.course.folders import Course
from seqcourse.audit.answers import RIGHT, WRONG
from seqcourse.audit.exercises import Desk
from seqcourse.audit.in_process import answered_space, handed_over
from seqcourse.audit.trial import self_check
from seqcourse.check.verdict import Judge

ROOT = Path(__file__).resolve().parents[2]
SEED = 20_001


def dump(course: Course, name: str, folder: Path) -> None:
    """Write one text for each exercise: for every answer its self-check's sentences and, of each grade
    cell, the share and the grader's sentences.
    """
    desk = Desk(course, name, SEED)
    for exercise, checks in desk.exercises().items():
        judges, lines = [Judge(check, SEED) for check in checks], []
        for answer in desk.answers(exercise, RIGHT) + desk.answers(exercise, WRONG):
            space = answered_space(desk.space, answer)
            lines.append(f"=== {answer.kind}: {answer.name}")
            lines.append(f"self-check: {self_check(desk.record(exercise), space.get(exercise))}")
            with TemporaryDirectory() as place:
                found = [handed_over(judge.request, space, Path(place)) for judge in judges]
            for judge, (data, ending) in zip(judges, found, strict=True):
                verdict = judge.verdict(data, ending)
                lines.append(f"{judge.check.cell}: {verdict.share:.4f} {verdict.sentence}")
        (folder / f"{name}-{exercise}.txt").write_text("\n".join([*lines, ""]), encoding="utf-8")


def main(folder: str, *names: str) -> None:
    torch.set_num_threads(1)
    course, to = Course(ROOT), Path(folder)
    to.mkdir(parents=True, exist_ok=True)
    for name in names or [name for name in course.all_names() if name != "ps9"]:
        dump(course, name, to)


if __name__ == "__main__":
    main(*sys.argv[1:])
