"""Which submissions are alike: copies are found, honest work is left alone, names are harmless."""

from __future__ import annotations

import io
import json
import os
from functools import partial

import pytest
from rich.console import Console

from cellgrader import bounds
from cellgrader.course.folders import Course
from cellgrader.errors import CourseError
from cellgrader.notebook import document as notebooks
from cellgrader.release import sample
from cellgrader.release.sample import load_checks
from cellgrader.similar import compare as similar
from cellgrader.similar.compare import (
    COMMON,
    Similar,
    answers_in,
    as_table,
    compare,
    compare_class,
    compare_with_ours,
    fingerprints,
)
from cellgrader.similar.pairs_page import as_page
from tests.sizes import nightly_but

from .toy import ROOT

CODE = {"work": True, "other": True, "words": False}
OWN = """def work(values, size):
    found = []
    for start in range(0, len(values) - size + 1):
        window = values[start : start + size]
        total = sum(window) / float(size)
        if total > 0.5 and start % 2 == 0:
            found.append((start, total))
    return sorted(found, key=lambda pair: -pair[1])
"""
DIFFERENT = """def work(values, size):
    import itertools

    sums = list(itertools.accumulate(values, initial=0.0))
    means = {k: (sums[k + size] - sums[k]) / size for k in range(len(values) - size + 1)}
    even = filter(lambda item: item[0] & 1 == 0 and item[1] > 0.5, means.items())
    return sorted(even, key=lambda item: item[1], reverse=True)
"""
TEXT = "The gradient fades because every step back multiplies it by a number that is smaller than one, "
TEXT += "and after a hundred steps nothing is left of it."


def renamed(source: str) -> str:
    for old, new in (("found", "hits"), ("window", "piece"), ("total", "mean"), ("start", "i")):
        source = source.replace(old, new)
    return source


def found(answers: dict, known: list = (), threshold: float = 0.5) -> list:
    works = {who: fingerprints(work, CODE) for who, work in answers.items()}
    return compare(works, [fingerprints(each, CODE) for each in known], threshold)


def test_a_renamed_copy_is_found_and_its_place_is_known():
    (pair,) = found({"ada": {"work": OWN}, "bob": {"work": renamed(OWN)}, "eve": {"work": DIFFERENT}})
    assert pair.students == ("ada", "bob")
    assert min(pair.shares) > 0.95
    (part,) = pair.shared
    marked = "".join(part.sources[1][begin:end] for begin, end in part.places[1])
    assert "piece" in marked and "i % 2" in marked


def test_comments_and_spaces_hide_nothing():
    hidden = OWN.replace("    found = []", "    # mine\n\n    found   =   []  # all mine")
    (pair,) = found({"ada": {"work": OWN}, "bob": {"work": hidden}})
    assert min(pair.shares) > 0.9


def test_other_work_is_not_alike():
    assert found({"ada": {"work": OWN}, "eve": {"work": DIFFERENT}}, threshold=0.2) == []


def test_a_part_that_was_copied_is_found_in_the_one_who_copied():
    half = {"work": OWN, "other": DIFFERENT.replace("work", "other")}
    (pair,) = found({"ada": half, "bob": {"work": OWN, "other": "def other(x):\n    return x\n"}})
    assert pair.shares[0] < 0.8 < pair.shares[1]
    assert [part.exercise for part in pair.shared] == ["work"]


