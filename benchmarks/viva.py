"""What do questions about one's own code look like, and how many right answers give five of them?

    seqcourse bench viva

Makes three sheets about assignment 4 (the course's solution, other right answers of the corpus, and
work of which three exercises are done), and one sheet for each of twenty right answers in other styles,
each the only solved exercise of its notebook. All of it runs in the sandbox, twice, as for students.

Writes benchmarks/results/viva/: the three sheets with their answers, and styles.json with the machine
that it ran on. Exit code 1 when fewer than 15 of the 20 styles give five questions.

About 5 minutes on two idle cores.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import seqcourse  # noqa: F401  (makes the course known to the grader)
from cellgrader.course.folders import Course
from cellgrader.notebook import document as notebooks
from cellgrader.release.sample import answered, load_checks, right_answers
from cellgrader.run.examine import Examiner
from cellgrader.viva.choose import MANY
from cellgrader.viva.questions import LETTERS
from cellgrader.viva.sheet import Sheet, make_sheet, spread
from cellgrader.viva.table import setting
from seqcourse.errors import CourseError

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "viva"
LEAST = 15
# Assignment, exercise, which of its right answers: none is the style of the solution.
STYLES = [
    ("ps1", "rnn_step", 1), ("ps1", "lstm_step", 2), ("ps1", "forward", 1), ("ps1", "draw", 2),
    ("ps2", "teacher_forced_loss", 1), ("ps2", "greedy", 1), ("ps2", "gumbel_softmax", 2),
    ("ps3", "softmax", 2), ("ps3", "additive_score", 1), ("ps3", "local_weights", 2),
    ("ps4", "attention", 2), ("ps4", "similarities", 2), ("ps4", "positional_encoding", 2),
    ("ps5", "attention", 2), ("ps5", "multi_head", 1), ("ps6", "layer_norm", 2),
    ("ps6", "label_smoothed_loss", 2), ("ps6", "encoder_block", 1), ("ps7", "masked_word_loss", 2),
    ("ps8", "rollout", 2),
]  # fmt: skip


def copy_course(folder: Path) -> Course:
    """The course elsewhere, with a class of its own."""
    for part in ("solutions", "assignments"):
        shutil.copytree(ROOT / part, folder / part)
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    return Course(folder)


def ask(examiner: Examiner, name: str, student: str, answers: dict[str, str]) -> Sheet:
    """Hand in these answers and make the sheet."""
    course = examiner.course
    released = notebooks.read(course.assignments / name / f"{name}.ipynb")
    path = course.submitted / student / name / f"{name}.ipynb"
    notebooks.write(answered(released, answers), path)
    try:
        return make_sheet(examiner, name, student)
    except CourseError as problem:
        print(f"{student}: {problem}")
        return Sheet(name, student, (), {})


def three(course: Course, name: str) -> dict[str, dict[str, str]]:
    """The answers of three students."""
    solved = right_answers(notebooks.read(course.solution(name)))
    other = {task: rights[-1][1] for task, rights in load_checks(course, name).RIGHT.items()}
    return {
        "solution": solved,
        "another-style": solved | other,
        "half-finished": dict(list(solved.items())[:3]),
    }


def in_words(sheet: Sheet) -> str:
    """A sheet with its answers, as Markdown."""
    lines = [f"# {sheet.assignment}, {sheet.student}"]
    before = ""
    for number, one in enumerate(sheet.questions, start=1):
        if one.exercise != before:
            before = one.exercise
            code = enumerate(sheet.code[before].splitlines(), start=1)
            listing = "\n".join(f"{line:3}  {text}".rstrip() for line, text in code)
            lines.append(f"## {before}\n\n```\n{listing}\n```")
        options = "\n".join(f"- {a}: {b}" for a, b in zip(LETTERS, one.options, strict=True))
        words = f"{setting(one)} {one.words}".strip()
        lines.append(f"**{number}** ({one.kind}). {words}\n\n{options}")
        lines.append(f"Answer: {one.letter}. {one.note}".rstrip())
    return "\n\n".join(lines) + "\n"


def main() -> int:
    RESULTS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        course = copy_course(Path(folder) / "course")
        secret = hashlib.sha256(b"viva").digest()
        rows, sheets = [], []
        with Examiner(course, secret=secret) as examiner:
            for student, answers in three(course, "ps4").items():
                sheet = ask(examiner, "ps4", student, answers)
                (RESULTS / f"{student}.md").write_text(in_words(sheet), encoding="utf-8")
                print(f"{student}: {len(sheet.questions)} questions", flush=True)
            for name, task, place in STYLES:
                style, source = load_checks(course, name).RIGHT[task][place]
                began = time.perf_counter()
                sheet = ask(examiner, name, f"{task}-{place}", {task: source})
                kinds = Counter(one.kind for one in sheet.questions)
                seconds = round(time.perf_counter() - began, 1)
                rows.append(
                    {"exercise": f"{name} {task}", "style": style, "kinds": kinds, "seconds": seconds}
                )
                sheets.append(sheet)
                print(f"{name} {task} ({style}): {len(sheet.questions)}, {seconds} s", flush=True)
    full = sum(len(sheet.questions) == MANY for sheet in sheets)
    machine = {"cores": os.cpu_count(), "python": platform.python_version()}
    found = {"machine": machine, "five questions": full, "of": len(sheets), "kinds": spread(sheets)}
    content = json.dumps({**found, "styles": rows}, indent=1, ensure_ascii=False)
    (RESULTS / "styles.json").write_text(content + "\n", encoding="utf-8")
    print(f"{full} of {len(sheets)} styles give {MANY} questions: {dict(spread(sheets))}")
    return 0 if full >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
