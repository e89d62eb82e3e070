"""Small changes of a solution: mistakes that people make are among them, and survivors are explained."""

from __future__ import annotations

import ast
from types import SimpleNamespace

import pytest

from cellgrader.errors import CourseError
from cellgrader.notebook import document as notebooks
from cellgrader.release.sample import right_answers
from seqcourse.audit import answers
from seqcourse.audit.operators import mutants_of
from tests.grading.toy import make_toy_course

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


def test_an_explanation_of_no_mutant_is_an_error(tmp_path, monkeypatch):
    toy = make_toy_course(tmp_path / "course")
    solved = right_answers(notebooks.read(toy.solution("ps1")))["half"]
    some = mutants_of(solved)[0]
    checks = SimpleNamespace(RIGHT={"half": []}, SURVIVORS={"half": [(*some.key, "the same")]})
    monkeypatch.setattr(answers, "load_checks", lambda course, name: checks)
    made = answers.operator_mutants(toy, "ps1")
    assert [mutant.why for mutant in made].count("the same") == 1
    checks.SURVIVORS["half"] += [("DropCall", 99, "gone", "who knows")]
    with pytest.raises(CourseError, match="there is none called"):
        answers.operator_mutants(toy, "ps1")
