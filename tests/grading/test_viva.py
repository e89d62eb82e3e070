"""Questions about a student's own code: every answer is what really happens, in the sandbox."""

from __future__ import annotations

import ast
import hashlib
import json
import pickle
import shutil
from collections import Counter
from collections.abc import Collection

import numpy
import pytest
import torch
from nbformat.v4 import new_code_cell

from benchmarks.viva import STYLES
from cellgrader.course.folders import Course
from cellgrader.errors import CourseError
from cellgrader.notebook import document as notebooks
from cellgrader.release.sample import answered, load_checks, right_answers
from cellgrader.run.examine import Examiner
from cellgrader.viva import questions as asked
from cellgrader.viva import sheet as sheets
from cellgrader.viva.at_once import make_sheets
from cellgrader.viva.changes import changes, marked
from cellgrader.viva.choose import MANY, choose
from cellgrader.viva.outcomes import SAME, SHAPE, STOPS, UNCLEAR, VALUES, Outcome, effect
from cellgrader.viva.page import as_page
from cellgrader.viva.questions import KINDS, LOOK, NUMBERS, Question, questions
from cellgrader.viva.sheet import Sheet, keep, kept, make_sheet, spread, whose
from cellgrader.viva.table import setting
from cellgrader.viva.tried import Planned, Tried
from seqcourse.check.grade.versions import calls_of, request
from seqcourse.check.inside import changed
from seqcourse.check.ps4 import EXERCISES

from .confining import need_sandbox
from .toy import ROOT

BY_HAND = """def attention(q, k, v):
    e = (q / q.shape[-1] ** 0.5) @ k.mT
    p = torch.exp(e - e.amax(dim=-1, keepdim=True))
    a = p / p.sum(dim=-1, keepdim=True)
    return torch.matmul(a, v), a
"""


def tried_here(source: str, name: str = "attention", lines: Collection[int] | None = None) -> Tried:
    """All versions of an answer of ours, run in this process.

    Args:
        lines: only the changes of these lines.
    """
    exercise = EXERCISES[name]
    some = [each for each in changes(source, 1) if lines is None or each.line in lines]
    planned = Planned(source, some, marked(source, changed.MARK))
    calls = calls_of(exercise)
    versions = [source, *(change.source for change in planned.changes)]
    asks = request(exercise, calls, versions, planned.marked.source, 60)
    found = changed.run(asks, {"torch": torch})
    return Tried(name, exercise.is_class, planned, calls, found)


@pytest.fixture(scope="module")
def by_hand() -> Tried:
    return tried_here(BY_HAND)


# --- changes ----------------------------------------------------------------------------------------


def test_every_change_is_one_line_and_another_program():
    found = changes(BY_HAND, 1)
    assert {change.kind for change in found} >= {"axis", "scale", "order", "sign", "transposition"}
    trees = {ast.dump(ast.parse(change.source)) for change in found}
    assert len(trees) == len(found) and ast.dump(ast.parse(BY_HAND)) not in trees
    for change in found:
        pairs = zip(BY_HAND.splitlines(), change.source.splitlines(), strict=True)
        differ = [number for number, (old, new) in enumerate(pairs, start=1) if old != new]
        assert differ == [change.line] and change.start <= change.line <= change.end


@pytest.mark.parametrize(
    ("line", "reads"),
    [
        ("a = e.softmax(dim=-1)", "a = e.softmax(dim=-2)"),
        ("a = (x + y) @ z", "a = z @ (x + y)"),
        ("a = x / y ** 0.5", "a = x / y"),
        ('a = torch.einsum("bi,bj->bij", x, y)', 'a = torch.einsum("bi,bj->bji", x, y)'),
        ("a = x.masked_fill(m, 0.0)", "a = x.masked_fill(~m, 0.0)"),
        ("a = x.masked_fill(~m, 0.0)", "a = x.masked_fill(m, 0.0)"),
        ("a = x[1:n]", "a = x[1:n + 1]"),
        ("a = torch.ones(n, n).tril()", "a = torch.ones(n, n).tril(diagonal=1)"),
        ("a = x - (y - z)", "a = x + (y - z)"),
        ("a = x if n > 0 else y", "a = x if n >= 0 else y"),
    ],
)
def test_what_is_changed_reads_as_the_student_would_write_it(line, reads):
    found = changes(f"def f(x, y, z, m, n):\n    {line}\n    return a\n", 1)
    assert any(reads in change.reads for change in found), [change.reads for change in found]


