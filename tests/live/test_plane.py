"""Sentences in a plane: principal components, and a new sentence lands where Python puts it."""

from __future__ import annotations

import re

import numpy
import pytest

from seqcourse import zoo
from seqcourse.errors import CourseError
from seqcourse.live import plane
from seqcourse.live.plane import HEIGHT, WIDTH, last_states

from .conftest import EXAMPLES, LABEL, PLANE, ask, load


def places(drawn: str) -> numpy.ndarray:
    """The dots of a drawing, (N, 2); the last one is the reader's."""
    dots = re.findall(r'cx="([-\d.]+)" cy="([-\d.]+)"', drawn)
    dots += re.findall(r"translate\(([-\d.]+) ([-\d.]+)\)", drawn)
    return numpy.array(dots, float)


@pytest.fixture
def drawn(monkeypatch):
    monkeypatch.setenv("SEQCOURSE_STATIC", "1")
    return lambda text: plane("en-es-fixed", LABEL, [text], PLANE)._repr_html_()


def test_the_dots_are_principal_components(drawn):
    dots = places(drawn(PLANE[1]))
    assert abs(dots[1] - dots[-1]).max() < 0.06  # a sentence that is there lands on itself
    assert (dots > 0).all() and (dots < [WIDTH, HEIGHT]).all()
    x = last_states(zoo.load("en-es-fixed"), PLANE).numpy()
    x = x - x.mean(0)
    values, vectors = numpy.linalg.eigh(x @ x.T)  # of the small matrix: another way to the same plane
    for k, column in enumerate((-1, -2)):
        wanted = vectors[:, column] * values[column] ** 0.5
        assert abs(numpy.corrcoef(wanted, dots[:-1, k])[0, 1]) > 0.9999


def test_too_few_sentences_are_refused():
    with pytest.raises(CourseError, match="at least three"):
        plane("en-es-fixed", LABEL, EXAMPLES, PLANE[:2])


@pytest.mark.browser
def test_a_new_sentence_lands_where_python_puts_it(page, drawn):
    load(page, "en-es-fixed")
    for text in ("mary loves the house.", "we eat", PLANE[0]):
        said = ask(page, "plane", text)
        assert said.startswith("Nearest in the plane: ")
        shown = page.locator("#plane .sq-own").get_attribute("transform")
        assert abs(places(shown)[-1] - places(drawn(text))[-1]).max() < 1
        assert page.locator("#plane .sq-own text").text_content() == text
    assert PLANE[0] in said
