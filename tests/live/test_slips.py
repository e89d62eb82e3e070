"""A slip that is planted in the page has the same consequences as in PyTorch."""

from __future__ import annotations

import pytest
import torch

from seqcourse import decode, zoo
from seqcourse.errors import CourseError
from seqcourse.live import slip
from seqcourse.live.slips import slips, table_of
from seqcourse.tokens import SOS

from .conftest import ask, load

SENTENCES = ["we are eating bread", "the red house is big", "where did you buy the zxq?"]
ALL = """texts => Promise.all(texts.map(text =>
    seqlive.send("slips", { name: "en-es-attention", text }).then(({ rows }) => rows)))"""


@pytest.mark.parametrize("text", SENTENCES)
def test_what_follows_a_slip_is_greedy_with_it_as_prefix(text):
    system = zoo.load("en-es-attention")
    found = slips(system, text)
    words = [word for word, _, _ in found]
    assert words == system.translate([text], beam=1)[0].target
    (source,) = system.sources([text])
    for place, (word, second, rest) in enumerate(found):
        assert second != word
        if second != "<eos>":
            prefix = [SOS, *system.target.encode([*words[:place], second], eos=False)]
            memory = system.encode([source])
            with torch.inference_mode():
                (hypothesis,) = decode.greedy(
                    system.model, memory, max_len=2 * len(source) + 9 - place, prefix=prefix
                )
            assert rest == system.target.decode(hypothesis.tokens)


def test_what_differs_is_marked():
    shown = table_of([("a", "<x>", ["c"]), ("b", "y", ["z"])])
    assert "<b>&lt;x&gt;</b> <mark>c</mark>" in shown and "a <b>y</b> <mark>z</mark>" in shown
    assert "<mark>" not in table_of([("a", "x", ["b"]), ("b", "y", [])])


def test_a_model_that_does_not_translate_is_refused():
    with pytest.raises(CourseError):
        slip("char-alice", "A text", ["a"])


@pytest.mark.browser
def test_the_page_has_pytorchs_rows(page):
    load(page, "en-es-attention")
    system = zoo.load("en-es-attention")
    wanted = [[list(row) for row in slips(system, text)] for text in SENTENCES]
    assert page.evaluate(ALL, SENTENCES) == wanted
    said = ask(page, "slip", SENTENCES[1])
    same = sum(
        rest == [word for word, _, _ in wanted[1][k + 1 :]] for k, (_, _, rest) in enumerate(wanted[1])
    )
    assert said == f"After {same} of {len(wanted[1])} slips the rest is the same."
    assert page.locator("#slip tbody tr").count() == len(wanted[1])
    marks = page.locator("#slip mark").all_text_contents()
    words = [word for word, _, _ in wanted[1]]
    others = [
        other
        for place, (_, _, rest) in enumerate(wanted[1])
        for k, other in enumerate(rest)
        if [other] != words[place + 1 + k : place + 2 + k]
    ]
    assert marks == others
