"""The forms that answer to a kernel, with real ipywidgets objects."""

from __future__ import annotations

import tomllib

import matplotlib.pyplot as plt
import numpy
import pytest
from bs4 import BeautifulSoup

from seqcourse import CourseError, viz
from seqcourse.viz.inventory import RIGHT, items
from seqcourse.viz.poll import POLLS, load_poll, widget_form

widgets = pytest.importorskip("ipywidgets")


@pytest.fixture(autouse=True)
def kernel(monkeypatch):
    """As in a notebook: IPython's shell has a kernel, and no page is being built."""
    monkeypatch.delenv("SEQCOURSE_STATIC", raising=False)
    shell = type("Shell", (), {"kernel": object()})()
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)


def parts(box, kind) -> list:
    """All widgets of a kind inside a box, in order."""
    found = [box] if isinstance(box, kind) else []
    for child in getattr(box, "children", ()):
        found += parts(child, kind)
    return found


def drawing(counted: list):
    def draw(temperature, kind):
        counted.append((temperature, kind))
        if temperature == 4:
            raise ValueError("too hot")
        return viz.bars({kind: temperature}, ylabel="value")

    return draw


def explored(counted: list):
    return viz.explore(
        drawing(counted), alt="{kind} at {temperature}.", temperature=[1, 2, 4], kind=["rnn", "gru"]
    )


def test_explore_swaps_the_frame_when_a_value_changes():
    box = explored([])
    (slider,) = parts(box, widgets.SelectionSlider)
    (choice,) = parts(box, widgets.Dropdown)
    (frame,) = parts(box, widgets.HTML)
    before = frame.value
    assert 'alt="rnn at 1."' in before
    slider.value = 2
    assert 'alt="rnn at 2."' in frame.value
    choice.value = "gru"
    assert 'alt="gru at 2."' in frame.value
    slider.value, choice.value = 1, "rnn"
    assert frame.value == before


def test_numpys_integers_make_a_slider():
    box = viz.explore(drawing([]), alt="{kind}.", temperature=numpy.arange(1, 4), kind=["rnn", "gru"])
    (slider,) = parts(box, widgets.SelectionSlider)
    assert len(slider.options) == 3


def test_explore_draws_each_frame_once_and_leaves_no_figure_open():
    counted: list = []
    box = explored(counted)
    (slider,) = parts(box, widgets.SelectionSlider)
    slider.value = 2
    slider.value = 1
    slider.value = 2
    assert counted == [(1, "rnn"), (2, "rnn")]
    assert plt.get_fignums() == []


def test_explore_shows_an_error_of_a_later_drawing_and_raises_that_of_the_first():
    box = explored([])
    (slider,) = parts(box, widgets.SelectionSlider)
    (frame,) = parts(box, widgets.HTML)
    slider.value = 4
    assert "ValueError: too hot" in frame.value
    slider.value = 2
    assert 'alt="rnn at 2."' in frame.value
    with pytest.raises(ValueError, match="too hot"):
        viz.explore(drawing([]), alt="x", start={"temperature": 4}, temperature=[1, 4], kind=["rnn"])


def test_a_kernel_allows_more_frames_than_a_page():
    box = viz.explore(lambda n: str(n), alt="A number.", n=range(1000), start={"n": 500})
    (frame,) = parts(box, widgets.HTML)
    assert BeautifulSoup(frame.value, "html.parser").p.text == "500"


def every_poll():
    for path in sorted(POLLS.glob("*.toml")):
        for name in tomllib.loads(path.read_text(encoding="utf-8")):
            yield f"{path.stem}-{name}"


@pytest.mark.parametrize("name", list(every_poll()))
def test_no_formula_of_a_poll_is_shown_as_its_source(name):
    """A radio button shows text as it is; HTMLMath sets what stands between dollars."""
    given = load_poll(name)
    box = widget_form(**given)
    (buttons,) = parts(box, widgets.RadioButtons)
    labels = [label for label, _ in buttons.options]
    assert not any(sign in label for label in labels for sign in ("$", "\\", "_{", "^{"))
    assert [option for _, option in buttons.options] == list(given["options"])
    asked = parts(box, widgets.HTMLMath)[0].value
    if any("$" in option for option in given["options"]):
        assert labels == list("abcdefgh"[: len(labels)]) and asked.count("<li>") == len(labels)
        assert (
            asked.count("\\(")
            == sum(text.count("$") for text in [given["question"], *given["options"]]) / 2
        )
    else:
        assert "<li>" not in asked


def test_poll_answers_each_choice_with_its_own_reason():
    options = {"`Yes`": "Pruning can lose it.", "No": "Only a full search is."}
    box = viz.ask("Is beam search *optimal*?", options, answer="No")
    (buttons,) = parts(box, widgets.RadioButtons)
    question, said = parts(box, widgets.HTMLMath)
    assert "<em>optimal</em>" in question.value
    assert buttons.value is None and said.value == ""
    assert [label for label, _ in buttons.options] == ["Yes", "No"]
    buttons.index = 0
    assert "Not this one" in said.value and "Pruning can lose it." in said.value
    buttons.index = 1
    assert "Right." in said.value and "Only a full search is." in said.value
    assert "Not this one" not in said.value
    buttons.index = None
    assert said.value == ""


def test_type_in_runs_what_is_typed_chosen_or_pressed():
    seen: list[str] = []

    def run(text):
        seen.append(text)
        if text == "bad":
            raise CourseError("Type <letters>.")
        if text == "worse":
            raise KeyError("hidden")
        return text.upper()

    box = viz.type_in(run, "A word", ["one", "two"])
    (field,) = parts(box, widgets.Text)
    button, *chips = parts(box, widgets.Button)
    (result,) = parts(box, widgets.HTML)
    assert "ONE" in result.value and field.description == "A word"
    field.value = "three"
    assert "THREE" in result.value
    button.click()  # the same text is not run twice
    assert seen == ["one", "three"]
    chips[1].click()
    assert field.value == "two" and "TWO" in result.value
    field.value = "bad"
    assert "Type &lt;letters&gt;." in result.value and "CourseError" not in result.value
    field.value = "worse"
    assert "KeyError" in result.value
    assert not button.disabled
    button.click()  # after an error the button tries again
    assert seen[-2:] == ["worse", "worse"]


@pytest.mark.parametrize("form", ["a", "b"])
def test_a_form_of_the_inventory_answers_and_leads_to_its_notebooks(form):
    box, asked = viz.inventory(form), items(form)
    buttons = parts(box, widgets.RadioButtons)
    said = [one.children[-1] for one in box.children]
    assert len(buttons) == len(said) == len(asked)
    for item, choice, verdict in zip(asked, buttons, said, strict=True):
        assert not any(sign in label for label, _ in choice.options for sign in ("$", "\\", "_{"))
        for option, mistake in item.mistakes.items():
            choice.value = option
            assert ("Right." in verdict.value) is (mistake == RIGHT)
            assert f'href="{item.section.replace("#", ".ipynb#")}"' in verdict.value