def test_what_no_question_should_be_about_is_left_alone():
    source = (
        "def f(x: int = 3, *, dim=-1):\n"
        '    """Sums over dim=-1."""\n'
        "    if x < 0:\n"
        "        raise ValueError(f'{x - 1} is below 0')\n"
        "    return x\n"
        "\n\nf(2 + 2)\n"
    )
    assert [change.line for change in changes(source, 1)] == [3]


def test_code_that_is_no_python_is_refused():
    with pytest.raises(SyntaxError):
        changes("def f(:\n", 1)


# --- what happens -----------------------------------------------------------------------------------


def outcome(value: object = None, error: str = "") -> Outcome:
    return Outcome({} if error else {"result": numpy.array(value)}, error)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (outcome([1.0, 2.0]), outcome([1.0, 2.0]), SAME),
        (outcome([1.0, 2.0]), outcome([1.0, 2.5]), VALUES),
        (outcome([1.0, 2.0]), outcome([1.0, 2.0001]), UNCLEAR),
        (outcome([1.0, 2.0]), outcome([[1.0, 2.0]]), SHAPE),
        (outcome([1.0, 2.0]), outcome([1.0, float("nan")]), VALUES),
        (outcome([1.0, 2.0]), outcome(error="RuntimeError"), STOPS),
        (outcome(error="RuntimeError"), outcome([1.0]), UNCLEAR),
        (outcome("ab"), outcome("ba"), VALUES),
        (outcome([True, False]), outcome([True, True]), VALUES),
        (Outcome(), outcome([1.0]), UNCLEAR),
        (outcome([1.0]), outcome("None"), UNCLEAR),
    ],
)
def test_an_effect_is_told_only_where_it_is_clear(old, new, what):
    assert effect(old, new)[0] == what


def run_again(tried: Tried, question: Question) -> dict:
    """The question's change on the first example, worked out without the viva's own code."""
    lines = tried.planned.source.splitlines()
    if question.reads is not None:
        old = lines[question.line - 1]
        lines[question.line - 1] = old[: len(old) - len(old.lstrip())] + (question.reads or "pass")
    space: dict = {"torch": torch}
    exec("\n".join(lines), space)
    given = EXERCISES[tried.name].cases[0].make()
    try:
        outputs, weights = space[tried.name](*given.values())
        return {"the first value it returns": outputs, "the second value it returns": weights}
    except Exception:
        return {}


def test_every_answer_is_what_happens_when_it_is_run(by_hand):
    """All questions about the softmax by hand, each answered once more by other code."""
    before = run_again(by_hand, Question(LOOK, "attention", 1, None, "", (), 0))
    found = [one for one in questions(by_hand, "", 1) if "q (2, 3, 5)" in one.words]
    checked = Counter()
    for one in found:
        if one.kind in (LOOK, asked.BATCH):
            continue
        after, right = run_again(by_hand, one), one.options[one.right]
        part = next((name for name in before if name in one.words), None)
        if one.kind == asked.WORD:
            what = next(key for key, words in asked.WORDS.items() if words == right)
            shapes = [after[name].shape == before[name].shape for name in after]
            same = all(map(torch.allclose, before.values(), after.values())) if all(shapes) else False
            real = STOPS if not after else SHAPE if not all(shapes) else SAME if same else VALUES
            assert what == real == one.result, one
        elif one.kind == asked.NEW_SHAPE:
            assert right == str(tuple(after[part].shape)), one
        elif one.kind == asked.LINE:
            assert not after
        elif one.kind == asked.ROWS:
            rows = (~torch.isclose(after[part], before[part])).any(-1).any(0).nonzero().ravel()
            assert right == ", ".join(str(int(row)) for row in rows), one
        elif "multiplied" in one.words:
            assert torch.allclose(after[part], float(right) * before[part], rtol=1e-2), one
        else:
            row = after[part].sum(-1)[0] if " sum to " in one.words else after[part][0, 0]
            assert right == ", ".join(f"{number + 0.0:.2f}" for number in row.tolist()), one
        checked[one.kind] += 1
    assert {asked.WORD, NUMBERS, asked.NEW_SHAPE} <= set(checked) and sum(checked.values()) > 25, checked


