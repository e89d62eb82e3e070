"""A class of attackers and honest students, with secrets that nobody may see."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import socket
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cellgrader.course.folders import Course
from cellgrader.course.records import Record, record_path
from cellgrader.grade.how import How
from cellgrader.grade.submissions import grade
from cellgrader.marks.scores import read_scores
from cellgrader.notebook import document as notebooks
from cellgrader.release.generate import release
from cellgrader.release.sample import answered, right_answers
from tests.attacks.hostile import CANARY, LOOT, NAME, Attack, Place, hand_in

ROOT = Path(__file__).resolve().parents[2]
# A variable in the environment of whoever grades.
SECRET = "COURSE_SECRET"


def canary(what: str) -> str:
    """A secret of the tests; letters only between the dashes, so that attacks can search for it."""
    return f"{CANARY}{what}-{secrets.token_hex(6)}"


@dataclass(frozen=True)
class Outside:
    """What a confined kernel must not reach: sockets that count, a folder that stays empty."""

    witness: Path
    port: int
    socket: Path
    abstract: str
    heard: list[str]

    def touched(self) -> list[str]:
        """What was reached after all."""
        return self.heard + [path.name for path in self.witness.iterdir()]


@contextlib.contextmanager
def outside(folder: Path) -> Iterator[Outside]:
    """Listen on loopback and on two Unix sockets, beside a folder that anyone may write to."""
    witness = folder / "witness"
    witness.mkdir(parents=True)
    witness.chmod(0o777)
    heard: list[str] = []
    tcp, unix, nameless = (socket.socket(kind) for kind in (socket.AF_INET, *[socket.AF_UNIX] * 2))
    # The path of a socket is at most 107 bytes long.
    home = Path(os.path.relpath(folder)) if len(str(folder)) > 90 else folder
    tcp.bind(("127.0.0.1", 0))
    unix.bind(str(home / "s"))
    os.chmod(home / "s", 0o777)
    abstract = f"seqcourse-{secrets.token_hex(6)}"
    nameless.bind(f"\0{abstract}")

    def listen(one: socket.socket, name: str) -> None:
        with contextlib.suppress(OSError):
            while True:
                one.accept()[0].close()
                heard.append(name)

    for one, name in ((tcp, "loopback"), (unix, "a socket by path"), (nameless, "a socket by name")):
        one.listen()
        threading.Thread(target=listen, args=(one, name), daemon=True).start()
    try:
        yield Outside(witness, tcp.getsockname()[1], folder / "s", abstract, heard)
    finally:
        for one in (tcp, unix, nameless):
            one.close()


def place(course: Course, gradebook: Path, around: Outside) -> Place:
    """The words of the corpus for this class."""
    words = {
        "COURSE": str(course.root),
        "CLASS": str(course.folder),
        "SUBMITTED": str(course.submitted),
        "GRADEBOOK": str(gradebook),
        "WITNESS": str(around.witness),
        "PORT": str(around.port),
        "SOCKET": str(around.socket),
        "ABSTRACT": around.abstract,
    }
    return Place(course.submitted, words)


HONEST = {
    "perfect": None,
    "half": ("final_states", "decoder_step", "poll_1", "poll_2"),
    "empty": (),
}


def hand_in_honest(course: Course, names: Iterable[str] = HONEST, secret: str = "") -> dict[str, float]:
    """Write the work of honest students; returns the points that each must get."""
    solution = notebooks.read(course.solution(NAME))
    released = notebooks.read(course.assignments / NAME / f"{NAME}.ipynb")
    right, tasks = right_answers(solution), notebooks.exercises(solution)
    points = {}
    for student in names:
        solved = HONEST[student]
        solved = tuple(name for name in right if name != "search") if solved is None else solved
        work = answered(released, {name: right[name] for name in solved})
        remark = {"cell_type": "markdown", "id": "mine", "metadata": {}, "source": f"Mine: {secret}"}
        work["cells"].append(remark)
        path = course.submitted / student / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(work, indent=1), encoding="utf-8")
        points[student] = sum(task.automatic for task in tasks if task.name in solved)
    return points


def hand_in_attacks(course: Course, attacks: Iterable[Attack], where: Place) -> dict[str, float]:
    """Write the attackers' work; returns the points that are fair for each."""
    solution = notebooks.read(course.solution(NAME))
    released = notebooks.read(course.assignments / NAME / f"{NAME}.ipynb")
    for attack in attacks:
        hand_in(attack, released, solution, where)
    return {attack.name: attack.fair(solution) for attack in attacks}


def loot(text: str) -> set[str]:
    """Secrets, and what an attack printed in front of one, in a text."""
    found = set(re.findall(CANARY + r"[a-z]+-[0-9a-f]{12}", text))
    return found | set(re.findall(LOOT + r".{0,80}", text))


@dataclass(frozen=True)
class Graded:
    """A class of attackers and honest students after a run of the real pipeline.

    fair, honest: the points that are fair for an attacker, that an honest student must get.
    touched: what was reached outside of the sandboxes.
    """

    course: Course
    honest: dict[str, float]
    fair: dict[str, float]
    records: dict[str, Record]
    points: dict[str, float | None]
    touched: list[str]
    seconds: float

    def texts(self, student: str) -> Iterator[tuple[str, str]]:
        """What was written about a student: the record, the graded notebook's outputs, files."""
        yield "record", record_path(self.course, NAME, student).read_text(encoding="utf-8")
        folder = self.course.autograded / student / NAME
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if path.suffix == ".ipynb":
                cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
                yield path.name, json.dumps([cell.get("outputs") for cell in cells])
            elif path.is_file():
                yield path.name, path.read_text(encoding="utf-8", errors="replace")


def grade_all(folder: Path, attacks: Sequence[Attack], timeout: int = 4) -> Graded:
    """Hand in attacks and the honest students' work in a course of its own, and grade it.

    Args:
        timeout: seconds that a cell, or the calls of a hidden check, may take.
    """
    course = Course(folder / "course")
    shutil.copytree(ROOT / "solutions", course.solutions, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "nbgrader_config.py", course.root)
    _plant(course)
    release(course, [NAME])
    before = os.environ.get(SECRET)
    os.environ[SECRET] = canary("secret")
    try:
        with outside(folder / "outside") as around:
            where = place(course, course.folder / "gradebook.db", around)
            honest = hand_in_honest(course, secret=canary("other"))
            fair = hand_in_attacks(course, attacks, where)
            started = time.monotonic()
            records = grade(course, NAME, how=How(workers=2, timeout=timeout))
            seconds = time.monotonic() - started
            touched = around.touched()
    finally:
        os.environ.pop(SECRET)
        if before is not None:
            os.environ[SECRET] = before
    scores = read_scores(course, NAME, records)
    points = {record.student: scores.row(record.student).total for record in records}
    return Graded(
        course, honest, fair, {record.student: record for record in records}, points, touched, seconds
    )


def _plant(course: Course) -> None:
    """Secrets in the solutions and in the hidden checks."""
    path = course.solution(NAME)
    solution = notebooks.read(path)
    for cell in solution["cells"]:
        source = notebooks.text(cell)
        begin = re.search(r"^( *)### BEGIN SOLUTION\n", source, re.MULTILINE)
        if begin:
            secret = f"{begin.group()}{begin.group(1)}# {canary('solution')}\n"
            cell["source"] = source.replace(begin.group(), secret)
    notebooks.write(solution, path)
    with (course.solutions / "checks" / f"{NAME}.py").open("a", encoding="utf-8") as file:
        file.write(f'\nSECRET = "{canary("check")}"\n')
