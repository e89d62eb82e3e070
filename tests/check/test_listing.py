"""Hidden checks and polls in plain text."""

from __future__ import annotations

import pytest

from seqcourse.check.calls.inputs import literal
from seqcourse.check.cards.listing import hidden_check, polls
from seqcourse.check.exercise import Exercise
from seqcourse.check.hidden import BY_CASE, Poll
from seqcourse.errors import CourseError

DOUBLE = Exercise(
    "double",
    literal,
    lambda x: 2 * x,
    see=("01", "Twice"),
    variants={"chosen": {"cases": lambda seed: {"a seed": dict(x=seed, seed=seed)}, "hint": "?"}},
)


def read(text: str):
    return hidden_check("double-grade", text.splitlines(), DOUBLE)


def test_cases_and_options_are_read():
    one = read(
        "see: 02, Doubling, again\nshare: by case\nno gradients of: x\nhint: Is it twice?\n"
        'a number: x=2\n\ntwo: x=[1, 2.5], kind="pair"'
    )
    two = read("variant: chosen")
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


def test_polls_have_a_right_option_and_reasons(tmp_path):
    path = tmp_path / "polls.txt"
    assert polls(path) == ([], {})
    path.write_text(
        "=== poll_1\nsee: 03, Polls\nright: b\na: No: why.\nb: Yes.\n\n=== poll_2\nright: a\n"
    )
    assert polls(path) == (
        [Poll("poll_1-grade", "poll_1", "b", ("03", "Polls")), Poll("poll_2-grade", "poll_2", "a")],
        {
            "poll_1": {"a": "No: why.", "b": "Yes."},
        },
    )
    for text in ("=== poll_1\na: Why.\n", "=== poll_1\nright: b\na: Why.\n"):
        path.write_text(text)
        with pytest.raises(CourseError, match="polls.txt: poll_1 should say which option is right"):
            polls(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "should have cases"),
        ("a number", "should be `name: ...`"),
        ("a number: 2", "plain values by name"),
        ("a number: x=open('f')", "plain values by name"),
        ("a number: x=(", "plain values by name"),
        ("variant: none\na: x=1", "no variant 'none'; it has chosen"),
        ("share: half\na: x=1", "should be 'by case'"),
    ],
)
def test_what_is_wrong_is_said_with_its_cell(text, words):
    with pytest.raises(CourseError, match="double-grade") as caught:
        read(text)
    assert words in str(caught.value)
