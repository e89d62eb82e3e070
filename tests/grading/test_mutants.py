"""The hidden checks are tested: wrong answers lose points, right ones do not, mutants are killed."""

from __future__ import annotations

import ast
import hashlib
import zlib
from types import SimpleNamespace

import pytest
from rich.console import Console

from seqcourse.errors import CourseError
from seqcourse.grading import mutants
from seqcourse.grading import notebook as notebooks
from seqcourse.grading.adapt import class_notebook
from seqcourse.grading.confine import refusal
from seqcourse.grading.course import Course
from seqcourse.grading.examine import Examination, Examiner
from seqcourse.grading.in_process import try_in_process
from seqcourse.grading.mutants import OPERATOR, RIGHT, WRONG, Answer, Outcome, columns
from seqcourse.grading.operators import mutants_of
from seqcourse.grading.release import release
from seqcourse.grading.sample import load_checks, right_answers
from tests.sizes import nightly_but

from .test_adapt import set_class, with_headings
from .toy import ROOT, make_toy_course

COURSE = Course(ROOT, "grading/mutants")
NAMES = ["ps1", "ps2", "ps3", "ps4", "ps5", "ps6", "ps7", "ps8"]
# `make test` takes layers with parameters and gradients; ps6, all of a Transformer, takes four times as
# long.
SOME = nightly_but(["ps4"], NAMES)
SECRET = hashlib.sha256(b"mutants 0").digest()


def answer(exercise: str, source: str = "x = 1", kind: str = WRONG, says: str = "", why: str = ""):
    return Answer(exercise, f"{kind} {exercise}", source, kind, says, why)


def test_a_submission_without_points_gets_a_whole_sentence(toy):
    release(toy)
    nothing = Examination("ps1", "mutant", "graded")
    answers = [Answer("double", "adds two", "def double(x):\n    return x + 2\n", WRONG)]
    with pytest.raises(CourseError, match=r"but: it has no graded cell of ps1's \(graded\)\.$"):
        mutants.try_answers(toy, "ps1", answers, lambda *_: nothing)


# --- the answers --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_exercise_has_six_wrong_and_three_right_answers(name):
    checks = load_checks(COURSE, name)
    solution = notebooks.read(COURSE.solution(name))
    for task in notebooks.exercises(solution):
        if not task.automatic:
            continue
        wrong, right = checks.WRONG[task.name], checks.RIGHT.get(task.name, [])
        assert len({entry[1] for entry in wrong}) >= 6, task.name
        if not task.name.startswith("poll"):  # a poll has one right answer
            assert len({entry[1] for entry in right}) >= 3, task.name


def some_of_each(answers: list[Answer]) -> list[Answer]:
    """For every exercise its first and its last wrong answer and its first right one."""
    found: dict[tuple[str, str], list[Answer]] = {}
    for one in answers:
        found.setdefault((one.exercise, one.kind), []).append(one)
    ends = {WRONG: (0, -1), RIGHT: (0,)}
    return [same[k] for (_, kind), same in found.items() for k in ends[kind]]


@pytest.fixture(scope="module", params=SOME)
def tried(request):
    """Wrong and right answers to every exercise of an assignment, through the pipeline.

    A sample: all of them are probed and judged in tests/check/test_assignments.py, and all of them go
    through the pipeline when ``seqcourse mutants`` is given.
    """
    name = request.param
    with Examiner(COURSE, confined=not refusal(), secret=SECRET) as examiner:
        answers = some_of_each(mutants.corpus(load_checks(COURSE, name)))
        return mutants.try_answers(COURSE, name, answers, examiner.examine)


@pytest.mark.slow
def test_no_survivor_no_false_alarm_and_every_mistake_is_named(tried):
    assert {outcome.answer.kind for outcome in tried} == {WRONG, RIGHT}
    assert [mutants.told(outcome) for outcome in mutants.faults(tried)] == []


