"""`seqcourse watch` and partners: one submission waits, counts and is graded for all of them."""

from __future__ import annotations

import signal
from contextlib import suppress

import pytest
from nbgrader.api import Gradebook

from cellgrader.course.folders import Course
from cellgrader.course.records import UNCLEAR, read_record
from cellgrader.course.watched import best_path
from cellgrader.grade.submissions import Run, grade
from cellgrader.notebook import document as notebooks
from cellgrader.watch import day
from cellgrader.watch.arrivals import Resting

from .here import Desk, watch_here
from .test_feedback import words
from .watching import hand_in

PEOPLE = ("ada", "ben", "cleo", "dan", "eve")


@pytest.fixture
def course(released, whole_day) -> Course:
    """A class with a list; files may name two, and two versions a day are graded."""
    toy = released
    settings = 'group_size = 2\n[watch]\nattempts_a_day = 2\ncounts = "best"\n'
    (toy.root / "course.toml").write_text(settings)
    (toy.root / "book").mkdir()
    with Gradebook(toy.gradebook_url) as gradebook:
        for who in PEOPLE:
            gradebook.add_student(who, first_name=who.title())
    return toy


def names(course: Course, student: str, partner: str) -> None:
    notebooks.write_text(course.submitted / student / "ps1" / "partners.txt", partner)


def together(course: Course) -> None:
    names(course, "ada", "ben")
    names(course, "ben", "ada")


def page(course: Course, student: str) -> str:
    path = course.feedback / student / "ps1" / "ps1.html"
    return words(path.read_text(encoding="utf-8")) if path.exists() else ""


def points(course: Course) -> dict[str, float]:
    with Gradebook(course.gradebook_url) as gradebook:
        return {each.student.id: each.score for each in gradebook.assignment_submissions("ps1")}


@pytest.fixture
def watched(course, monkeypatch):
    return watch_here(course, monkeypatch)


@pytest.mark.nightly  # in every run: the same by hand, test_partners
def test_partners_are_graded_once_and_each_finds_a_page(course, watched, monkeypatch):
    hand_in(course, "ada", "double")
    together(course)
    for who, partner, solved in (("cleo", "dan", "half"), ("dan", "cleo", "poll")):
        hand_in(course, who, solved)
        names(course, who, partner)
    examined, said = watched()
    assert examined == ["ada"] and points(course) == {"ada": 3, "ben": 3}
    assert "ada: graded. with ben: version 1 is graded, 3 automatic points" in said
    assert "1 arrived" in said and "1 graded" in said and "Traceback" not in said
    for who, partner in (("ada", "Ben"), ("ben", "Ada")):
        assert f"handed in with {partner}" in page(course, who)
        assert "This is version 1. Graded today: 1 of 2." in page(course, who)
        assert read_record(course, "ps1", who).partners == (partner.lower(),)
    # Those at odds are told, and shown as held back; another look says it once.
    assert "cleo: held back. cleo and dan are partners, but handed in different work" in said
    assert "1 held back" in said and said.count("held back. ") == 1
    for who in ("cleo", "dan"):
        assert "cleo and dan are partners, but handed in different work" in page(course, who)
    # What the watcher saved is what `seqcourse grade` would save: it examines nobody again.
    with monkeypatch.context() as patched:
        patched.setattr(Run, "examining", pytest.fail)
        told = {each.student: each for each in grade(course, "ps1")}
    assert told["ben"].before and told["ada"].before and told["cleo"].status == UNCLEAR
    # Once they agree, it is graded.
    hand_in(course, "dan", "half")
    examined, said = watched()
    assert examined == ["cleo"] and points(course) == {"ada": 3, "ben": 3, "cleo": 3, "dan": 3}


@pytest.mark.nightly
def test_a_group_s_attempts_are_those_of_each_partner(course, watched):
    """Ada uses one alone and one with Ben: then none is left for both, and one for Ben alone."""
    hand_in(course, "ada", "double", "half")
    assert watched()[0] == ["ada"]
    hand_in(course, "ben", "poll")
    together(course)
    hand_in(course, "ada", "poll")
    assert watched()[0] == ["ada"]
    assert points(course) == {"ada": 1, "ben": 1}, "of a group's versions the last counts"
    assert not best_path(course, "ps1", "ada").exists(), "what was best alone counts no more"
    hand_in(course, "ada", "double", "poll")
    hand_in(course, "ben", "double", "poll")
    examined, said = watched()
    assert examined == [] and "2 versions a day are graded" in said and "1 held back" in said
    for who in ("ada", "ben"):
        assert "Below is the feedback on an earlier version" in page(course, who)
    for who in ("ada", "ben"):
        (course.submitted / who / "ps1" / "partners.txt").unlink()
    hand_in(course, "ben", "double", "half", "poll")
    examined, said = watched()
    assert examined == ["ben"] and "1 held back" in said and points(course) == {"ada": 1, "ben": 7}
    hand_in(course, "ben", "half")
    examined, said = watched()
    assert examined == [] and "2 held back" in said, "the one with Ada was one of his two"


@pytest.mark.nightly
def test_killed_between_the_pages_it_goes_on_without_examining(course, watched):
    hand_in(course, "ada", "double")
    together(course)
    watched()
    number = day.last(course, "ps1", "ben", 0.0).number
    day.note(course, "ps1", "ben", number, day.GRADED, 0.0)
    (course.feedback / "ben" / "ps1" / "ps1.html").unlink()
    examined, said = watched()
    assert examined == [] and "handed in with Ada" in page(course, "ben")
    assert day.last(course, "ps1", "ben", 0.0).state == day.SHOWN and "failed. " not in said
    # Killed before a partner had a record: the same attempt once more.
    (course.records / "ps1" / "ben.json").unlink()
    for who in ("ada", "ben"):
        day.note(course, "ps1", who, number, day.BEGUN, 0.0)
    assert watched()[0] == ["ada"]
    assert [each.number for each in day.tries(course, "ps1", "ben", 0.0)] == [1]


def test_an_interrupt_that_something_else_caught_ends_it_all_the_same(course, watched, monkeypatch):
    """As what Python calls while it collects garbage does."""
    tries = []

    def ended(desk, seconds: float) -> None:
        tries.append(seconds)
        assert len(tries) < 9, "it does not end"
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Desk, "ended", ended)
    hand_in(course, "ada", "double")
    with pytest.raises(KeyboardInterrupt):
        watched()


def test_nothing_is_graded_while_a_partner_s_folder_still_changes(course, watched, monkeypatch):
    hand_in(course, "ada", "double")
    together(course)
    look, looks, add, begun = Resting.look, [], Desk.add, []

    def still_changing(resting, folders) -> tuple[list[str], list[str]]:
        looks.append(look(resting, folders))
        return looks[-1] if len(looks) > 3 else (["ben"], ["ada"])

    def begin(desk, *given) -> None:
        begun.append(len(looks))
        add(desk, *given)

    monkeypatch.setattr(Resting, "look", still_changing)
    monkeypatch.setattr(Desk, "add", begin)
    examined, said = watched()
    assert examined == ["ada"] and begun[0] > 3 and "1 arrived" in said
