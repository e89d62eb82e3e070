"""Cards with right and wrong answers: what they say, and the sentence for what does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqcourse.check.cards import card
from seqcourse.check.cards.corpus import Answers, changed, poll_answers
from seqcourse.check.cards.load import answers_to, load_checks
from seqcourse.check.hidden import Poll
from seqcourse.errors import CourseError

RIGHT = """=== right: two lines
def scaled(x, by):
    y = x * by
    return y
"""


def text(folder: Path, *sections: str) -> Path:
    (folder / "scaled.txt").write_text("\n".join(sections))
    return folder / "scaled.txt"


def read(path: Path) -> Answers:
    return card.read(path).answers


HEAD = """idea: A product.
see: 03, Products, and more
ask: What is the product? Of what?
excused: gradients - a mask comes out; gradients of by - a number: not trained

=== hidden: scaled-grade
a few: n=3

=== hidden: scaled-grade-2
see: 04, Sums
more: n=4

=== explained: two lines
A product | is
taken.
"""


def test_a_card_has_the_words_of_an_exercise_and_its_hidden_checks(tmp_path):
    found = card.read(text(tmp_path, HEAD, RIGHT))
    assert found.told == {
        "idea": "A product.",
        "see": ("03", "Products, and more"),
        "questions": ("What is the product?", "Of what?"),
        "excused": {"gradients": "a mask comes out", "gradients of by": "a number: not trained"},
    }
    assert found.hidden == {
        "scaled-grade": ["a few: n=3"],
        "scaled-grade-2": ["see: 04, Sums", "more: n=4"],
    }
    assert found.explained == ("two lines", "A product | is taken.")
    assert [style for style, _ in found.answers.right] == ["two lines"]


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("a note\n", "should be 'idea: ...', .* but is 'a note'"),
        ("ideal: this\n", "should be 'idea"),
        ("=== hidden: scale-grade\na: n=3\n", "a grade cell of scaled"),
        ("=== hidden: scaled-grade\na: n=3\n" * 2, "a grade cell of scaled, once"),
    ],
)
def test_a_head_that_does_not_fit_is_refused_with_its_place(tmp_path, head, words):
    with pytest.raises(CourseError, match=f"{tmp_path.name}/scaled.txt.*{words}"):
        card.read(text(tmp_path, head, RIGHT))


def test_a_card_with_hidden_checks_belongs_to_an_exercise(tmp_path):
    folder = tmp_path / "solutions" / "checks" / "ps1"
    folder.mkdir(parents=True)
    text(folder, HEAD, RIGHT)
    with pytest.raises(CourseError, match=r"ps1/scaled.txt: .* there is no scaled"):
        load_checks(tmp_path, "ps1")


def test_right_whole_and_surviving_answers_are_read_as_they_stand(tmp_path):
    whole = "=== wrong: zero | is 0: a | b\ndef scaled(x, by):\n\n    return 0\n"
    survives = "=== survives: DropCall, line 3 | why not\n    return (y) | 0\n"
    held = "=== held out: one | a / b\ndef scaled(x, by):\n    return 1\n"
    answers = read(text(tmp_path, RIGHT, whole, held, survives))
    assert answers.held_out == [("one", "def scaled(x, by):\n    return 1\n", "a / b")]
    assert answers.right == [("two lines", "def scaled(x, by):\n    y = x * by\n    return y\n")]
    assert answers.wrong == [("zero", "def scaled(x, by):\n\n    return 0\n", "is 0: a | b")]
    assert answers.survives == [("DropCall", 3, "return (y) | 0", "why not")]


def test_a_change_belongs_to_the_right_answer_above_it(tmp_path):
    one_line = "=== right: one line\ndef scaled(x, by):\n    return x * by\n"
    wrong = "=== wrong: {} | words\n*  =>  +\n"
    answers = read(text(tmp_path, RIGHT, wrong.format("first"), one_line, wrong.format("second")))
    assert [style for style, _ in answers.right] == ["two lines", "one line"]
    assert answers.wrong == [
        ("first", "def scaled(x, by):\n    y = x + by\n    return y\n", "words"),
        ("second", "def scaled(x, by):\n    return x + by\n", "words"),
    ]


def test_an_indented_answer_is_the_body_of_the_function_above(tmp_path):
    helper = "=== right: a helper\ndef twice(x):\n    return 2 * x\n\n"
    helper += "\ndef scaled(x, by=2):\n    return twice(x)\n"
    right = "=== right: by hand\n    y = x\n\n    return y * by\n"
    wrong = "=== wrong: not scaled | words\n    return x\n"
    answers = read(text(tmp_path, helper, right, wrong))
    assert answers.right[1] == ("by hand", "def scaled(x, by=2):\n    y = x\n\n    return y * by\n")
    assert answers.wrong == [("not scaled", "def scaled(x, by=2):\n    return x\n", "words")]
    with pytest.raises(CourseError, match="no line 'def scaled"):
        read(text(tmp_path, "=== right: a constant\nscaled = 2\n", wrong))
    with pytest.raises(CourseError, match="no right answer above"):
        read(text(tmp_path, wrong))


@pytest.mark.parametrize(
    ("change", "result"),
    [
        ("b + c  =>  b", "a = b\nif a:\n    a = b\n"),
        ("+ c  =>", "a = b \nif a:\n    a = b\n"),
        ("2x b  =>  x", "a = x + c\nif a:\n    a = x\n"),
        ("+ c  =>  - c\nif a  =>  if not a", "a = b - c\nif not a:\n    a = b\n"),
        ("- if a:\n-     a = b", "a = b + c\n"),
        ("  if a:\n+\n+     b = a", "a = b + c\nif a:\n\n    b = a\n    a = b\n"),
        ("- a = b + c\n+ a = c\n\n-     a = b\n+     a = 0", "a = c\nif a:\n    a = 0\n"),
        ("+ c  =>  - c\n\n- if a:\n+ if b:", "a = b - c\nif b:\n    a = b\n"),
    ],
)
def test_pieces_and_lines_are_replaced(change, result):
    source = "a = b + c\nif a:\n    a = b\n"
    assert changed(source, f"{change}\n") == result


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("=== maybe: this\nx = 1", "'=== maybe: this': it should be '=== right: style'"),
        ("=== wrong: nothing below | words", "with lines below"),
        ("=== right: two lines\nx = 1", "another answer has this name"),
        ("=== wrong: two lines | words\n*  =>  +", "another answer has this name"),
        ("=== wrong: absent | words\nz  =>  a", "'z' occurs 0 times .* not 1"),
        ("=== wrong: often | words\ny  =>  a", "'y' occurs 4 times .* not 1"),
        ("=== wrong: half | words\n3x return  =>  a", "'return' occurs 1 times .* not 3"),
        ("=== wrong: no such line | words\n-   y = x * by", "occurs 0 times"),
        ("=== wrong: no place | words\n+     y = x * by", "occurs"),
        ("=== wrong: mixed | words\n*  =>  +\ny = 2", "'y = 2' is no change"),
        ("=== survives: DropCall | why\nx", "operator, line 3"),
        ("=== survives: DropCall, line 3\nx", "operator, line 3"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(tmp_path, section, words):
    with pytest.raises(CourseError, match=words) as caught:
        read(text(tmp_path, RIGHT, section + "\n"))
    assert f"{tmp_path.name}/scaled.txt" in str(caught.value)


def test_a_change_needs_a_right_answer(tmp_path):
    with pytest.raises(CourseError, match="no right answer above"):
        read(text(tmp_path, "=== wrong: first | words\n*  =>  +\n", RIGHT))


def test_every_text_belongs_to_a_check(tmp_path):
    text(tmp_path, RIGHT)
    with pytest.raises(CourseError, match="ps1/scaled.txt should be named after an exercise"):
        answers_to([Poll("poll_1-grade", "poll_1", "b")], card.cards(tmp_path), "ps1")


def test_wrong_answers_to_a_poll_are_made_from_its_right_letter(tmp_path):
    poll = Poll("poll_1-grade", "poll_1", "b")
    made = answers_to([poll], card.cards(tmp_path / "missing"), "ps1")["poll_1"].wrong
    assert made == poll_answers(poll)
    values = []
    for _, source in made:
        space: dict = {}
        exec(source, space)
        values.append(space["poll_1"])
    assert values == ["a", "c", "d", None, "abcd", ["a", "b", "c", "d"], "x", "B"]
