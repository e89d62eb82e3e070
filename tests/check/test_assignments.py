"""Self-checks and hidden checks of every assignment against right and wrong answers.

Right and wrong answers are texts in solutions/checks/psN. An answer takes the place of the solution
cell; the self-check cell of its exercise runs as it stands, the hidden checks are probed and judged
here in one process. (That the same happens to work that is handed in is tested with the grading; other
seeds with `seqcourse audit --seed`.)
"""

from __future__ import annotations

import ast
import contextlib
import re
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType

import nbformat
import pytest
import torch

from cellgrader.notebook import document as notebooks
from seqcourse import progress
from seqcourse.check import Mistake
from seqcourse.check.calls.forbidden import covers
from seqcourse.check.calls.payload import pack
from seqcourse.check.cards.load import load_checks
from seqcourse.check.grade.probe import probe
from seqcourse.check.grade.verdict import Judge, Verdict
from seqcourse.check.hidden import HiddenCheck, Poll
from tests.sizes import drawn

ROOT = Path(__file__).resolve().parents[2]
# Those with exercises; a whole system is tested in tests/grading/test_systems.py.
ASSIGNMENTS = sorted(path.parent.name for path in ROOT.glob("seqcourse/check/ps*/exercises.json"))
SEED = 20_001
# How the names of answers begin that were written by readers of the text alone: there are many.
A_READER = "a reader: "


@cache
def _cells(assignment: str) -> dict[str, nbformat.NotebookNode]:
    """The cells of the source notebook that nbgrader knows, by grade_id, in order."""
    book = nbformat.read(ROOT / "solutions" / assignment / f"{assignment}.ipynb", as_version=4)
    known = [cell for cell in book.cells if "nbgrader" in cell.metadata]
    return {cell.metadata.nbgrader.grade_id: cell for cell in known}


@cache
def _answers(assignment: str):
    return load_checks(ROOT, assignment)


@cache
def _judges(assignment: str, seed: int = SEED) -> list[Judge]:
    return [Judge(check, seed) for check in _answers(assignment).CHECKS]


def _title(assignment: str) -> str:
    book = nbformat.read(ROOT / "solutions" / assignment / f"{assignment}.ipynb", as_version=4)
    return book.cells[0].source


def _exercises(assignment: str) -> list[str]:
    """The exercises that are graded by code: their solution cells' grade_ids."""
    return [
        name
        for name, cell in _cells(assignment).items()
        if cell.metadata.nbgrader.solution and cell.cell_type == "code" and not _shows(cell)
    ]


def _shows(cell: nbformat.NotebookNode) -> bool:
    """Whether grading does not run a cell: it displays something, as a student's measurement does."""
    return "show" in cell.metadata.get("tags", [])


def _namespace(assignment: str) -> dict:
    """What a student's kernel holds: imports and the reference answers to all exercises."""
    return dict(_solved(assignment))


@cache
def _solved(assignment: str) -> dict:
    space = {"__name__": "__main__"}
    for cell in _cells(assignment).values():
        grader = cell.metadata.nbgrader
        wanted = grader.solution or "setup" in cell.metadata.get("tags", [])
        if cell.cell_type == "code" and wanted and not _shows(cell):
            exec(compile(cell.source, grader.grade_id, "exec"), space)
    return space


def _grade(assignment: str, exercise: str, space: dict) -> list[Verdict]:
    """Probe and judge an exercise: the verdict of each of its checks."""
    return [
        judge.verdict(pack(probe(judge.request, space)))
        for judge in _judges(assignment)
        if judge.check.answer == exercise
    ]


def _params(kind: str) -> list:
    """Answers as parameters: one right and one wrong one of each exercise run every time, all others at
    night.
    """
    return list(_each(kind))


