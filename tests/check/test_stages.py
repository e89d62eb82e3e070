"""What a notebook shows of a mistake: where, then the question, then what to read again."""

from __future__ import annotations

import ast
import importlib
import linecache
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell

from seqcourse import functional
from seqcourse.check import Mistake, ps1, ps4, ps6
from seqcourse.check.inside import ps6 as inside_ps6
from seqcourse.check.told import stages
from seqcourse.check.told.finding import Finding

ROOT = Path(__file__).resolve().parents[2]
WHERE = (
    "f: the shape of the result is right, the numbers are not. At index (0, 1) expected 0.5, got -1.2."
)


@pytest.fixture(autouse=True)
def first_attempt(monkeypatch):
    """Hints begin anew, whatever was tried before in this process."""
    monkeypatch.setattr(stages, "_failed", {})


def test_what_is_wrong_is_said_before_what_is_asked():
    found = Finding(WHERE, "Is w.T wrong?", ("a batch", "rows; columns"))
    assert str(found) == f"{WHERE} Is w.T wrong? (Input: a batch; rows; columns.)"
    assert found.where == f"{WHERE} (Input: a batch; rows; columns.)"
    assert str(Finding(WHERE)) == Finding(WHERE, "Is w.T wrong?").where == WHERE


def test_a_mistake_carries_its_finding():
    mistake = Mistake("f returned None. ", "Is the return missing?", ("a batch",))
    assert mistake.finding == Finding("f returned None.", "Is the return missing?", ("a batch",))
    assert str(mistake) == "f returned None. Is the return missing? (Input: a batch.)"


def test_an_error_is_asked_about_where_no_likely_mistake_explains_it():
    def from_the_front(q, k, v):
        return functional.attention(q, k.transpose(2, 3).mT, v, need_weights=True)

    def through_another(q, k, v):
        return from_outside(q, k, v)

    def from_outside(q, k, v):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v), None

    with pytest.raises(Mistake) as caught:
        ps4.attention(from_the_front)
    asked, shown = caught.value.finding.question, caught.value.shown
    assert "counted from the front" in asked and "front" not in shown
    with pytest.raises(Mistake, match="calls your test_.*, which uses scaled_dot"):
        ps4.attention(through_another)


def _forgotten(change: str = "") -> Callable[..., torch.Tensor]:
    """A wrong answer, as a notebook's cell defines it."""
    cell = f"""def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    # a comment
{change}
    return (x @ w_ih.T + b_ih + h @ w_hh.T).tanh()
"""
    space, name = {}, f"<cell {cell}>"
    linecache.cache[name] = (len(cell), None, cell.splitlines(keepends=True), name)
    exec(compile(cell, name, "exec"), space)
    return space["rnn_step"]


def test_a_changed_answer_gets_the_next_hint_and_the_same_one_does_not():
    def shown(answer) -> str:
        with pytest.raises(Mistake) as caught:
            ps1.rnn_step(answer)
        assert "bias of the hidden part" in str(caught.value)  # the whole is there for the grader
        return " ".join(caught.value._render_traceback_())

    with pytest.raises(Mistake) as caught:
        ps1.rnn_step.validate(_forgotten())  # asks for nothing
    assert "?" not in caught.value.shown
    first = shown(_forgotten())
    for same in ("", "", "    # another comment\n\n"):
        assert shown(_forgotten(same)) == first, "four keystrokes are no attempt"
    second, third, fourth, fifth = (shown(_forgotten(f"    h = h + {k} * 0")) for k in range(4))
    assert (
        "the numbers are not" in first
        and "?" not in first
        and "next one that fails gets a hint" in first
    )
    assert "bias of the hidden part" in second and "on paper" not in second
    assert "on paper" in third and "Read again" not in third
    assert "Read again: chapter 1" in fourth and "another hint" not in fourth and fifth == fourth
    ps1.rnn_step(lambda x, h, w, u, a, b: (x @ w.T + a + h @ u.T + b).tanh())
    assert shown(_forgotten()) == first, "after a right answer the hints begin anew"


def test_a_mistake_that_nobody_knows_is_asked_about_before_the_fix_is_told():
    halved = [
        lambda x, gamma, beta, eps: functional.layer_norm(x, gamma, beta, eps) / 2,
        lambda x, gamma, beta, eps: functional.layer_norm(x, gamma, beta, eps) * 0.5,
        lambda x, gamma, beta, eps: functional.layer_norm(x, gamma, beta, eps) / 2.0,
        lambda x, gamma, beta, eps: 0.5 * functional.layer_norm(x, gamma, beta, eps),
    ]
    shown = []
    for answer in halved:
        with pytest.raises(Mistake) as caught:
            ps6.layer_norm(answer)
        assert caught.value.finding.question == ""
        shown.append(" ".join(caught.value._render_traceback_()))
    first, second, third, fourth = shown
    assert "?" not in first and "gets a hint" in first
    assert "Over which axis" in second and "(2, 4, 4, 6)" not in second
    assert "(2, 4, 4, 6)" in third and "Read again" not in third
    assert "Read again: chapter 10" in fourth