def _in_the_sample(answer: Answer, share: int = 5) -> bool:
    """Every explained survivor, and one of ``share`` of the others, by their own text."""
    return bool(answer.why) or zlib.crc32(answer.source.encode()) % share == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", SOME)
def test_operator_mutants_are_killed_or_explained(name):
    """A fifth of them; ``seqcourse mutants --operators`` tries all."""
    examiner = Examiner(COURSE, secret=SECRET)
    every = mutants.operator_mutants(COURSE, name)
    answers = [answer for answer in every if _in_the_sample(answer)]
    outcomes = try_in_process(COURSE, name, answers, examiner.judges(name))
    assert [mutants.told(outcome) for outcome in mutants.faults(outcomes)] == []
    assert len(every) > 200 and sum(outcome.lost > 0 for outcome in outcomes) > 35


# --- operators ----------------------------------------------------------------------------------

SOLUTION = '''
def answer(x, mask, w):
    """Weights: 1 per row."""
    h = torch.tanh(x @ w.T + 1)  # a comment
    h = h.masked_fill(~mask, 0.0).detach()
    return torch.softmax(h[:, 1:], dim=-1), h
'''


def test_mutants_compile_and_differ_from_the_solution_and_each_other():
    made = mutants_of(SOLUTION)
    trees = [ast.dump(ast.parse(mutant.source)) for mutant in made]
    assert len(set(trees)) == len(trees) and ast.dump(ast.parse(SOLUTION)) not in trees
    assert len({mutant.key for mutant in made}) == len(made)
    assert made == mutants_of(SOLUTION)
    assert all("1 per row" in mutant.source for mutant in made)


@pytest.mark.parametrize(
    "line",
    [
        "h = torch.tanh(x @ w.T - 1)",
        "h = torch.tanh(x @ w.T + 2)",
        "h = torch.tanh(x @ w + 1)",
        "h = torch.sigmoid(x @ w.T + 1)",
        "h = (x @ w.T + 1)",
        "h = torch.tanh((x @ w.T))",
        "h = h.masked_fill(mask, 0.0).detach()",
        "h = (h).detach()",
        "h = (h.masked_fill(~mask, 0.0))",
        "return torch.softmax(h[:, 0:], dim=-1), h",
        "return torch.softmax(h[:, :], dim=-1), h",
        "return torch.softmax(h[:, 1:], dim=0), h",
        "return torch.softmax(h[:, 1:]), h",
        "return h, torch.softmax(h[:, 1:], dim=-1)",
        "pass",
    ],
)
def test_mistakes_with_tensors_are_among_the_mutants(line):
    def plain(text: str) -> str:
        return ast.dump(ast.parse(text.removeprefix("return ")))

    texts = {plain(mutant.text.replace("dim=- 0", "dim=0")) for mutant in mutants_of(SOLUTION)}
    assert plain(line) in texts


# --- packing ------------------------------------------------------------------------------------


def test_one_submission_carries_an_answer_to_every_exercise():
    answers = [answer(exercise, f"x = {k}") for exercise in "abc" for k in range(3)]
    packed = columns(answers, "abc", {})
    assert [sorted(column) for column in packed] == [["a", "b", "c"]] * 3


@pytest.mark.parametrize(
    ("second", "depends"),
    [
        (answer("b", "def b(x):\n    return a(x)"), {}),
        (answer("b", "a = None\ndef b(x):\n    return x"), {}),
        (answer("b", "def a(x):\n    return x\n\ndef b(x):\n    return x"), {}),
        (answer("b"), {"b": ["a"]}),
        (answer("b"), {"a": ["b"]}),
        (answer("b", kind=RIGHT), {}),
    ],
)
def test_answers_that_would_spoil_each_other_never_meet(second, depends):
    for answers in ([answer("a"), second], [second, answer("a")]):
        assert [list(column.values()) for column in columns(answers, "abc", depends)] == [
            [answers[0]],
            [answers[1]],
        ]


