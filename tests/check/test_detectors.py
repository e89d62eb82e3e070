"""Wrong answers of the corpus that are detectors: written out as they are, runnable, and asked about."""

from importlib import import_module
from pathlib import Path

import pytest
import torch

from seqcourse.check import Mistake
from seqcourse.check.calls.compare import outcome
from seqcourse.check.calls.inputs import copy, normal
from seqcourse.check.cards import card, shipped
from seqcourse.check.cards.load import load_checks
from seqcourse.check.exercise import Exercise

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENTS = sorted(path.parent.name for path in ROOT.glob("seqcourse/check/ps*/exercises.json"))


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_what_packages_hold_is_what_the_cards_say(assignment):
    """If it is not: python -m seqcourse.check.cards.shipped."""
    kept = ROOT / "seqcourse" / "check" / assignment / shipped.FILE
    assert kept.read_text(encoding="utf-8") == shipped.written_out(ROOT, assignment)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_every_mistake_runs_with_what_a_package_has(assignment):
    """It knows all names that it uses, also those of other answers."""
    for name, exercise in import_module(f"seqcourse.check.{assignment}").EXERCISES.items():
        given = exercise.cases[0].make()
        for mistake in exercise.likely:
            if exercise.is_class:
                got = outcome(lambda: mistake.answer(**given["build"]), ())  # noqa: B023
            else:
                got = outcome(mistake.answer, copy(tuple(given.values())))
            assert not isinstance(got, (NameError, ImportError)), f"{name}: {mistake.question}"


def scaled_arguments(n, factor=2.0, seed=0):
    return {**normal({"x": (n,)}, seed), "factor": factor}


def sums(**options):
    return Exercise(
        "sums",
        make=scaled_arguments,
        reference=lambda x, factor: factor * x.sum(),
        cases={"the first": {"n": 3}, "another": {"n": 4, "factor": 5.0}},
        **options,
    )


CARD = """idea: A sum is scaled.

=== hidden: sums-grade
a few: n=5
more: n=6

=== right: the usual way
def sums(x, factor):
    return factor * x.sum()

=== mistake: a mean | Is it the mean? The sum is asked for.
sum()  =>  mean()

=== mistake: by another answer | Is each number doubled twice?
x.sum()  =>  twice(x).sum()

=== wrong: off by one | the numbers are not
factor *  =>  1 + factor *

=== held out: three times the sum | three
factor *  =>  3 * factor *
"""


@pytest.fixture
def exercise(tmp_path):
    (tmp_path / "sums.txt").write_text(CARD, encoding="utf-8")
    twice = Exercise("twice", make=scaled_arguments, reference=lambda x: 2 * x, cases=())
    made = {"sums": sums(likely={"Is the factor forgotten?": lambda x, factor: x.sum()}), "twice": twice}
    shipped.fill(made, {"sums": card.read(tmp_path / "sums.txt").told})
    return made["sums"]


@pytest.mark.parametrize(
    ("answer", "asked"),
    [
        (lambda x, factor: factor * x.mean(), "Is it the mean? The sum is asked for."),
        (lambda x, factor: factor * (x + x).sum(), "Is each number doubled twice?"),
        (lambda x, factor: x.sum(), "Is the factor forgotten?"),
        (lambda x, factor: 1 + factor * x.sum(), ""),
        (lambda x, factor: 3 * factor * x.sum(), ""),
    ],
)
def test_whoever_makes_a_mistake_is_asked_its_question(exercise, answer, asked):
    with pytest.raises(Mistake) as raised:
        exercise(answer)
    assert raised.value.finding.question == asked


def test_a_course_with_exercises_of_its_own_has_mistakes_too(tmp_path):
    folder = tmp_path / "solutions" / "checks" / "ps1"
    folder.mkdir(parents=True)
    (folder / "sums.txt").write_text(CARD.replace("twice(x)", "(x + x)"), encoding="utf-8")
    folder.with_suffix(".py").write_text(
        "from tests.check.test_detectors import sums\nEXERCISES = {'sums': sums()}\n", encoding="utf-8"
    )
    checks = load_checks(tmp_path, "ps1")
    assert [*checks.CHECKS[0].cases] == ["a few", "more"]
    assert checks.CHECKS[0].exercise.idea == "A sum is scaled."
    asked = [one.question for one in checks.CHECKS[0].exercise.likely]
    assert asked == ["Is it the mean? The sum is asked for.", "Is each number doubled twice?"]
    assert [name for name, *_ in checks.WRONG["sums"]] == ["a mean", "by another answer", "off by one"]
    assert torch.equal(
        outcome(checks.CHECKS[0].exercise.likely[0].answer, (torch.ones(4), 3.0)), torch.tensor(3.0)
    )
