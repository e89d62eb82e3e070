"""Hostile submissions of assignment 2, read from the files in corpus/.

A file of the corpus is a page: a title, lines `key: value`, prose that says what is tried, and code.

    # Every comparison says yes

    kind: points
    answers: shapes

    `torch.allclose` and `torch.equal` are replaced.

    ```python first
    torch.allclose = lambda *given, **named: True
    ```

kind     what is tried: `points` without solving the exercise, `others` (their grades or work),
         `leak` (a hidden value reaches an output or a page), `stop` (the run ends)
answers  what the answer cells hold where the page says nothing else: `untouched`, `hollow` (return
         None), `shapes` (zeros of the right shapes; the default)
honest   exercises that are solved honestly, whose points are therefore fair
stock    `run` (the default), or why plain nbgrader was not given this one

The words behind ```python say where the code goes: `answer NAME` in an answer cell's place,
`first`, `last`, `before NAME` or `after NAME` as a cell of its own, and `build` not at all: it is run
here, by the tests, and changes the submission's files. Words between at signs, such as @GRADEBOOK@,
stand for places that a real attacker would know or find.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cellgrader.notebook import document as notebooks
from cellgrader.release.sample import answered, right_answers

CORPUS = Path(__file__).parent / "corpus"
NAME = "ps2"
KINDS = ("points", "others", "leak", "stop")
FENCE = re.compile(r"^```python (.+?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADER = re.compile(r"^(kind|answers|honest|stock): (.+)$", re.MULTILINE)

# What every hidden value and every secret of the tests begins with; attacks search for it.
CANARY = "cana" + "ry-"
# What an attack prints in front of something that it was not meant to see.
LOOT = "STO" + "LEN"

HOLLOW = "def {name}(*given, **named):\n    return None\n"
SHAPES = {
    "final_states": "def final_states(states, lengths):\n    return 0 * states[:, 0]\n",
    "decoder_step": (
        "def decoder_step(tokens, s, c, embedding, w_y, w_s, w_c, b, w_out, b_out):\n"
        "    new = 0 * (s + c.sum() + embedding.sum())\n"
        "    return new @ w_out.T + 0 * b_out, new\n"
    ),
    "teacher_forced_loss": (
        "def teacher_forced_loss(step, state, y):\n"
        "    losses = 0 * step(y[:, 0], state)[0][:, 0]\n"
        "    return losses, losses.mean()\n"
    ),
    "greedy": (
        "def greedy(step, state, first, max_len):\n"
        "    return torch.zeros(len(first), max_len, dtype=torch.int64)\n"
    ),
    "gumbel_softmax": (
        "def gumbel_softmax(logits, u, temperature):\n"
        "    return 0 * logits, torch.zeros(len(logits), dtype=torch.int64)\n"
    ),
    "scheduled_sampling": (
        "def scheduled_sampling(step, state, y, epsilon, generator=None):\n"
        "    z = step(y[:, 0], state)[0]\n"
        "    return torch.stack([0 * z] * (y.shape[1] - 1), 1), y[:, :-1]\n"
    ),
    "beam_search": (
        "def beam_search(step, state, beam_width, max_len, alpha=0.0):\n    return [EOS], 0.0\n"
    ),
}


@dataclass(frozen=True)
class Attack:
    """One page of the corpus; ``cells`` are (place, source), ``build`` changes files."""

    name: str
    title: str
    tries: str
    kind: str
    answers: str = "shapes"
    honest: tuple[str, ...] = ()
    stock: str = "run"
    cells: tuple[tuple[str, str], ...] = ()
    build: str = ""

    def fair(self, solution: dict) -> float:
        """The points of the exercises that it solves honestly."""
        tasks = notebooks.exercises(solution)
        return sum(task.automatic for task in tasks if task.name in self.honest)


@dataclass(frozen=True)
class Place:
    """Where a class lies, and the words that stand for it in the corpus."""

    submitted: Path
    words: Mapping[str, str] = field(default_factory=dict)

    def put_in(self, source: str) -> str:
        for word, value in self.words.items():
            source = source.replace(f"@{word}@", value)
        return source


def read(path: Path) -> Attack:
    """One page; ValueError where it is not as the module's text says."""
    page = path.read_text(encoding="utf-8")
    prose = FENCE.sub("", page)
    keys = dict(HEADER.findall(prose))
    title, _, rest = prose.partition("\n")
    blocks = FENCE.findall(page)
    if not title.startswith("# ") or keys.get("kind") not in KINDS or not blocks:
        raise ValueError(f"{path.name} should have a title, a kind ({', '.join(KINDS)}) and code.")
    tries = " ".join(HEADER.sub("", rest).split())
    return Attack(
        name=path.stem,
        title=title[2:].strip(),
        tries=tries,
        kind=keys["kind"],
        answers=keys.get("answers", "shapes"),
        honest=tuple(keys.get("honest", "").split()),
        stock=keys.get("stock", "run"),
        cells=tuple((place, source) for place, source in blocks if place != "build"),
        build="\n".join(source for place, source in blocks if place == "build"),
    )


