"""The tree of a beam search that grows in the page is `decode.beam_search`'s."""

from __future__ import annotations

import pytest

from seqcourse import decode, zoo
from seqcourse.zoo.system import NO_OUTPUT

from .conftest import EXAMPLES

pytestmark = pytest.mark.browser
GROW = """given => seqlive.send("grow", { name: "en-es-fixed", ...given })"""


@pytest.fixture
def page(opened, over_http):
    page = opened(over_http.replace("index", "tree"))
    page.get_by_role("button", name="Run").click()
    page.get_by_text("(score ").wait_for()
    return page


def steps_of(roots: list[dict]) -> list[list[dict]]:
    """The nodes of each step, as they stand below each other."""
    steps = []
    while roots:
        steps.append(roots)
        roots = [node for root in roots for node in root["next"]]
    return steps


@pytest.mark.parametrize(("width", "alpha"), [(1, 1.0), (3, 0.0), (3, 1.0), (5, 1.5)])
def test_every_node_is_pythons(page, width, alpha):
    system = zoo.load("en-es-fixed")
    for text in (*EXAMPLES, "i do not know why"):
        trace: list = []
        (source,) = system.sources([text])
        ((best, *_),) = decode.beam_search(
            system.model,
            system.encode([source]),
            width,
            length_penalty=alpha,
            max_len=2 * len(source) + 10,
            forbid=NO_OUTPUT,
            trace=trace,
        )
        found = page.evaluate(GROW, {"text": text, "width": width, "alpha": alpha})
        assert found["score"] == pytest.approx(best.score, abs=1e-4)
        assert found["text"] == system.text(system.target.decode(best.tokens))
        for mine, theirs in zip(steps_of(found["roots"]), trace, strict=True):
            tokens = system.target.tokens
            told = [(tokens[n.token], n.kept, n.best) for n in theirs]
            assert sorted((n["word"], n["kept"], n["best"]) for n in mine) == sorted(told)
            logs = sorted(n["logProb"] for n in mine)
            assert logs == pytest.approx(sorted(n.log_prob for n in theirs), abs=1e-4)


def test_the_tree_that_came_with_the_page_is_what_the_page_makes(opened, over_http):
    page = opened(over_http.replace("index", "tree"))
    came = page.locator(".sq-live").inner_html()
    page.get_by_role("button", name="Run").click()
    page.get_by_text("(score ").wait_for()
    assert page.locator(".sq-live").inner_html() == came
    page.get_by_label("Width").fill("1")
    page.get_by_role("button", name="Run").click()
    page.wait_for_function("!document.querySelector('.sq-tree .pruned')")