def test_the_right_answer_is_at_every_place(by_hand):
    places = Counter(one.letter for one in questions(by_hand, "", 1))
    assert set(places) == set("abcd") and min(places.values()) > 0.1 * sum(places.values()), places


def test_the_shapes_at_a_line(by_hand):
    shapes = {one.words.split("`")[3]: one.options[one.right] for one in questions(by_hand, "", 1)
              if one.kind == LOOK}  # fmt: skip
    assert shapes["k.mT"] == "(2, 5, 4)" and shapes["p.sum(dim=-1, keepdim=True)"] == "(2, 3, 1)"


def test_a_change_without_effect_says_where_it_matters(by_hand):
    found = [one for one in questions(by_hand, "", 1) if one.result == SAME and "amin" in one.reads]
    (note,) = {one.note for one in found}
    assert note == "It matters for: the first example with numbers 100 times as large."


def test_no_answer_stands_in_the_notebook(by_hand):
    every = questions(by_hand, "", 1)
    left = questions(by_hand, "the weights are (2,3,1) and (2, 5, 4)".replace(" ", ""), 1)
    gone = {one.options[one.right] for one in set(every) - set(left)}
    assert gone == {"(2, 3, 1)", "(2, 5, 4)"}


def test_a_shape_that_a_comment_or_the_table_of_the_assignment_tells_is_not_asked(by_hand):
    told = BY_HAND.replace("@ k.mT\n", "@ k.mT  # (B, N, M)\n")
    plain, commented = (
        [one.line for one in questions(tried, "", 1) if one.kind == LOOK]
        for tried in (by_hand, tried_here(told, lines=()))
    )
    assert {2, 4} <= {*plain} and 5 not in plain
    assert 4 in commented and not {2, 5} & {*commented}


def test_what_depends_on_numbers_that_the_sheet_does_not_show_is_not_asked():
    cut = "    b = a[..., : 1 + int((a[0, 0] > 0.3).sum())]\n    c = a[..., :2]\n    return"
    tried = tried_here(BY_HAND.replace("    return", cut), lines=())
    looks = " ".join(one.words for one in questions(tried, "", 1) if one.kind == LOOK)
    assert "`a[..., :2]`" in looks and "`a[..., : 1" not in looks


def test_what_a_batch_of_one_does_by_luck_of_its_numbers_is_not_asked():
    """The largest difference is the largest distance only where it happens to be positive."""
    source = (
        "def equivariance_gap(layer, x, permutations):\n"
        "    gaps = [(layer(x[:, p]) - layer(x)[:, p]).abs().max() for p in permutations]\n"
        "    return max(gaps)\n"
    )
    tried = tried_here(source, "equivariance_gap")
    without = "gaps = [(layer(x[:, p]) - layer(x)[:, p]).max() for p in permutations]"
    found = questions(tried, "", 1)
    assert without in [change.reads for change in tried.planned.changes]
    assert without not in [one.reads for one in found] and len({one.about for one in found}) > MANY
    looks = [one.words for one in found if one.kind == LOOK]
    assert any("`x[:, p]`" in words for words in looks)
    assert not any("layer(x" in words for words in looks)  # nobody knows what the layer gives


def test_an_answer_that_breaks_at_a_batch_of_one():
    source = BY_HAND.replace("@ k.mT", "@ k.squeeze(0).mT").replace("q.shape", "q.squeeze(0).shape")
    source = source.replace("    p = ", "    n = e.squeeze(0).shape[2]\n    p = ")
    tried = tried_here(source, lines=())
    (question,) = [one for one in questions(tried, "", 1) if "Does your code run" in one.words]
    assert question.options[question.right] == "It stops in line 3." and question.note == "IndexError."


@pytest.mark.nightly
def test_a_busy_machine_takes_no_question_away(monkeypatch):
    """Every version waits longer than its seconds, and computes little."""
    monkeypatch.setattr(changed, "SECONDS", 0.4)
    waits = BY_HAND.replace("    return", "    __import__('time').sleep(0.05)\n    return")
    tried = tried_here(waits, lines=(2,))
    assert len(tried.planned.changes) > 1 and not any(name.endswith(".late") for name in tried.found)


