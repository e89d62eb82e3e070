"""What a reader guesses before a figure is seen: the records, what is said of a guess, and the check.

A prediction is one record, such as `windows` in 07.toml, of one of three kinds. ``options``: the reader
chooses, as in a poll. ``wrong`` with ``to``: the reader gives the last column, and each wrong guess up
to a number has its sentence. ``wrong`` with ``like``: the reader sketches a row of shares, and the
nearest row has its sentence. Whenever a chapter runs, what it measures is compared with the record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seqcourse.errors import CourseError
from seqcourse.settings import budget
from seqcourse.viz.poll import folded, load_poll, written

PREDICTIONS = Path(__file__).parent


@dataclass(frozen=True)
class Prediction:
    """A prediction that is drawn: columns of numbers, of which the reader guesses the last or all.

    truth: what the chapter measures.      tolerance: how far a run of the chapter may be from it.
    wrong: of a number, the first one whose limit is not below the guess; of a row, the nearest one.
    of: what the columns count, such as "letters".
    low, high, step, start: of the axis, and where the slider stands at first, which is no right answer.
    given: how many columns are shown first (0 for a row).
    near: a guess that is not farther than this from the last column is right.
    """

    name: str
    question: str
    columns: Sequence[str]
    truth: Sequence[float]
    tolerance: float
    so: str
    wrong: Sequence[tuple[float | Sequence[float], str]]
    of: str = ""
    given: int = 0
    low: float = 0
    high: float = 100
    step: float = 1
    start: float = 0
    unit: str = " %"
    near: float = 0
    line: bool = False

    @property
    def row(self) -> bool:
        """Whether all columns are guessed, as shares of 100."""
        return not isinstance(self.wrong[0][0], int | float)

    @property
    def guessed(self) -> list[int]:
        """The columns that the reader guesses."""
        return list(range(len(self.columns))) if self.row else [len(self.columns) - 1]


def load_prediction(name: str) -> Prediction | dict[str, Any]:
    """The record ``name``, for example "07-windows"; one to choose from is a poll with its ``truth``."""
    known = written(PREDICTIONS, name, "prediction")
    if "options" in known:
        return load_poll(name, PREDICTIONS, "prediction") | {"truth": known["truth"]}
    texts = {key: folded(known.pop(key)) for key in ("question", "so")}
    wrong = [(each.get("like", each.get("to")), folded(each["why"])) for each in known.pop("wrong")]
    return Prediction(name, **texts, **known, wrong=wrong)


def shares(row: Sequence[float]) -> list[float]:
    """A sketched row so that it sums to 100; one without any height is even."""
    whole = sum(row)
    return [100 * x / whole if whole else 100 / len(row) for x in row]


def judge(prediction: Prediction, guess: Sequence[float]) -> int:
    """0 for a right guess, else the number of the sentence, from 1. The same as in predict.js."""
    if prediction.row:
        rows = [prediction.truth, *(like for like, _ in prediction.wrong)]
        apart = [np.abs(np.subtract(shares(guess), shares(row))).sum() for row in rows]
        return int(np.argmin(apart))
    if abs(guess[0] - prediction.truth[-1]) <= prediction.near + 1e-9:
        return 0
    return 1 + next(place for place, (to, _) in enumerate(prediction.wrong) if guess[0] <= to)


def predicted(name: str, measured: Any) -> None:
    """Raise CourseError unless a chapter measures what the prediction ``name`` says.

    measured: the numbers of all columns (of a row, its weights in any unit), or, for options, the value
    that the record calls ``truth``. Long recipes (SEQCOURSE_BUDGET=full) measure something else, and
    are not compared.
    """
    if budget() == "full":
        return
    record = load_prediction(name)
    if isinstance(record, Mapping):
        truth, same = record["truth"], measured == record["truth"]
    else:
        measured = [float(x) for x in measured]
        measured = shares(measured) if record.row else measured
        truth = list(record.truth)
        same = np.shape(measured) == np.shape(truth) and np.allclose(
            measured, truth, rtol=0, atol=record.tolerance
        )
    if not same:
        raise CourseError(f"The prediction {name!r} says {truth}, but this run measured {measured}.")
