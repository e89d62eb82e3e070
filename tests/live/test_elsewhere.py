"""What each position alone would bring, in PyTorch and in the page; and a cell that is pressed."""

from __future__ import annotations

import pytest
import torch

from seqcourse import zoo
from seqcourse.errors import CourseError
from seqcourse.live import elsewhere
from seqcourse.live.elsewhere import Row, goes_on, rows_of, table_of
from seqcourse.tokens import SOS

from .conftest import ask, load

SENTENCES = ["we are eating bread", "the red house is big", "where did you buy the zxq?"]
ALL = """([texts, place, column]) => Promise.all(texts.map(async text => [
    await seqlive.send("lookAlone", { name: "en-es-attention", text }),
    await seqlive.send("lookAt", { name: "en-es-attention", text, place, column })]))"""


@pytest.fixture(scope="module")
def system():
    return zoo.load("en-es-attention")


@pytest.mark.parametrize("text", SENTENCES)
def test_a_position_alone_has_the_whole_weight(system, text):
    """Against the decoder's own four equations, with one encoder state as the context."""
    (source,) = system.sources([text])
    rows, model = rows_of(system, source), system.model
    assert [row.word for row in rows] == system.translate([text], beam=1)[0].target
    with torch.inference_mode():
        memory = system.encode([source])
        before, state = SOS, model.start(memory)
        for row in rows:
            y = model.target_embedding[before][None]
            for position, word in enumerate(row.alone):
                context = memory.states[:, position]
                s = model.cell(torch.cat([y, context], -1), state)
                assert (
                    system.target.tokens[int(model.predict(s, context, y)[0, 2:].argmax()) + 2] == word
                )
            out = model.step(torch.tensor([before]), state, memory)
            assert torch.allclose(out.weights[0], torch.tensor(row.weights))
            before, state = system.target.id(row.word), out.state


def test_one_look_elsewhere_changes_that_word_and_what_follows(system):
    (source,) = system.sources([SENTENCES[1]])
    rows = rows_of(system, source)
    for place, row in enumerate(rows):
        for column, word in enumerate(row.alone):
            written = goes_on(system, source, place, column)
            assert written[:place] == [each.word for each in rows[:place]]
            assert written[place : place + 1] == ([word] if word != "<eos>" else [])


def test_the_table_marks_what_is_the_same():
    shown = table_of([Row("a", [0.25, 0.75], ["a", "<x>"])], ["b", "c"], "es")
    assert '--w:0.250"><b>a</b></td>' in shown and '--w:0.750">&lt;x&gt;</td>' in shown


@pytest.mark.parametrize("model", ["en-es-fixed", "en-es-transformer", "char-alice"])
def test_a_model_without_such_attention_is_refused(model):
    with pytest.raises(CourseError, match="recurrent translator with attention"):
        elsewhere(model, "A sentence", ["a"])


@pytest.mark.browser
def test_the_page_has_pytorchs_words(page, system):
    load(page, "en-es-attention")
    for text, (found, written) in zip(SENTENCES, page.evaluate(ALL, [SENTENCES, 1, 2]), strict=True):
        (source,) = system.sources([text])
        rows = rows_of(system, source)
        assert [(row["word"], row["alone"]) for row in found["rows"]] == [
            (row.word, row.alone) for row in rows
        ]
        for row, theirs in zip(rows, found["rows"], strict=True):
            assert theirs["weights"] == pytest.approx(row.weights, abs=1e-5)
        assert found["source"] == [*source, "<eos>"] and written == goes_on(system, source, 1, 2)


@pytest.mark.browser
def test_a_cell_is_pressed_with_the_keyboard_and_taken_back(page, system):
    said = ask(page, "elsewhere", SENTENCES[1])
    (source,) = system.sources([SENTENCES[1]])
    rows = rows_of(system, source)
    same = sum(set(row.alone) == {row.word} for row in rows)
    assert said.startswith(
        f"At {same} step{'s' * (same != 1)} of {len(rows)} every position brings the same"
    )
    root = page.locator("#elsewhere")
    first, status = root.locator("td button").first, root.get_by_role("status")
    usual, then = root.locator(".sq-told").first, root.locator(".sq-then")
    assert root.locator("td button[tabindex='0']").count() == 1 and then.is_hidden()
    first.focus()
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    wanted = goes_on(system, source, 1, 1)
    pressed = root.locator("td button[aria-pressed=true]")
    status.get_by_text(f"At the step of {rows[1].word} it looks at {source[1]} only").wait_for()
    assert then.text_content() == " ".join(wanted) and then.text_content() in status.text_content()
    assert usual.text_content() == " ".join(row.word for row in rows) != then.text_content()
    assert pressed.text_content() == wanted[1] == then.locator("mark").first.text_content()
    page.keyboard.press("Enter")
    status.get_by_text("It looks where it usually looks").wait_for()
    assert then.is_hidden() and pressed.count() == 0


@pytest.mark.browser
def test_a_sentence_that_would_take_long_is_refused(page):
    long = "bread " * 25
    assert (
        ask(page, "elsewhere", long)
        == "Write at most 20 words and punctuation marks here; these are 26."
    )
    with pytest.raises(CourseError, match="at most 20"):
        elsewhere("en-es-attention", "A sentence", [long])
