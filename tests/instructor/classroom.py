"""The class of the day: what its students hand in, and their names in the gradebook."""

from __future__ import annotations

import csv
import re
import secrets
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cellgrader.course.folders import Course
from cellgrader.notebook import document as notebooks
from cellgrader.release import sample
from tests.grading.watching import write_time

NAME = "ps1"
NOTEBOOK = f"{NAME}.ipynb"
# id -> (first name, last name): commas, quotes, accents, and one that a spreadsheet takes for a formula.
ROSTER = {
    "ada": ("Ada", "Lovelace"),
    "jose": ("José María", "Núñez Ångström"),
    "pat": ('Pat "Paddy"', "O'Brien, Jr."),
    "bob": ("Bob", "=1+1"),
    "zoë": ("Zoë", "Đặng"),
}
COPIED = ("bob", "zoë")
# Bob's own way to write it; Zoë has it with other names.
BOBS_PAIRS = """def training_pairs(ids, length):
    rows = []
    wanted = []
    start = 0
    while start + length + 1 <= len(ids):
        piece = ids[start : start + length + 1]
        rows.append(piece[:-1])
        wanted.append(piece[1:])
        start = start + length
    return torch.stack(rows), torch.stack(wanted)
"""
BOBS_STEP = """def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    from_input = torch.einsum("bi,hi->bh", x, w_ih)
    from_input = from_input + b_ih.unsqueeze(0)
    from_state = torch.einsum("bj,hj->bh", h, w_hh)
    from_state = from_state + b_hh.unsqueeze(0)
    both = torch.add(from_input, from_state)
    return torch.tanh(both)
"""
ZOES_NAMES = {
    "rows": "inputs", "wanted": "targets", "start": "begin", "piece": "window",
    "from_input": "a", "from_state": "b", "both": "total",
}  # fmt: skip
BOBS_WORDS = "The gates keep a road open along which the gradient travels back over many steps at once."


def hours(count: float) -> datetime:
    """So many hours from now, without fractions of a second."""
    now = datetime.now(UTC).replace(microsecond=0)
    return now + timedelta(hours=count)


def renamed(source: str) -> str:
    """The same program with other names."""
    for old, new in ZOES_NAMES.items():
        source = re.sub(rf"\b{old}\b", new, source)
    return source


def write_roster(path: Path) -> None:
    """The file of `nbgrader db student import`."""
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(["id", "first_name", "last_name", "email"])
        for who, (first, last) in ROSTER.items():
            out.writerow([who, first, last, f"{who}@example.org"])


def hand_in(course: Course, folder: Path, student: str, answers: dict[str, str], when: datetime) -> None:
    """Write what `nbgrader submit` would have written into the exchange at another time."""
    released = notebooks.read(course.assignments / NAME / NOTEBOOK)
    time = when.strftime("%Y-%m-%d %H:%M:%S.%f UTC")
    sent = folder / f"{student}+{NAME}+{time}+{secrets.token_urlsafe(9)}"
    notebooks.write(sample.answered(released, answers), sent / NOTEBOOK)
    write_time(sent, time)
    (sent / "submission_secret.txt").write_text(secrets.token_hex(64))


def the_others_hand_in(course: Course, inbound: Path, when: datetime) -> None:
    """Everybody but Ada: one with everything right, one with nothing, and two with the same work."""
    right = sample.right_answers(notebooks.read(course.solution(NAME)))
    hand_in(course, inbound, "jose", right, when)
    hand_in(course, inbound, "pat", {}, when)
    bobs = {**_some(right), "rnn_step": BOBS_STEP, "training_pairs": BOBS_PAIRS, "why": BOBS_WORDS}
    hand_in(course, inbound, "bob", bobs, when)
    zoes = {task: renamed(answer) for task, answer in bobs.items()}
    hand_in(course, inbound, "zoë", zoes, when)


def _some(right: dict[str, str]) -> dict[str, str]:
    return {task: right[task] for task in ("lstm_step", "poll_1", "poll_2")}


def adas_week(course: Course, fetched: Path) -> None:
    """What Ada wrote before today: most is right, and two answers have a typical mistake."""
    right = sample.right_answers(notebooks.read(course.solution(NAME)))
    wrong = sample.wrong_answers(course, NAME)
    answers = {task: right[task] for task in right if task not in ("rnn_step", "why")}
    answers["lstm_step"] = wrong["lstm_step"][0][1]
    answers["gradient_norms"] = wrong["gradient_norms"][0][1]
    answers["poll_2"] = 'poll_2 = "c"'
    notebooks.write(sample.answered(notebooks.read(fetched), answers), fetched)


def canvas_export(path: Path) -> None:
    """A file as Canvas exports it: its own columns and rows around ours, and one who left the class."""
    rows = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "ps1 (4711)", "Final Score"],
        ["    Points Possible", "", "", "", "", "50.00", "(read only)"],
    ]
    for number, (who, (first, last)) in enumerate(ROSTER.items(), start=100):
        name = f"{last}, {first}"
        rows.append(
            [f'="{name}"' if name.startswith("=") else name, number, f"s{number}", who, "A", "", "0"]
        )
    rows.append(["Gone, Gina", 99, "s99", "gina", "A", "12.00", "24"])
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows(rows)