def _each(kind: str):
    for assignment in ASSIGNMENTS:
        for exercise, entries in getattr(_answers(assignment), kind).items():
            names = [entry[0] for entry in entries]
            ours = [name for name in names if not name.startswith(A_READER)]
            always = drawn(ours or names)
            for entry in entries:
                label = f"{assignment}-{exercise}-{entry[0]}".replace(" ", "_")
                marks = [pytest.mark.nightly] * (entry[0] != always)
                yield pytest.param(assignment, exercise, entry, id=label, marks=marks)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_every_exercise_has_answers_to_test_it(assignment):
    answers, exercises = _answers(assignment), _exercises(assignment)
    assert exercises, "no solution cell found"
    assert set(answers.WRONG) == set(exercises)
    functions = {name for name in exercises if not name.startswith("poll")}
    assert functions <= set(answers.RIGHT)
    assert {check.answer for check in answers.CHECKS} == set(exercises)
    records = import_module(f"seqcourse.check.{assignment}").EXERCISES
    assert set(records) == functions and all(record.fix for record in records.values())
    asked = [question for record in records.values() for question in record.questions]
    assert len(asked) == len(set(asked)) == 3 * len(records)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_one_measurement_is_the_students_and_a_person_reads_it(assignment):
    """Grading runs no code of it and keeps its figure; the written answer beside it has the points."""
    cells = list(_cells(assignment).values())
    place = [cell.metadata.nbgrader.grade_id for cell in cells].index("measurement")
    code, beside = cells[place], [cells[place - 1], cells[place + 1]]
    assert code.cell_type == "code" and _shows(code) and not code.metadata.nbgrader.grade
    (written,) = (cell for cell in beside if cell.cell_type == "markdown")
    assert written.metadata.nbgrader.points >= 4
    rubric = written.source.partition("**Rubric")[2]
    assert "a prediction with its reason" in rubric and "two sentences that fit the figure" in rubric


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_every_grade_cell_has_one_check_in_the_order_of_the_notebook(assignment):
    graded = [
        name
        for name, cell in _cells(assignment).items()
        if cell.metadata.nbgrader.grade and not cell.metadata.nbgrader.solution
    ]
    assert [check.cell for check in _answers(assignment).CHECKS] == graded
    for name in graded:
        assert f'verdict.here("{assignment}", "{name}", globals())' in _cells(assignment)[name].source


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_experiments_know_the_numbers_of_the_exercises(assignment):
    tasks = progress.read(ROOT / "assignments" / assignment / f"{assignment}.ipynb").tasks
    functions = import_module(f"seqcourse.check.{assignment}").EXERCISES
    coded = [(name, task.number) for task in tasks for name in task.points if name in functions]
    assert [*import_module(f"seqcourse.check.{assignment}").experiment.numbers.items()] == coded
    graded = notebooks.exercises(notebooks.read(ROOT / "solutions" / assignment / f"{assignment}.ipynb"))
    points = {task.number: 0.0 for task in tasks}
    for one in graded:
        points[int(one.number.rstrip("abcdefgh"))] += one.automatic + one.manual
    told = re.findall(r"^\| (\d+) \|.*\| ([\d +]+) \| (\d+) \|$", _title(assignment), flags=re.M)
    rows = [
        (int(number), sum(map(float, many.split("+"))), int(minutes)) for number, many, minutes in told
    ]
    assert [(task.number, points[task.number], task.minutes) for task in tasks] == rows


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_an_example_in_the_text_is_what_the_solution_gives(assignment):
    """Those of the form `call` is `result`; others are in the tests of their assignment."""
    book = nbformat.read(ROOT / "solutions" / assignment / f"{assignment}.ipynb", as_version=4)
    text = "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
    names = "|".join(map(re.escape, _exercises(assignment)))
    for call, told in re.findall(rf"`((?:{names})\([^`]*\))` is `([^`]+)`", text):
        found = eval(call, _namespace(assignment))
        assert (found.tolist() if isinstance(found, torch.Tensor) else found) == ast.literal_eval(
            told
        ), call


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_functions_are_forbidden_and_never_a_room_of_the_package(assignment):
    """Helpers beside them are welcome."""
    exercises = import_module(f"seqcourse.check.{assignment}").EXERCISES
    refused = {name: exercise.forbid for name, exercise in exercises.items()}
    for entries in refused.values():
        for entry in entries:
            room, _, name = entry.rpartition(".")
            if entry.startswith("seqcourse"):
                assert room and not isinstance(getattr(import_module(room), name), ModuleType), entry
    welcome = "functional:length_mask data:pad functional:log_softmax reproducibility:seed_everything"
    for path in (f"seqcourse.{helper}" for helper in welcome.split()):
        refusing = {name for name, entries in refused.items() if any(covers(e, path) for e in entries)}
        assert refusing <= {"padding_mask", "softmax"}, path  # these two build it


def _sections(chapter: str) -> set[str]:
    paths = ROOT.glob(f"book/{chapter}*.ipynb")  # a chapter may have two pages
    texts = [cell.source for path in paths for cell in nbformat.read(path, as_version=4).cells]
    return {title for text in texts for title in re.findall(r"^## (.+)$", text, flags=re.M)}


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_every_check_points_to_a_section_of_the_book(assignment):
    for check in _answers(assignment).CHECKS:
        chapter, section = check.see
        assert section in _sections(chapter), f"{check.cell}: {check.see}"


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_kinds_of_input_are_words(assignment):
    for judge in _judges(assignment):
        if isinstance(judge.check, Poll):
            continue
        assert isinstance(judge.check, HiddenCheck) and len(judge.given()) >= 2
        for kind in judge.given():
            assert not kind.endswith(".") and 5 < len(kind) < 70


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_two_seeds_give_other_inputs(assignment):
    """And no seed enters the sandbox, not as the seed of a generator either."""
    seed = 987_654_321
    one, other = _judges(assignment), _judges(assignment, seed)
    for a, b in zip(one, other, strict=True):
        if isinstance(a.check, HiddenCheck):
            assert a.request["calls"] != b.request["calls"], a.check.cell
            near = [n for n in _whole_numbers(b.given()) if abs(n - seed) < 100_000]
            assert not near, f"{b.check.cell}: the seed can be read from the inputs"