def load() -> list[Attack]:
    """The whole corpus, in order."""
    pages = sorted(CORPUS.glob("*.md"), key=lambda path: int(path.name.split("_")[0]))
    return [read(path) for path in pages]


def hand_in(attack: Attack, released: dict, solution: dict, place: Place) -> Path:
    """Write the submission of an attack and return the student's folder for the assignment."""
    folder = place.submitted / attack.name / NAME
    folder.mkdir(parents=True)
    filled = _filled(attack, released, solution, place)
    path = folder / f"{NAME}.ipynb"
    path.write_text(json.dumps(filled, indent=1), encoding="utf-8")
    if attack.build:
        known = {"folder": folder, "path": path, "notebook": filled, "json": json, "Path": Path}
        known |= {"submitted": place.submitted, "cell": lambda name: _cell(filled, name)}
        exec(compile(place.put_in(attack.build), f"{attack.name} build", "exec"), known)
    return folder


def _cell(notebook: dict, name: str) -> dict:
    return next(cell for cell in notebook["cells"] if notebooks.mark(cell).get("grade_id") == name)


def _filled(attack: Attack, released: dict, solution: dict, place: Place) -> dict:
    """The notebook of an attack: the released one with its answers and additional cells."""
    right = right_answers(solution)
    answers = {}
    for name in right:
        if attack.answers == "hollow" or (attack.answers == "shapes" and name not in SHAPES):
            empty = f"{name} = None\n" if name.startswith("poll") else HOLLOW.format(name=name)
            answers[name] = empty
        elif attack.answers == "shapes":
            answers[name] = SHAPES[name]
    answers.pop("search", None)  # a written answer
    answers |= {name: right[name] for name in attack.honest}
    for where, source in attack.cells:
        if where.startswith("answer "):
            answers[where.removeprefix("answer ")] = place.put_in(source)
    filled = answered(copy.deepcopy(released), answers)
    for number, (where, source) in enumerate(attack.cells):
        if not where.startswith("answer "):
            _insert(filled, where, place.put_in(source), f"attack-{number}")
    return filled


def _insert(notebook: dict, where: str, source: str, identifier: str) -> None:
    """Put a cell of code where the page says."""
    cells = notebook["cells"]
    extra = {
        "cell_type": "code",
        "id": identifier,
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": source,
    }
    side, _, name = where.partition(" ")
    if side == "first":
        cells.insert(0, extra)
    elif side == "last":
        cells.append(extra)
    elif side in ("before", "after"):
        index = cells.index(_cell(notebook, name))
        cells.insert(index + (side == "after"), extra)
    else:
        raise ValueError(f"A place should be first, last, before NAME or after NAME, but is {where!r}.")