@pytest.mark.parametrize(
    "copied",
    [
        {"work": DIFFERENT, "cell 7": OWN},
        {"work": "work = None\n", "other": OWN},
        {"work": DIFFERENT + OWN},
        {"cell 1": OWN[: len(OWN) // 2], "work": OWN[len(OWN) // 2 :]},
    ],
    ids=["unmarked cell", "another exercise's", "behind a decoy", "in two"],
)
def test_a_copy_in_another_cell_is_found(copied):
    others = {"eve": {"work": DIFFERENT.replace("sums", "heap") + "# mine"}}
    (pair, *rest) = found({"ada": {"work": OWN}, "bob": copied} | others)
    assert pair.students == ("ada", "bob") and pair.shares[0] > 0.9
    assert "in range(0, len(values)" in as_page(Similar("ps1", 0.5, 2, (pair,)))
    assert all("eve" in each.students for each in rest)


def test_written_answers_count():
    (pair,) = found({"ada": {"words": TEXT}, "bob": {"words": f"I think: {TEXT} "}}, threshold=0.8)
    assert pair.shared[0].exercise == "words"


@pytest.mark.parametrize("known", [OWN, renamed(OWN)])
def test_what_anybody_may_have_does_not_count(known):
    answers = {"ada": {"work": OWN}, "bob": {"work": renamed(OWN)}}
    assert found(answers, [{"work": known}]) == []


def test_what_many_have_does_not_count():
    few = {f"student{number}": {"work": OWN} for number in range(COMMON)}
    assert len(found(few)) == COMMON * (COMMON - 1) // 2
    assert found({**few, "one more": {"work": OWN}}) == []


def test_a_copy_of_the_courses_own_answer_is_listed():
    ours = {"the solution of work": OWN, "seqcourse/functional/x.py, y": DIFFERENT}
    answers = {"ada": {"work": renamed(OWN)}, "eve": {"work": DIFFERENT.replace("sums", "heap")}}
    works = {who: fingerprints(work, CODE) for who, work in answers.items()}
    both = compare_with_ours(works, [], fingerprints(ours, {}), 0.5)
    assert [pair.students for pair in both] == [("ada", [*ours][0]), ("eve", [*ours][1])]
    assert min(pair.shares[0] for pair in both) > 0.9
    # What anybody may write is no copy, and neither is other work.
    first = fingerprints(dict([[*ours.items()][0]]), {})
    assert compare_with_ours(works, [fingerprints({"work": OWN}, CODE)], first, 0.5) == []
    page = as_page(Similar("ps1", 0.5, 2, (), (), tuple(both)))
    assert "seqcourse/functional/x.py, y" in page and page.count("<h2") == 2


# Labels of answers that their author made by changing another one begin so: such two are rightly listed.
CHANGED = "a reader again: "


# Assignment 9 has no exercises with right answers in several styles.
@pytest.mark.parametrize("name", nightly_but(["ps4"], [f"ps{number}" for number in range(1, 9)]))
def test_honest_work_is_no_pair(name):
    """Students who wrote every answer in another style each; the comparison knows none of them."""
    course = Course(ROOT)
    right = load_checks(course, name).RIGHT
    styles = {
        task: [source for label, source in found if not label.startswith(CHANGED)]
        for task, found in right.items()
    }
    made = [
        {task: found[number] for task, found in styles.items() if found[number:]}
        for number in range(max(map(len, styles.values())))
    ]
    # Who has hardly an answer has nothing of their own.
    students = {f"{number}": work for number, work in enumerate(made) if 2 * len(work) >= len(styles)}
    given = [answers_in(notebooks.read(course.released(name)), styles)]
    works = {who: fingerprints(work, {}) for who, work in students.items()}
    known = [fingerprints(each, {}) for each in given]
    assert len(students) > 2 and compare(works, known, 0.5) == []


def test_too_little_to_say_anything():
    assert found({"ada": {"work": "x = 1\n"}, "bob": {"work": "x = 1\n"}}) == []
    assert found({"ada": {"work": ""}, "bob": {}}) == []


def test_no_python_is_compared_all_the_same():
    broken = OWN.replace("def work(values, size):", "def work(values, size")
    (pair,) = found({"ada": {"work": broken}, "bob": {"work": broken}})
    assert min(pair.shares) == 1


def test_a_class_is_compared_from_its_folder(toy):
    released = {"ada": OWN.replace("work", "double"), "bob": renamed(OWN).replace("work", "double")}
    solution = notebooks.read(toy.solution("ps1"))
    right = sample.right_answers(solution)
    for who, answer in {**released, "eve": right["double"], "joe": right["double"]}.items():
        made = sample.answered(solution, {**right, "double": answer})
        notebooks.write(made, toy.submitted / who / "ps1" / "ps1.ipynb")
    (toy.submitted / "max" / "ps1").mkdir(parents=True)
    (toy.submitted / "max" / "ps1" / "ps1.ipynb").write_text("{")
    made = compare_class(toy, "ps1")
    assert [pair.students for pair in made.pairs] == [("ada", "bob")]
    assert made.compared == 4
    assert made.skipped[0].startswith("max: ps1.ipynb should be a notebook")
    with pytest.raises(CourseError, match="Submissions of ps1 should lie at"):
        compare_class(type(toy)(toy.root, "elsewhere"), "ps1")


@pytest.mark.nightly
def test_a_text_that_keeps_a_lexer_busy_is_a_line_and_no_end(toy, monkeypatch):
    """Lines of blanks cost time that grows with their number squared."""
    solution = notebooks.read(toy.solution("ps1"))
    right = sample.right_answers(solution)
    copied = OWN.replace("work", "double")
    blanks = "x = 1\n" + " \n" * (bounds.COMPARED // 2 - 100) + "y = 1\n"
    for who, answer in {"ada": copied, "bob": renamed(copied), "eve": blanks}.items():
        made = sample.answered(solution, {**right, "double": answer})
        notebooks.write(made, toy.submitted / who / "ps1" / "ps1.ipynb")
    monkeypatch.setattr(similar, "limited", partial(similar.limited, seconds=3))
    made = compare_class(toy, "ps1")
    assert [pair.students for pair in made.pairs] == [("ada", "bob")]
    assert made.skipped == (
        "eve: To read the notebook takes more than 3 seconds, which is not allowed.",
    )


@pytest.mark.nightly
def test_what_the_grader_accepts_is_compared_and_nothing_crashes(toy):
    """A renamed file, missing marks; and files that are no notebooks, one of which nobody writes to."""
    solution = notebooks.read(toy.solution("ps1"))
    right = sample.right_answers(solution)
    copied = sample.answered(solution, {**right, "double": OWN.replace("work", "double")})
    notebooks.write(copied, toy.submitted / "ada" / "ps1" / "ps1.ipynb")
    for cell in copied["cells"]:
        cell["metadata"] = None
    notebooks.write(copied, toy.submitted / "bob" / "ps1" / "final, really.ipynb")
    numbers = [{"cell_type": "code", "id": 7, "metadata": 7, "source": 7, "outputs": 7}, 7]
    for student, content in {
        "deep": '{"cells": ' + "[" * 100_000,
        "numbers": json.dumps({"cells": numbers, "metadata": None}),
    }.items():
        notebooks.write_text(toy.submitted / student / "ps1" / "ps1.ipynb", content)
    endless = toy.submitted / "endless" / "ps1" / "ps1.ipynb"
    endless.parent.mkdir(parents=True)
    endless.symlink_to("/dev/zero")
    (endless.parent / "notes.ipynb").symlink_to("/dev/urandom")
    pipe = toy.submitted / os.fsdecode(b"J\xf6rg") / "ps1" / "ps1.ipynb"
    pipe.parent.mkdir(parents=True)
    os.mkfifo(pipe)
    made = compare_class(toy, "ps1")
    assert [pair.students for pair in made.pairs] == [("ada", "bob")]
    assert made.skipped[0].startswith("J\udcf6rg: ps1.ipynb should be an ordinary file")
    assert made.skipped[1].startswith("deep: ps1.ipynb should be a notebook")
    assert made.skipped[2].startswith("endless: ps1.ipynb should be an ordinary file, but is a link")
    assert len(made.skipped) == 3 and made.compared == 3  # numbers: a notebook without answers
    as_page(made).encode()


def test_names_are_harmless():
    name = "<img src=x onerror=alert(1)>[bold]"
    answers = {name: {"work": OWN}, "bob": {"work": OWN + "# </pre><script>alert(1)</script>\n"}}
    made = Similar("ps1", 0.5, 2, tuple(found(answers)), (f"{name}: <b>",))
    page = as_page(made)
    assert "<img" not in page and "<script" not in page and "<b>" not in page
    assert "&lt;img" in page and "default-src 'none'" in page
    terminal = Console(file=io.StringIO(), width=200)
    terminal.print(as_table(made))
    assert name in terminal.file.getvalue()


def test_the_same_class_gives_the_same_page():
    answers = {"ada": {"work": OWN}, "bob": {"work": OWN}, "eve": {"work": renamed(OWN)}}
    first, again = found(answers), found(dict(reversed(answers.items())))
    assert first == again and len(first) == 3
