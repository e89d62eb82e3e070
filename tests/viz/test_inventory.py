"""The inventory: two parallel forms, options that are results of mistakes, and quizzes for nbgrader."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
import torch
from bs4 import BeautifulSoup

from cellgrader.sockets import private_sockets
from seqcourse import viz
from seqcourse.errors import CourseError
from seqcourse.viz.inventory import RIGHT, items
from seqcourse.viz.inventory.quiz import quiz
from seqcourse.viz.poll import POLLS, load_poll

from .inventory_mistakes import COMPUTED, ORDER, attention, drawn

ROOT = Path(__file__).resolve().parents[2]
FORMS = {form: {item.name: item for item in items(form)} for form in "ab"}
NAMES = list(FORMS["a"])
MISTAKE = re.compile(r"^[# ]*=== (?:mistake|wrong|held out): *(.*?) *(?:\||$)", re.M)


@pytest.mark.parametrize(("form", "name"), COMPUTED)
def test_every_option_is_what_its_mistake_gives(form, name):
    said = {mistake: option for option, mistake in FORMS[form][name].mistakes.items()}
    said.pop(ORDER, None)
    assert said == COMPUTED[form, name]


@pytest.mark.parametrize("text", ["the dog sees the cat", "banana"])
def test_only_a_mask_or_positions_tell_equal_words_apart(text):
    words = text.split() if " " in text else list(text)
    first, second = [at for at, word in enumerate(words) if word in ("the", "a")][:2]
    x = drawn(len(set(words)), 8)[[sorted(set(words)).index(word) for word in words]]
    y, masked = attention(x), attention(x, is_causal=True)
    assert torch.allclose(y[first], y[second]) and not torch.allclose(masked[first], masked[second])
    placed = attention(x + drawn(2, *x.shape)[1])
    assert not torch.allclose(placed[first], placed[second])


def test_the_forms_are_parallel():
    assert NAMES == list(FORMS["b"]) and 24 <= len(NAMES) <= 26
    for name in NAMES:
        a, b = (FORMS[form][name] for form in "ab")
        assert a.area == b.area
        assert sorted(a.mistakes.values()) == sorted(b.mistakes.values())
        assert list(a.mistakes.values()) != list(b.mistakes.values()), (
            f"{name}: options in the same order"
        )
    assert Counter(item.area for item in FORMS["a"].values()).keys() == {
        *("masks", "shapes", "softmax axes", "alignment", "decoding", "scaling", "positions"),
        *("training against writing", "what attention maps show"),
    }


@pytest.mark.parametrize("form", FORMS)
def test_a_form_gives_no_answer_away(form):
    places = Counter()
    for item in FORMS[form].values():
        assert 3 <= len(item.reasons) <= 4 and list(item.mistakes.values()).count(RIGHT) == 1
        assert all(re.search(r"[.?]$", reason) for reason in item.reasons.values()), item.name
        longest = max(len(option) for option in item.reasons if option != item.answer)
        assert len(item.answer) <= longest + 3, f"{item.name}: the answer is the longest option"
        assert len(item.question.split()) <= 45, f"{item.name}: more than 20 seconds to read"
        places[list(item.reasons).index(item.answer)] += 1
    assert max(places.values()) <= len(NAMES) / 2 - 3 and min(places[place] for place in range(3)) >= 5


def test_no_text_appears_twice():
    polls = [
        load_poll(f"{path.stem}-{name}")
        for path in POLLS.glob("*.toml")
        for name in re.findall(r"^\[(\w+)\]$", path.read_text(encoding="utf-8"), re.M)
    ]
    forms = [item for form in FORMS.values() for item in form.values()]
    texts = [item.question for item in forms] + [why for item in forms for why in item.reasons.values()]
    texts += [poll["question"] for poll in polls] + [
        w for poll in polls for w in poll["options"].values()
    ]
    assert [text for text, times in Counter(texts).items() if times > 1] == []


def known(mistake: str) -> bool:
    """Whether a self-check names a mistake, or a poll has an option that begins so."""
    place, _, words = mistake.partition(": ")
    if place.startswith("poll "):
        return any(option.startswith(words) for option in load_poll(place[5:])["options"])
    text = (ROOT / "solutions" / "checks" / f"{place}.txt").read_text(encoding="utf-8")
    return words in MISTAKE.findall(text)


@pytest.mark.parametrize("name", NAMES)
def test_wrong_options_are_mistakes_that_the_self_checks_know(name):
    assert [m for m in FORMS["a"][name].mistakes.values() if m != RIGHT and not known(m)] == []


@pytest.mark.parametrize("form", FORMS)
def test_every_section_is_in_the_book(form):
    for item in FORMS[form].values():
        page, _, anchor = item.section.partition("#")
        text = (ROOT / "book" / f"{page}.ipynb").read_text(encoding="utf-8")
        assert f'<a id=\\"{anchor}\\">' in text or f"({anchor})=" in text, item.section


@pytest.mark.parametrize("form", FORMS)
def test_the_page_asks_all_and_shows_the_way(form, monkeypatch):
    monkeypatch.setenv("SEQCOURSE_STATIC", "1")
    page = BeautifulSoup(viz.inventory(form)._repr_html_(), "html.parser")
    asked = page.select(".sq-poll")
    assert len(asked) == len(NAMES)
    for number, (poll, item) in enumerate(zip(asked, FORMS[form].values(), strict=True), 1):
        assert poll.select_one(".sq-question").text.startswith(f"{form.upper()}{number}. ")
        assert len(poll.select("details.sq-is-right")) == 1
        ways = {link["href"] for link in poll.select("details a")}
        assert ways == {item.section.replace("#", ".html#")}


def test_there_are_two_forms():
    with pytest.raises(CourseError, match="one of a, b, but it is 'c'"):
        viz.inventory("c")


@pytest.fixture
def validate(tmp_path):
    """Failing cells of a notebook, by nbgrader's own validation."""
    from nbgrader.validator import Validator
    from traitlets.config import Config

    def go(notebook: dict) -> list[str]:
        path = tmp_path / "quiz.ipynb"
        path.write_text(json.dumps(notebook), encoding="utf-8")
        settings = Config(KernelManager=private_sockets())
        validator = Validator(config=settings, ignore_checksums=True)
        return [failed["source"] for failed in validator.validate(str(path)).get("failed", [])]

    return go


@pytest.mark.parametrize("form", FORMS)
def test_right_answers_to_a_quiz_earn_every_point(form, validate):
    notebook = quiz(form)
    points = [cell["metadata"].get("nbgrader", {}).get("points", 0) for cell in notebook["cells"]]
    assert sum(points) == len(NAMES)
    assert validate(notebook) == []


def test_a_wrong_answer_and_none_cost_their_points_and_a_student_gets_no_answers(validate):
    import nbformat
    from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions

    released = nbformat.from_dict(quiz("a"))
    for preprocessor in (ClearSolutions(), ClearHiddenTests()):
        released, _ = preprocessor.preprocess(released, {})
    given = "\n".join(cell.source for cell in released.cells)
    assert "BEGIN" not in given and not re.search(r'^answer_\d+ = "', given, re.M)
    assert not any(why in given for item in FORMS["a"].values() for why in item.reasons.values())

    notebook = quiz("a")
    cells = {cell["id"]: cell for cell in notebook["cells"]}
    cells["answer_3"]["source"] = 'answer_3 = "d"'
    cells["answer_5"]["source"] = "raise NotImplementedError()"
    failed = validate(notebook)
    assert [re.search(r"assert (\w+)", source).group(1) for source in failed] == ["answer_3", "answer_5"]