@pytest.mark.nightly
def test_a_change_that_never_ends_costs_only_its_own_question():
    source = (
        "def attention(q, k, v):\n"
        "    n = 0\n"
        "    while n < 3:\n"
        "        n = n + 1\n"
        "    a = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1)\n"
        "    return a @ v, a\n"
    )
    tried = tried_here(source, lines=(4, 5))
    endless = [number for number, one in enumerate(tried.planned.changes, 1) if one.reads == "n = n"]
    late = [number for number in endless if f"{number}.late" in tried.found]
    assert endless and late == endless
    assert len({one.about for one in questions(tried, "", 1)}) > MANY


def test_a_batch_of_one_is_asked_about_only_where_the_change_runs():
    source = BY_HAND.replace("    return", "    if len(q) > 1:\n        a = a + 1\n    return")
    found = questions(tried_here(source, lines=(5, 6)), "", 1)
    batches = [one for one in found if one.kind == asked.BATCH]
    assert {5, 6} <= {one.line for one in found} and {one.line for one in batches} == {5}


# --- five of them -----------------------------------------------------------------------------------


def made_up(kind: str, line: int, result: str = "", exercise: str = "f") -> Question:
    return Question(kind, exercise, line, f"x{line}", f"{kind} {line}", ("1", "2", "3", "4"), 0, result)


def test_a_sheet_has_every_sort_of_question_and_at_most_one_that_stops():
    every = [made_up(asked.WORD, line, STOPS) for line in range(20)]
    every += [made_up(asked.LINE, line, STOPS) for line in range(20, 30)]
    every += [made_up(asked.WORD, 40, SAME), made_up(NUMBERS, 41, VALUES), made_up(LOOK, 42)]
    every += [made_up(asked.WORD, line, VALUES) for line in (43, 44)]
    for seed in range(20):
        chosen = choose(every, seed)
        assert len(chosen) == MANY and sum(one.result == STOPS for one in chosen) == 1
        assert {40, 41, 42} <= {one.line for one in chosen}


def test_all_exercises_are_asked_about():
    every = [made_up(kind, line, VALUES, f"exercise {line}") for kind in KINDS for line in range(9)]
    assert {len({one.exercise for one in choose(every, seed)}) for seed in range(20)} == {MANY}


def test_a_short_answer_gives_as_many_as_there_are():
    every = [made_up(asked.WORD, line, STOPS) for line in range(9)]
    assert len(choose(every, 1)) == 1 and choose([], 1) == []


# --- whole sheets, in the sandbox -------------------------------------------------------------------


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Course:
    folder = tmp_path_factory.mktemp("viva") / "course"
    for part in ("solutions", "assignments"):
        shutil.copytree(ROOT / part, folder / part)
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    return Course(folder)


@pytest.fixture(scope="module")
def examiner(course):
    need_sandbox()
    with Examiner(course, secret=hashlib.sha256(b"viva").digest()) as one:
        yield one


def hand_in(course: Course, name: str, student: str, answers: dict[str, str]) -> None:
    released = notebooks.read(course.assignments / name / f"{name}.ipynb")
    path = course.submitted / student / name / f"{name}.ipynb"
    notebooks.write(answered(released, answers), path)


def solution(course: Course, name: str) -> dict[str, str]:
    return right_answers(notebooks.read(course.solution(name)))


def sound(sheet: Sheet) -> None:
    """Five questions, four options each, about lines that are there, at most one that stops."""
    assert len(sheet.questions) == MANY
    assert len({one.about for one in sheet.questions}) == MANY
    assert sum(one.result == STOPS for one in sheet.questions) <= 1
    for one in sheet.questions:
        assert len(set(one.options)) == 4 and 0 <= one.right < 4
        lines = sheet.code[one.exercise].splitlines()
        assert 1 <= one.line <= len(lines) and one.reads != lines[one.line - 1].strip()


@pytest.fixture
def pairs(course):
    """Groups in course.toml."""
    path = course.root / "course.toml"
    path.write_text('partners = [["half", "pal"], ["other", "pen"]]\n', encoding="utf-8")
    yield
    path.unlink()


@pytest.mark.nightly
def test_half_finished_work_gives_five_questions_to_whoever_handed_in_together(course, examiner, pairs):
    """The partner has no folder."""
    answers = dict(list(solution(course, "ps4").items())[:3])
    half = answers["attention"].split("    weights =")[0] + "    weights = \n"
    hand_in(course, "ps4", "half", answers | {"cross_attention": half})
    sheet = make_sheet(examiner, "ps4", "pal")
    sound(sheet)
    assert sheet.title == "pal (handed in by half)" and "together with half." in as_page(sheet)
    assert set(sheet.code) <= {"similarities", "attention"} and len(set(sheet.code)) == 2
    keep(course, sheet)
    assert kept(course, "ps4") == [sheet]