def test_an_error_in_a_notebook_has_the_line_of_its_cell():
    cell = """
def helper(x):
    return x @ x.T[:-1]

def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    return helper(x)
"""
    space = {"__name__": "__main__"}
    exec(compile(cell, "<cell>", "exec"), space)
    with pytest.raises(
        Mistake, match=r"stopped with .*\. It stopped in helper, line 3 of its cell\. It was"
    ):
        ps1.rnn_step(space["rnn_step"])
    with pytest.raises(Mistake) as caught:
        ps1.rnn_step.judge_case({"result": numpy.zeros(1)}, ps1.rnn_step.cases[0].make(), "")
    assert "of its cell" not in str(caught.value)


@pytest.fixture
def notebook():
    """A running notebook in this process, its answer cells not yet run."""
    shell = InteractiveShell.instance()
    shell.run_cell("import torch\nfrom seqcourse.check import ps1")
    yield shell
    InteractiveShell.clear_instance()


def told(shell, capsys, *cells: str) -> str:
    """What the last of these cells shows."""
    for cell in cells:
        capsys.readouterr()
        shell.run_cell(cell, store_history=True)
    return capsys.readouterr().out.replace("\n", " ")


STUB = "def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):\n    raise NotImplementedError()"
RIGHT = (
    "def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):\n    "
    "return torch.tanh(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)"
)


@pytest.mark.parametrize(
    "cell",
    [
        "ps1.rnn_step(rnn_step)",
        "ps1.rnn_step.validate(rnn_step)",
        "with ps1.experiment('1'): rnn_step(*6 * [0])",
    ],
)
def test_an_unsolved_exercise_is_told_in_a_line(notebook, capsys, cell):
    said = told(notebook, capsys, STUB, cell)
    assert "not" in said and "Traceback" not in said and len(said) < 200


def test_after_a_syntax_error_the_older_answer_is_not_judged(notebook, capsys):
    assert "✓" in told(notebook, capsys, RIGHT, "ps1.rnn_step(rnn_step)")
    said = told(notebook, capsys, RIGHT.removesuffix(")"), "ps1.rnn_step(rnn_step)")
    assert "line 2" in said and "did not run" in said and "✓" not in said
    assert "✓" in told(notebook, capsys, RIGHT, "ps1.rnn_step(rnn_step)")


@pytest.mark.parametrize(
    ("line", "asks"),
    [
        ("return maths.tanh(x)", "misspelt"),
        ("import nunpy", "module's name"),
        ("return x / 0 if isinstance(x, int) else 1 / 0", "can be 0"),
        ("return x.tanhh()", "before the dot"),
        ("return {}['x']", "Which keys"),
    ],
)
def test_an_error_that_has_nothing_to_do_with_shapes_is_asked_about_by_its_kind(
    notebook, capsys, line, asks
):
    cell = f"def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):\n    {line}"
    check = "ps1.rnn_step(rnn_step)"
    said = told(notebook, capsys, cell, check, f"{cell}; a = 1", check)
    assert asks in said and "Print the shapes" not in said


def test_logits_of_a_step_with_an_axis_too_many_are_named():
    class Transformer(torch.nn.Module):
        def __init__(self, *_, **__):
            super().__init__()

        def encode(self, src, lengths):
            return src

        def start(self, memory):
            return None

        def step(self, tokens, state, memory):
            return SimpleNamespace(logits=torch.zeros(len(tokens), 1, 5), state=None)

    given = dict(src=torch.zeros(3, 2), lengths=torch.ones(3), tgt=torch.zeros(3, 2))
    run = inside_ps6._Run.of({**given, "way": "word by word"})
    with pytest.raises(ValueError, match=r"logits of the shape \(3, V\), but gives \(3, 1, 5\)"):
        run(Transformer())


@pytest.mark.parametrize("assignment", [f"ps{number}" for number in range(1, 9)])
def test_the_last_hint_leads_and_does_not_hand_over_the_code(assignment):
    """No expression of the solution stands in it."""
    book = nbformat.read(ROOT / f"solutions/{assignment}/{assignment}.ipynb", as_version=4)
    exercises = importlib.import_module(f"seqcourse.check.{assignment}").EXERCISES
    for cell in book.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name not in exercises or not cell.metadata.nbgrader.solution:
            continue
        fix = exercises[name].fix
        body = cell.source.partition("### BEGIN SOLUTION")[2].partition("### END SOLUTION")[0]
        tree = ast.parse(textwrap.dedent(body.strip("\n")).replace("return", "_ =") or "0")
        calls = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, (ast.Call, ast.BinOp))}
        handed = [call for call in calls if len(call) > 12 and call in fix]
        assert not handed, f"{name}: {handed}"
