"""Choose the five questions of a sheet: of several kinds, about several exercises, alike for all."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence

from cellgrader.viva.outcomes import SAME, STOPS
from cellgrader.viva.questions import BATCH, LINE, LOOK, NEW_SHAPE, NUMBERS, ROWS, WORD, Question

MANY = 5
# What the five questions of every sheet ask for, in this order: read a shape, follow a shape or an
# error, follow numbers, see why nothing happens or what a batch of one does, and say what happens.
SLOTS: tuple[Callable[[Question], bool], ...] = (
    lambda one: one.kind == LOOK,
    lambda one: one.kind in (NEW_SHAPE, LINE),
    lambda one: one.kind in (NUMBERS, ROWS),
    lambda one: one.kind == BATCH or one.kind == WORD and one.result == SAME,
    lambda one: one.kind == WORD and one.result != SAME,
)
MOST_STOPS, MOST_ALIKE = 1, 2


def choose(candidates: Sequence[Question], seed: int) -> list[Question]:
    """Five questions, or as many as there are; in the order of the exercises and lines."""
    chance = random.Random(seed)
    mixed = chance.sample(list(candidates), len(candidates))
    chosen: list[Question] = []
    for slot in SLOTS:
        fitting = [one for one in mixed if slot(one)]
        # What happens should not be guessed: every result is as likely, whatever is most frequent.
        results = sorted({one.result for one in fitting})
        chance.shuffle(results)
        for result in results:
            if _add(chosen, [one for one in fitting if one.result == result], MOST_ALIKE):
                break
    for most in (MOST_ALIKE, MANY):
        while len(chosen) < MANY and _add(chosen, mixed, most):
            pass
    order = {name: place for place, name in enumerate(dict.fromkeys(one.exercise for one in candidates))}
    return sorted(chosen, key=lambda one: (order[one.exercise], one.line, one.words))


def _add(chosen: list[Question], mixed: Sequence[Question], most: int) -> bool:
    """Add the question that repeats the least of what was chosen; False if none fits."""
    about = {one.about for one in chosen}
    kinds, names = Counter(one.kind for one in chosen), Counter(one.exercise for one in chosen)
    stops = sum(one.result == STOPS for one in chosen)
    fitting = [
        one
        for one in mixed
        if one.about not in about
        and kinds[one.kind] < most
        and (one.result != STOPS or stops < MOST_STOPS)
    ]
    if not fitting:
        return False
    lines = {(one.exercise, one.line) for one in chosen}
    chosen.append(
        min(
            fitting,
            key=lambda one: (
                one.plain,
                names[one.exercise],
                (one.exercise, one.line) in lines,
                kinds[one.kind],
            ),
        )
    )
    return True