def test_nothing_runs_outside_the_sandbox_and_a_killed_process_costs_its_own_exercise_only(
    course, examiner, tmp_path
):
    """Code that notes where it runs: the cell, the function, and every change; and code that kills."""
    note = tmp_path / "note"
    tmp_path.chmod(0o777)
    spy = f"import os, sys\ntry:\n    open({str(note)!r}, 'a').write('x')\nexcept OSError:\n    pass\n"
    spy += "sys.modules['seqcourse'].caught = True\n"
    inside = spy.replace("\n", "\n    ").rstrip()
    answer = BY_HAND.replace(":\n", f":\n    {inside}\n", 1)
    deadly = "import os\ndef similarities(q, x):\n    os.kill(os.getpid(), 9)\n"
    hand_in(course, "ps4", "spy", {"similarities": deadly, "attention": spy + answer})
    sheet = make_sheet(examiner, "ps4", "spy")
    sound(sheet)
    assert set(sheet.code) == {"attention"}
    import seqcourse

    assert not note.exists() and not hasattr(seqcourse, "caught")


def test_bad_input_gets_a_sentence(course, examiner):
    with pytest.raises(CourseError, match="'nobody' should be a student who handed in ps4"):
        make_sheet(examiner, "ps4", "nobody")
    hand_in(course, "ps4", "empty", {})
    with pytest.raises(CourseError, match="empty should have solved an exercise of ps4"):
        make_sheet(examiner, "ps4", "empty")
    (course.submitted / "bare" / "ps4").mkdir(parents=True)
    with pytest.raises(CourseError, match="ps4.ipynb should be in the folder, but there is nothing"):
        make_sheet(examiner, "ps4", "bare")
    hand_in(course, "ps4", "fails", {"attention": "def attention(q, k, v):\n    return missing\n"})
    with pytest.raises(CourseError, match="fails's answers to ps4 should run"):
        make_sheet(examiner, "ps4", "fails")


@pytest.mark.nightly
def test_other_cells_of_a_student_set_no_answer(course, examiner):
    """A cell that lets a change of the axis do nothing, and one without which no answer runs."""
    hand_in(course, "ps4", "sets", {"attention": BY_HAND})
    path = course.submitted / "sets" / "ps4" / "ps4.ipynb"
    book = notebooks.read(path)
    sets = "import torch\n_all = torch.Tensor.amax\ntorch.Tensor.amax = lambda x, **given: 0 * _all(x)\n"
    sets += "_sum = torch.Tensor.sum\ntorch.Tensor.sum = lambda x, *given, **words: _sum(x, -1, True)\n"
    book["cells"].insert(2, new_code_cell(sets, id="own"))
    notebooks.write(book, path)
    sheet = make_sheet(examiner, "ps4", "sets")
    for one in sheet.questions:
        assert "p.sum(" not in (one.reads or "") or one.result != SAME, one
    hand_in(
        course, "ps4", "helped", {"attention": "def attention(q, k, v):\n    return helper(q, k, v)\n"}
    )
    path = course.submitted / "helped" / "ps4" / "ps4.ipynb"
    book = notebooks.read(path)
    book["cells"].insert(2, new_code_cell(BY_HAND.replace("attention", "helper"), id="own"))
    notebooks.write(book, path)
    with pytest.raises(CourseError, match="should run without the student's other cells"):
        make_sheet(examiner, "ps4", "helped")


@pytest.mark.nightly
def test_a_sheet_with_one_answer_to_everything_is_not_used(course, examiner, monkeypatch):
    hand_in(course, "ps4", "plain", {"attention": BY_HAND})
    monkeypatch.setattr(sheets, "choose", lambda found, seed: [made_up(LOOK, line) for line in range(5)])
    with pytest.raises(CourseError, match="should have several answers, but all have this one: 1 Ask"):
        make_sheet(examiner, "ps4", "plain")


