"""Worked answers in a release: explained one by one, sealed, as the class has it."""

from __future__ import annotations

import re
import shutil
import textwrap

import pytest

from cellgrader.answers import sheet as sheets
from cellgrader.course.folders import Course
from cellgrader.errors import CourseError
from cellgrader.notebook import document as notebooks
from cellgrader.release import worked
from seqcourse.check import right
from seqcourse.cli import handout
from tests.house.test_house import ROOT, tracked

NAMES = [f"ps{number}" for number in range(1, 9)]
SENTENCE = re.compile(r"(?<=[.?!]) (?=[A-Z`\"]|x )")
WORDS = re.compile(r"[A-Za-z_]\w*")


def book(name: str) -> dict:
    return notebooks.read(ROOT / "solutions" / name / f"{name}.ipynb")


def plain_lines(name: str) -> set[str]:
    """Sentences of explanations and lines of solutions that nobody else would write."""
    found = worked.worked(Course(ROOT), name, book(name)).values()
    sentences = {line for one in found for line in SENTENCE.split(one.explained) if len(line) > 40}
    lines = {line.strip() for one in found for line in f"{one.code}\n{one.other}".splitlines()}
    return sentences | {line for line in lines if len(line) > 30}


@pytest.mark.parametrize("name", NAMES)
def test_every_answer_in_code_is_explained(name):
    found = worked.explained(Course(ROOT), name)
    coded = [one.name for one in notebooks.exercises(book(name)) if one.code]
    assert set(found) == {one for one in coded if not one.startswith("poll_")}
    for exercise, answer in worked.worked(Course(ROOT), name, book(name)).items():
        sentences = SENTENCE.split(answer.explained)
        assert 3 <= len(sentences) <= 8, (exercise, len(sentences))
        assert 60 <= len(answer.explained.split()) <= 170, (exercise, len(answer.explained.split()))
        assert max(len(one.split()) for one in sentences) <= 45, (exercise, max(sentences, key=len))
        assert answer.code != answer.other
        card = (ROOT / "solutions" / "checks" / name / f"{exercise}.txt").read_text(encoding="utf-8")
        answers = card.partition("=== right:")[2]
        known = set(WORDS.findall(f"{answer.code}\n{answers}"))
        named = {
            word for part in re.findall(r"`([^`]+)`", answer.explained) for word in WORDS.findall(part)
        }
        assert named <= known, (exercise, named - known)


@pytest.mark.parametrize("name", NAMES)
def test_a_release_holds_the_answers_sealed_and_can_be_made_again(name):
    made = worked.sealed(Course(ROOT), name, book(name))
    assert made == (ROOT / "assignments" / name / worked.FILE).read_bytes()
    assert len(made) < 40_000
    text = made.decode()
    assert not [line for line in plain_lines(name) if line in text]


def test_no_sentence_of_an_answer_lies_readable_in_what_students_get(tmp_path):
    sentences = [line for name in NAMES for line in plain_lines(name) if SENTENCE.search(f"{line} A")]
    sentences = [line for line in sentences if " the " in line]
    assert len(sentences) > 200
    handout.start(tmp_path / "mine")
    given = [path for path in (tmp_path / "mine").rglob("*") if path.is_file()]
    assert any(path.name == worked.FILE for path in given)
    # Besides these the wheel holds the package and nothing else (tests/house/test_dist.py).
    package = [ROOT / path for path in tracked() if path.startswith(("seqcourse/", "assignments/"))]
    for path in given + [path for path in package if path.suffix not in (".safetensors", ".gz", ".png")]:
        text = path.read_bytes().decode(errors="replace")
        assert not [line for line in sentences if line in text], path


@pytest.fixture
def course(tmp_path):
    """A class with assignment 5, and settings of its own in `course.local.toml`."""
    for name in ("solutions/ps5", "solutions/checks/ps5"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "course.toml", tmp_path)

    def made(text: str) -> Course:
        (tmp_path / "course.local.toml").write_text(textwrap.dedent(text))
        return Course(tmp_path)

    return made


def test_a_class_closes_the_answers_until_the_due_date(course, tmp_path):
    # A class that sets a due date needs to say no more.
    late = course("[ps4]\ndue = 2026-11-20T18:00:00Z\n")
    (tmp_path / worked.FILE).write_bytes(worked.sealed(late, "ps5", book("ps5")))
    found = sheets.read(tmp_path / "ps5.ipynb")
    key = worked.class_key(late, "ps5")
    assert found.opens == sheets.CLASS and not found.after_hints
    assert re.fullmatch(r"([A-Z2-7]{4}-){3}[A-Z2-7]{4}", key) and key != worked.class_key(late, "ps4")
    assert "length" in found.open("padding_mask", key).explained
    from seqcourse.check import ps5

    assert found.open("padding_mask", right.key(ps5.padding_mask, 0)) is None
    assert worked.sealed(late, "ps5", book("ps5")) == (tmp_path / worked.FILE).read_bytes()
    (late.folder / "secret").write_bytes(b"1" * 32)  # another class
    assert found.open("padding_mask", worked.class_key(late, "ps5")) is None


def test_a_class_closes_them_for_good_or_after_hints_only(course):
    assert worked.sealed(course('[answers]\nwhen = "never"\n'), "ps5", book("ps5")) is None
    made = worked.sealed(course("[answers]\nafter_hints = false\n"), "ps5", book("ps5"))
    assert b'"after_hints": false' in made and b'"opens": "result"' in made
    with pytest.raises(CourseError, match='answers.when should be "open", "after_due", "never", or ""'):
        _ = course('[answers]\nwhen = "now"\n').settings


def test_an_exercise_that_a_class_leaves_out_has_no_worked_answer(course):
    from cellgrader.release.adapt import adapt

    own = course("[ps5]\nleave_out = [2]\n")
    made = worked.sealed(own, "ps5", adapt(book("ps5"), own, "ps5")).decode()
    assert "causal_mask" in made and "padding_mask" not in made


def test_an_explanation_of_an_unknown_style_is_refused_in_a_sentence(course, tmp_path):
    card = tmp_path / "solutions/checks/ps5/causal_mask.txt"
    card.write_text(re.sub("(?<=explained: ).*", "no such style", card.read_text()))
    with pytest.raises(CourseError, match="ps5/causal_mask.txt: .* names 'no such style'"):
        worked.sealed(course(""), "ps5", book("ps5"))