def _whole_numbers(value):
    """All whole numbers in a check's inputs, in the arguments of what is handed over, too."""
    if isinstance(value, torch.Generator):
        yield value.initial_seed()
    elif isinstance(value, torch.Tensor):
        yield from [] if value.is_floating_point() else value.flatten().tolist()
    elif isinstance(value, int):
        yield value
    elif isinstance(value, (tuple, list, set, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _whole_numbers(part)
    elif isinstance(value, partial) or hasattr(value, "__dict__"):
        parts = [value.args, value.keywords] if isinstance(value, partial) else vars(value)
        yield from _whole_numbers(parts)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_the_reference_passes_self_checks_and_hidden_checks(assignment, capsys):
    space = _namespace(assignment)
    for exercise in _exercises(assignment):
        assert set(_grade(assignment, exercise, space)) == {Verdict(1.0)}
    for name, cell in _cells(assignment).items():
        if name.endswith("-check"):
            exec(compile(cell.source, name, "exec"), dict(space))
    assert "✓" in capsys.readouterr().out


@pytest.mark.parametrize(("assignment", "exercise", "answer"), _params("WRONG"))
def test_a_wrong_answer_loses_points_and_its_mistake_is_named(assignment, exercise, answer):
    name, source, *says = answer
    space = _namespace(assignment)
    exec(compile(source, name, "exec"), space)
    poll = exercise.startswith("poll")
    assert says or poll, "a wrong answer needs the words that the self-check must say"
    verdicts = _grade(assignment, exercise, space)
    told = " ".join(verdict.sentence for verdict in verdicts)
    assert any(verdict.share < 1 for verdict in verdicts), "full marks for this answer"
    assert all(verdict.sentence for verdict in verdicts if verdict.share < 1)
    assert poll or says[0] in told
    assert not re.search(r"\d\.\d", told), "a number that is no size"
    if poll:
        return
    check = _cells(assignment)[f"{exercise}-check"].source
    with pytest.raises(Mistake) as caught:
        exec(compile(check, f"{exercise}-check", "exec"), space)
    assert says[0] in str(caught.value)


_FAULTS = [each for each in _params("WRONG") if re.match(r"fault \d is left", each.values[2][0])]


@pytest.mark.parametrize(
    ("assignment", "exercise", "answer"),
    [pytest.param(*each.values, id=each.id) for each in _FAULTS],
)
def test_each_planted_fault_costs_its_own_points_and_no_other_ones(assignment, exercise, answer):
    name, source, *_ = answer
    space = _namespace(assignment)
    exec(compile(source, name, "exec"), space)
    left = int(name.split()[1])
    shares = [verdict.share for verdict in _grade(assignment, exercise, space)]
    assert shares == [float(number != left) for number in range(1, len(shares) + 1)]


def test_the_faulty_code_that_students_see_is_what_the_checks_are_tried_on():
    for assignment, exercise in (
        ("ps1", "train_in_streams"),
        ("ps2", "translation_loss"),
        ("ps5", "decoder"),
    ):
        handed_out = _answers(assignment).WRONG[exercise][0]
        tried, shown = handed_out[1], _cells(assignment)["broken-given"].source
        body, docstring_and_body = (ast.parse(source).body[0].body for source in (tried, shown))
        assert ast.unparse(body) == ast.unparse(docstring_and_body[1:])


@pytest.mark.parametrize(("assignment", "exercise", "answer"), _params("RIGHT"))
def test_a_right_answer_in_another_style_gets_every_point(assignment, exercise, answer):
    name, source, *_ = answer
    space = _namespace(assignment)
    exec(compile(source, name, "exec"), space)
    assert set(_grade(assignment, exercise, space)) == {Verdict(1.0)}
    if not exercise.startswith("poll"):
        check = _cells(assignment)[f"{exercise}-check"].source
        exec(compile(check, f"{exercise}-check", "exec"), space)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_an_empty_answer_earns_nothing_and_is_told_from_a_wrong_one(assignment):
    """Release stubs in place of the answers: unsolved, or not there at all."""
    space = _namespace(assignment)
    region = re.compile(r"( *)### BEGIN SOLUTION.*?### END SOLUTION", flags=re.S)
    for exercise in _exercises(assignment):
        source = _cells(assignment)[exercise].source
        stub = region.sub(r'\1raise NotImplementedError("not solved yet")', source)
        assert stub != source
        space.pop(exercise)
        with contextlib.suppress(NotImplementedError):
            exec(compile(stub, exercise, "exec"), space)
    for exercise in _exercises(assignment):
        for verdict in _grade(assignment, exercise, space):
            assert verdict.share == 0
            left = f"There is no {exercise}", f"{exercise} is not answered"
            assert not verdict.solved or verdict.sentence.startswith(left)
