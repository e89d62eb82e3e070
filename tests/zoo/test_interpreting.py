"""Which model is asked, and when one of its next best outputs is taken."""

import pytest

from seqcourse import CourseError, data, zoo


@pytest.fixture(scope="module")
def interpreter():
    return zoo.interpreter()


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("The weather is nice today.", "words"),
        ("I have been waiting for her here for ten minutes.", "words"),
        ("I have been waiting for her here for more than ten minutes.", "subwords"),
        ("The axolotl is nice today.", "subwords"),
    ],
)
def test_the_model_that_knows_the_sentence_is_asked(text, asked, interpreter):
    got = interpreter.translate([text], beam=4, n_best=3)
    wanted = getattr(interpreter, asked).translate([text], beam=4, n_best=3)
    assert got[0].n_best == wanted[0].n_best and len(got[0].n_best) == 3


def test_what_no_translation_contains_gives_way_to_what_clearly_most_contain(interpreter):
    """Buena mañana is said of a morning that is good."""
    (alone,) = interpreter.words.translate(["good morning"])
    (found,) = interpreter.translate(["good morning"], n_best=3)
    used = [other for _, other in data.find_phrase("en-es", "good morning")]
    assert not any(alone.text.rstrip(".") in other.lower() for other in used)
    assert all(found.text.rstrip(".") in other.lower() for other in used)
    assert len(found.n_best) == 3 and found.n_best[0] == (found.text, found.score)
    assert len(found.weights) == len(found.target)


def test_texts_of_several_sentences(interpreter):
    one, two = (t.text for t in interpreter.translate(["I sleep.", "The axolotl sleeps."]))
    assert interpreter.translate_text("I sleep. The axolotl sleeps.\n...\n\nI sleep.") == (
        f"{one} {two}\n...\n\n{one}"
    )
    with pytest.raises(CourseError, match="at least one word"):
        interpreter.translate_text("?!")


def test_phrases_are_found_by_their_words():
    found = data.find_phrase("en-es", "Good morning!")
    assert found == data.find_phrase("en-es", "good morning") != []
    assert all("good morning" in english.lower() for english, _ in found)
    assert data.find_phrase("en-fr", "good morning")
    for nothing in ("ood morning", "?!"):
        assert data.find_phrase("en-es", nothing) == []
