"""The list of an assignment's hidden checks in plain text."""

from __future__ import annotations

import pytest

from seqcourse.check.exercise import Exercise
from seqcourse.check.hidden import BY_CASE, Poll
from seqcourse.check.inputs import literal
from seqcourse.check.listing import read_checks
from seqcourse.errors import CourseError

DOUBLE = Exercise(
    "double",
    literal,
    lambda x: 2 * x,
    see=("01", "Twice"),
    variants={"chosen": {"cases": lambda seed: {"a seed": dict(x=seed, seed=seed)}, "hint": "?"}},
)


def read(folder, text: str) -> list:
    path = folder / "checks.txt"
    path.write_text(text, encoding="utf-8")
    return read_checks(path, {"double": DOUBLE})


TEXT = """
=== double-grade
see: 02, Doubling, again
share: by case
no gradients of: x
hint: Is it twice?
a number: x=2
two: x=[1, 2.5], kind="pair"

=== double-grade-2
variant: chosen

=== poll_1-grade
see: 03, Polls
right: b
"""


def test_cells_cases_and_options_are_read_in_their_order(tmp_path):
    one, two, poll = read(tmp_path, TEXT)
    assert (one.cell, one.answer, one.see, one.share) == (
        "double-grade",
        "double",
        ("02", "Doubling, again"),
        BY_CASE,
    )
    assert one.cases == {"a number": {"x": 2}, "two": {"x": [1, 2.5], "kind": "pair"}}
    assert (list(one.exercise.excused), one.exercise.hint) == (["gradients of x"], "Is it twice?")
    assert two.choose(7) == {"a seed": {"x": 7, "seed": 7}}
    assert (two.see, two.exercise.excused, two.exercise.hint) == (("01", "Twice"), {}, "?")
    assert poll == Poll("poll_1-grade", "poll_1", "b", ("03", "Polls"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("=== half-grade\na: x=1", "there is no half"),
        ("=== double-grade", "should have cases"),
        ("=== double-grade\na number", "should be `name: ...`"),
        ("=== double-grade\na number: 2", "plain values by name"),
        ("=== double-grade\na number: x=open('f')", "plain values by name"),
        ("=== double-grade\na number: x=(", "plain values by name"),
        ("=== double-grade\nvariant: none\na: x=1", "no variant 'none'; it has chosen"),
        ("=== double-grade\nshare: half\na: x=1", "should be 'by case'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path, text, words):
    with pytest.raises(CourseError, match="checks.txt") as caught:
        read(tmp_path, text)
    assert words in str(caught.value)
