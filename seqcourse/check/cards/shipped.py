"""What a student's package holds of the cards: exercises.json beside the records of an assignment.

It has the order and the polls of the assignment and of each exercise what its self-check says, with its
mistakes written out: no hidden case, no right answer.

    python -m seqcourse.check.cards.shipped          # makes these files from the cards and the notebooks
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from seqcourse import progress
from seqcourse.check.cards import card, listing, mistakes
from seqcourse.check.exercise import Exercise
from seqcourse.check.experiments import Experiments
from seqcourse.check.polls import Polls

FILE = "exercises.json"


def written_out(root: Path, assignment: str) -> str:
    """The text of the file: a line for each exercise that has hidden checks, in the notebook's order."""
    folder, lines = root / "solutions" / "checks" / assignment, []
    found = {name: one for name, one in card.cards(folder).items() if one.hidden}
    for task in progress.read(root / "solutions" / assignment / f"{assignment}.ipynb").tasks:
        for name in filter(found.__contains__, task.points):
            told = json.dumps({"number": task.number, **found[name].told}, ensure_ascii=False)
            lines.append(f"{json.dumps(name)}: {told}")
    polls = {poll: "".join(why) for poll, why in listing.polls(folder / card.POLLS)[1].items()}
    return f'{{"polls": {json.dumps(polls)}, "exercises": {{\n' + ",\n".join(lines) + "\n}}\n"


def read(folder: Path) -> dict[str, Any]:
    """The polls and exercises of an assignment, from the folder of its records."""
    return json.loads((folder / FILE).read_text(encoding="utf-8"))


def gather(package: str, path: Iterable[str]) -> tuple[dict[str, Exercise], Experiments, Polls]:
    """The exercises of all modules of a package (`__name__`, `__path__`), its experiments and polls."""
    told = read(next(map(Path, path)))
    modules = [importlib.import_module(part.name) for part in pkgutil.iter_modules(path, f"{package}.")]
    values = [value for module in modules for value in vars(module).values()]
    found = {value.name: value for value in values if isinstance(value, Exercise)}
    numbers = {name: one.pop("number") for name, one in told["exercises"].items()}
    fill(found, told["exercises"])
    return found, Experiments(found, numbers), Polls(told["polls"])


def fill(exercises: Mapping[str, Exercise], told: Mapping[str, Mapping[str, Any]]) -> None:
    """Put what the cards say into the records; the mistakes in front of the records' own."""
    right = {name: one.reference for name, one in exercises.items() if one.reference}
    for name, one in exercises.items():
        fields = dict(told.get(name, {}))
        made = mistakes.likely(name, fields.pop("mistakes", ()), right)
        made = [replace(mistake, answer=one.through(mistake.answer)) for mistake in made]
        for field, value in {**fields, "likely": [*made, *one.likely]}.items():
            object.__setattr__(one, field, tuple(value) if isinstance(value, list) else value)


if __name__ == "__main__":
    here = Path(__file__).resolve().parents[1]
    for kept in sorted(here.glob(f"ps*/{FILE}")):
        kept.write_text(written_out(here.parents[1], kept.parent.name), encoding="utf-8")