# --- verdicts about the checks -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tested", "lost", "message", "fault"),
    [
        (answer("a", says="scale"), 3.0, "Did you forget to scale?", ""),
        (answer("a", says="scale"), 3.0, "The result is wrong.", "not named"),
        (answer("a", says="scale"), 0.0, "", "survivor"),
        (answer("a", kind=RIGHT), 0.0, "", ""),
        (answer("a", kind=RIGHT), 0.5, "The result is wrong.", "false alarm"),
        (answer("a", kind=OPERATOR), 3.0, "", ""),
        (answer("a", kind=OPERATOR), 0.0, "", "survivor"),
        (answer("a", kind=OPERATOR, why="the same"), 0.0, "", ""),
        (answer("a", kind=OPERATOR, why="the same"), 3.0, "", "explained as a survivor, but killed"),
    ],
)
def test_what_counts_as_a_fault(tested, lost, message, fault):
    outcome = Outcome(tested, lost, 3.0, message)
    assert outcome.fault == fault
    assert mutants.faults([outcome]) == ([outcome] if fault else [])
    console = Console(record=True, width=200)
    console.print(mutants.as_table("ps9", [outcome]))
    assert fault.upper() in console.export_text()
    assert "answers" in " ".join(mutants.summary([outcome])) or tested.kind == OPERATOR


@pytest.fixture(scope="module")
def toy(tmp_path_factory) -> Course:
    course = make_toy_course(tmp_path_factory.mktemp("mutants") / "course")
    released = notebooks.read(course.solution("ps1"))
    notebooks.write(released, course.assignments / "ps1" / "ps1.ipynb")
    return course


def pretend(points):
    """An examiner that gives these points to whatever comes."""
    return lambda name, student, folder: SimpleNamespace(points=points, messages={}, sentence="none")


def test_a_reference_answer_that_loses_points_is_no_result(toy):
    full = {"double-test": 3.0, "half-test": 3.0, "quadruple-test": 3.0, "poll-test": 1.0}
    (outcome,) = mutants.try_answers(toy, "ps1", [answer("half")], pretend(full | {"half-test": 1.0}))
    assert (outcome.lost, outcome.worth) == (2.0, 3.0)
    with pytest.raises(CourseError, match="reference answer to poll should get every point"):
        mutants.try_answers(toy, "ps1", [answer("half")], pretend(full | {"poll-test": 0.0}))
    with pytest.raises(CourseError, match="should have got a grade, but: none"):
        mutants.try_answers(toy, "ps1", [answer("half")], pretend({}))


def test_a_class_with_points_and_exercises_of_its_own_tries_what_it_has(tmp_path):
    course = with_headings(make_toy_course(tmp_path / "course"))
    set_class(course, "[ps1]\nleave_out = [3]\npoints = {2 = 6}\n")
    course = Course(course.root)
    notebooks.write(class_notebook(course, "ps1"), course.assignments / "ps1" / "ps1.ipynb")
    full = {"double-test": 3.0, "half-test": 4.0, "poll-test": 1.0}
    tried = [answer("half"), answer("quadruple")]
    (outcome,) = mutants.try_answers(course, "ps1", tried, pretend(full))
    assert (outcome.answer.exercise, outcome.lost, outcome.worth) == ("half", 2.0, 6.0)
    assert {made.exercise for made in mutants.operator_mutants(course, "ps1")} <= {"double", "half"}


def test_an_explanation_of_no_mutant_is_an_error(toy, monkeypatch):
    solved = right_answers(notebooks.read(toy.solution("ps1")))["half"]
    some = mutants_of(solved)[0]
    checks = SimpleNamespace(RIGHT={"half": []}, SURVIVORS={"half": [(*some.key, "the same")]})
    monkeypatch.setattr(mutants, "load_checks", lambda course, name: checks)
    made = mutants.operator_mutants(toy, "ps1")
    assert [mutant.why for mutant in made].count("the same") == 1
    checks.SURVIVORS["half"] += [("DropCall", 99, "gone", "who knows")]
    with pytest.raises(CourseError, match="there is none called"):
        mutants.operator_mutants(toy, "ps1")
