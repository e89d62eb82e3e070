"""A class of attackers and honest students, with secrets that nobody may see."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from seqcourse.grading import notebook as notebooks
from seqcourse.grading.course import Course
from seqcourse.grading.sample import answered, right_answers
from tests.attacks.hostile import CANARY, NAME, Attack, Place, hand_in


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
    import re

    found = set(re.findall(CANARY + r"[a-z]+-[0-9a-f]{12}", text))
    return found | set(re.findall("STO" + r"LEN.{0,80}", text))