@pytest.mark.nightly
def test_sheets_are_made_several_at_a_time_and_one_that_cannot_be_stops_no_other(course):
    need_sandbox()
    hand_in(course, "ps4", "blank", {})
    hand_in(course, "ps4", "plain", {"attention": BY_HAND})
    found = dict(make_sheets(course, "ps4", ["blank", "plain"], workers=2))
    assert "blank should have solved an exercise" in str(found["blank"])
    sound(found["plain"])
    assert dict(make_sheets(course, "ps4", ["plain"])) == {"plain": found["plain"]}


def test_partners_with_different_work_get_no_sheet(course, examiner, pairs):
    for student, answers in {"half": {"attention": BY_HAND}, "empty": {}}.items():
        hand_in(course, "ps4", student, answers)
    assert whose(examiner, "ps4", "half") == whose(examiner, "ps4", "pal") == "half"
    assert whose(examiner, "ps4", "empty") == "empty"
    with pytest.raises(CourseError, match="'pen' should be a student who handed in ps4"):
        make_sheet(examiner, "ps4", "pen")
    hand_in(course, "ps4", "pal", {"attention": BY_HAND + "\n# mine"})
    with pytest.raises(CourseError, match="half and pal are partners, but handed in different work"):
        make_sheet(examiner, "ps4", "pal")
    shutil.rmtree(course.submitted / "pal")


def test_untrusted_results_are_read_without_harm():
    """What a student's process could hand over in place of arrays of the right form."""
    source = BY_HAND
    exercise = EXERCISES["attention"]
    planned = Planned(source, changes(source, 1), marked(source, changed.MARK))
    odd = {
        "0.0.result.0": numpy.full((3, 2), numpy.nan),
        "0.0.result.x": numpy.array(["a"]),
        "0.0.ran": numpy.array([[2, 3], [4, 5]]),
        "0.0.line": numpy.array(["b"]),
        "1.0.result.error": numpy.array(["<b>", "c"]),
        "1.0.line": numpy.array([-4]),
        "2.0.result.0": numpy.zeros((0, 7, 1, 1, 1, 1, 1)),
        "2.0.result.x": numpy.array(["<script>"]),
        "3.0.result.0": numpy.array(7),
        "shape.0": numpy.array([1.5, 2.5]),
        "shape.1": numpy.array([], dtype=numpy.int64),
        "shape.2": numpy.array([10**18, -3]),
    }
    tried = Tried("attention", False, planned, calls_of(exercise), odd)
    assert all(len(set(one.options)) == 4 for one in questions(tried, "", 1))


def test_the_request_holds_neither_seeds_nor_makers():
    exercise = EXERCISES["attention"]
    asks = request(exercise, calls_of(exercise), [BY_HAND], "", 5)
    assert "seed" not in json.dumps({key: str(value) for key, value in asks.items() if key != "calls"})
    assert {type(value) for call in pickle.loads(asks["calls"]) for value in call.values()} == {
        torch.Tensor
    }


@pytest.mark.nightly
def test_most_styles_give_five_questions(course, examiner):
    """Twenty right answers in other styles, each alone in its notebook."""
    who: dict[str, list[str]] = {}
    for name, exercise, place in STYLES:
        who.setdefault(name, []).append(f"{exercise}-{place}")
        source = load_checks(course, name).RIGHT[exercise][place][1]
        hand_in(course, name, who[name][-1], {exercise: source})
    sheets = [sheet for name, some in who.items() for _, sheet in make_sheets(course, name, some)]
    full = [sheet for sheet in sheets if len(sheet.questions) == MANY]
    assert len(full) >= 15, {sheet.student: len(sheet.questions) for sheet in sheets}
    for sheet in full:
        sound(sheet)
    counts = spread(sheets)
    assert set(counts) == set(KINDS) and max(counts.values()) < sum(counts.values()) / 2, counts


@pytest.mark.nightly
def test_the_example_of_the_book_is_asked_of_the_solution():
    text = (ROOT / "book" / "appendix_teaching.md").read_text(encoding="utf-8")
    (quoted,) = (line[2:] for line in text.splitlines() if line.startswith("> Line "))
    source = solution(Course(ROOT), "ps4")["positional_encoding"]
    found = questions(tried_here(source, "positional_encoding"), "", 1)
    (one,) = (one for one in found if f"{setting(one)} {one.words}" == quoted)
    assert one.options[one.right] == "1, 2, 3, 4" and "rows 1, 2, 3 and 4 change" in text
    assert source.splitlines()[one.line - 1].strip() in text
