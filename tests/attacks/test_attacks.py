"""The corpus of attacks and three honest students in one class, through the real pipeline.

`make test` grades a class with the attacks of CHOSEN, `make test-all` one with the whole corpus.
"""

from __future__ import annotations

import html
import re
import threading
from collections.abc import Callable
from functools import cache, partial

import numpy
import pytest

from cellgrader.course.folders import Course
from cellgrader.course.records import FAILED, WITH_GRADE
from cellgrader.pages.feedback import make_feedback
from cellgrader.run.examine import Examiner
from seqcourse.check.calls.recording import arrays
from tests.attacks import classroom, hostile
from tests.attacks.hostile import NAME
from tests.grading.confining import need_sandbox
from tests.sizes import nightly_but

ATTACKS = hostile.load()
ALL = [attack.name for attack in ATTACKS]
# Those that try to get something onto a page.
SHOWN = [attack.name for attack in ATTACKS if attack.kind in ("leak", "others")]
# Two of each kind, by the way they go: Python's own objects, the notebook's cells (points); the
# gradebook, another kernel (others); frames, a message (leak); memory, the file handed in (stop).
CHOSEN = {
    "03_equal_to_everything",
    "20_answers_in_grade_cells",
    "21_gradebook_by_path",
    "40_other_kernels",
    "31_frames",
    "112_inputs_by_every_channel",
    "42_memory_bomb",
    "75_notebook_is_a_pipe",
}
STATUSES = {"graded", "crashed", "timed out", "unreadable", "missing", "failed"}
# Numbers with this many decimals do not come out equal by chance.
NUMBER = re.compile(r"-?\d+\.\d{6,}(?:e[-+]?\d+)?")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def graded(request, tmp_path_factory) -> classroom.Graded:
    """A class with the chosen attacks, and all others that a test of this run asks for."""
    need_sandbox()  # without one, these would do harm
    tests = [item.callspec for item in request.session.items if hasattr(item, "callspec")]
    asked = {test.params.get(word) for test in tests for word in ("attack", "name")}
    attacks = [attack for attack in ATTACKS if attack.name in CHOSEN | asked]
    return classroom.grade_all(tmp_path_factory.mktemp("class"), attacks)


@pytest.fixture(scope="module")
def hidden(graded) -> Callable[[str], numpy.ndarray]:
    """The hidden numbers of a student, by name."""
    return cache(partial(hidden_numbers, graded.course))


def hidden_numbers(course: Course, student: str) -> numpy.ndarray:
    """Inputs and expected values of a student's hidden checks, sorted."""
    found = []
    with Examiner(course) as examiner:
        for judge in examiner.judges(NAME, student, attempt=1).values():
            if not hasattr(judge.check, "exercise"):
                continue
            for given in judge.given().values():
                plain = [value for value in given.values() if not callable(value)]
                if judge.check.exercise.reference:
                    plain.append(judge.check.exercise.reference(*given.values()))
                for value in arrays(**{f"x{k}": item for k, item in enumerate(plain)}).values():
                    if value.dtype.kind == "f":
                        found.append(value.ravel())
    numbers = numpy.concatenate(found).astype(float)
    return numpy.sort(numbers[numpy.abs(numbers) > 1e-3])


def secret_numbers(text: str, hidden: numpy.ndarray) -> list[str]:
    """The numbers in a text that are, rounded, hidden inputs or expected values."""
    found = []
    for written in NUMBER.findall(text):
        place = numpy.searchsorted(hidden, float(written))
        near = hidden[max(0, place - 1) : place + 1]
        if (numpy.abs(near - float(written)) < 1e-6).any():
            found.append(written)
    return found


@pytest.fixture(params=nightly_but(CHOSEN, ALL))
def attack(request) -> hostile.Attack:
    return next(attack for attack in ATTACKS if attack.name == request.param)


def test_the_corpus_is_of_every_kind():
    assert {attack.kind for attack in ATTACKS} == set(hostile.KINDS)
    assert all(len(attack.tries) > 20 for attack in ATTACKS)


def test_the_chosen_attacks_are_of_every_kind():
    chosen = [attack for attack in ATTACKS if attack.name in CHOSEN]
    assert len(chosen) == len(CHOSEN)
    assert {attack.kind for attack in chosen} == set(hostile.KINDS)


@pytest.mark.nightly
def test_a_leak_would_be_seen(hidden):
    numbers = hidden("perfect")
    told = f"the inputs are {numbers[7]:.8f} and 0.123456789123"
    assert secret_numbers(told, numbers) == [f"{numbers[7]:.8f}"]
    assert classroom.loot(f"x {classroom.canary('check')} y")


def test_honest_students_get_what_they_earned(graded):
    assert {student: graded.points[student] for student in graded.honest} == graded.honest


def test_nothing_outside_was_touched(graded):
    assert graded.touched == []


def test_everybody_has_a_record_and_only_those_who_handed_in_a_grade(graded):
    assert set(graded.records) == set(graded.course.students(NAME))
    assert not [path for path in graded.course.root.rglob("exit") if path.is_file()]


def test_an_attack_gains_no_point(graded, attack):
    points = graded.points[attack.name]
    assert (points or 0) <= graded.fair[attack.name], graded.records[attack.name].messages


def test_an_attack_ends_with_a_status_and_a_sentence(graded, attack):
    record = graded.records[attack.name]
    assert record.status in STATUSES
    assert record.status != FAILED, record.sentence
    if record.status in WITH_GRADE:
        lost = (graded.points[attack.name] or 0) < graded.honest["perfect"]
        assert record.sentence or not lost or any(record.messages.values())
    else:
        assert record.sentence.endswith((".", ")")), record.sentence
    for sentence in (record.sentence, *record.remarks, *record.messages.values()):
        assert sentence.isprintable(), "control characters reach whoever reads the summary"


def test_an_attack_finds_nothing_hidden(graded, hidden, attack):
    for name, text in graded.texts(attack.name):
        assert not classroom.loot(text), name
        assert not secret_numbers(text, hidden(attack.name)), name
    for message in graded.records[attack.name].messages.values():  # no size of a check has three digits
        assert not re.search(r"\d{3}|[<>=]{2}", message), message


def test_no_work_stays_behind(graded):
    """Threads of the run have ended; processes of the kernels have gone with their sandboxes."""
    assert not [one.name for one in threading.enumerate() if one.name.startswith("watch-sandbox")]


@pytest.mark.parametrize("name", nightly_but(CHOSEN, SHOWN))
def test_the_page_shows_nothing_hidden_and_runs_nothing(graded, hidden, name):
    if graded.records[name].status not in WITH_GRADE:
        pytest.skip("There is no page without a grade.")
    page = make_feedback(graded.course, NAME, name).read_text(encoding="utf-8")
    text = html.unescape(re.sub(r"<[^>]+>", "", page))
    assert not classroom.loot(text)
    assert not secret_numbers(text, hidden(name))
    for program in ("'OW' + 'NED'", "'OW'+'NED'", '"OW"+"NED"', "javascript:"):
        assert not re.search(rf"<[^>]*{re.escape(program)}", page), "a program in a tag"
        assert not re.search(rf"<script[^>]*>[^<]*{re.escape(program)}", page), "a program"
