"""CIDEr and the match of captions by hand, their properties, and words with their boxes."""

from __future__ import annotations

import math

import pytest

from seqcourse import data
from seqcourse.data import grammar, scenes
from seqcourse.data.grammar import read_caption
from seqcourse.metrics import caption_match, cider

OURS = ["a dog sits on the mat", "the cat runs"]
THEIRS = [
    ["a red dog sits on a mat", "the dog sits on the mat"],
    ["a cat runs on the red mat", "the red cat"],
]


def test_cider_by_hand():
    # two pictures, one-word captions: only n = 1 has n-grams, so the best score is 10 / 4.
    result = cider(["dog", "cat"], ["dog", "bird"])
    assert result.each == (pytest.approx(2.5), 0.0)
    assert result.score == pytest.approx(1.25)
    # "dog dog" against "dog": both vectors point the same way, so cosine 1; the minimum of the
    # counts halves it (1 * 1 / (2 * 1)), and a word too many costs exp(-1 / 72)
    assert cider(["dog dog", "cat"], ["dog", "cat"], plain=True).each[0] == pytest.approx(2.5)
    expected = 2.5 * 0.5 * math.exp(-1 / 72)
    assert cider(["dog dog", "cat"], ["dog", "cat"]).each[0] == pytest.approx(expected)


def test_cider_weighs_rare_words_more():
    # "a" stands in both pictures: weight log(2 / 2) = 0. "a dog": unigrams 0 and log 2, a bigram of
    # log 2. Against "a cat": no unigram with weight in common, no bigram. Against "the dog": dog only,
    # and "the" has weight log 2: cosine 1 / sqrt(2) for n = 1, nothing for n = 2.
    references = ["a dog", "a cat"]
    assert cider(["a cat", "a cat"], references).each == (0.0, pytest.approx(5.0))
    assert cider(["the dog", "a cat"], references).each[0] == pytest.approx(2.5 / math.sqrt(2))


def test_cider_is_the_published_one():
    """Figures of the scorer that the COCO challenge published, for the same words (sigma 6)."""
    result = cider(OURS, THEIRS)
    assert result.each == pytest.approx((5.97001721, 2.20132448))
    assert result.score == pytest.approx(4.0856708452198705)
    assert str(result) == "CIDEr-D = 4.086 (of 10; 2 pictures)"


def test_cider_knows_no_case_no_punctuation_and_no_order_of_references():
    loud = [text.upper() + "!" for text in OURS]
    assert cider(loud, [texts[::-1] for texts in THEIRS]).each == pytest.approx(cider(OURS, THEIRS).each)


def test_cider_is_ten_for_the_reference_itself():
    texts = [scene.caption for scene in data.load_scenes("train", 40) if " and " in scene.caption]
    assert cider(texts, texts).score == pytest.approx(10)
    assert cider(texts, texts[1:] + texts[:1]).score < 4


def test_cider_refuses_what_it_cannot_weigh():
    with pytest.raises(ValueError, match="at least two"):
        cider(["a dog"], ["a dog"])
    with pytest.raises(ValueError, match="picture 1 has no reference"):
        cider(["a dog", "a cat"], [["a dog"], []])
    with pytest.raises(ValueError, match="2 hypotheses, 1 references"):
        cider(["a dog", "a cat"], ["a dog"])


def match(*pairs):
    outputs, right = zip(*pairs, strict=True)
    return caption_match(
        [read_caption(text) for text in outputs],
        [[read_caption(text) for text in texts] for texts in right],
    )


def test_what_is_right_is_right_from_either_side():
    right = ["a tiger left of a red apple", "a red apple right of a tiger"]
    for text in right:
        found = match((text, right[:1]))
        assert (found.objects, found.counts, found.relations, found.whole) == (1, 1, 1, 1)
    near = ["a tiger left of a dog", "a tiger next to a dog"]
    assert match(("a dog next to a tiger", near)).whole == 1
    assert match(("a dog right of a tiger", near)).relations == 1


def test_the_match_by_hand():
    right = ["a tiger left of a red apple"]
    cases = [
        ("a tiger left of a red apple", right),  # all right
        ("a red apple left of a tiger", right),  # the wrong way round
        ("a tiger left of a green apple", right),  # colour
        ("a tiger and a red apple", right),  # no relation
        ("a dog left of a red apple", right),  # one thing
        ("tiger apple red", right),  # no caption
        ("three tigers and a dog", ["two tigers and a dog"]),  # a number
        ("a dog", ["a dog"]),
    ]
    found = match(*cases)
    assert found.pictures == 8 and found.related == 6
    # names: 2 for each of the first seven, 1 for the last; all but "tiger" of case 5, both of case 6
    assert found.object_words == pytest.approx((2 + 2 + 2 + 2 + 1 + 0 + 2 + 1) / 15)
    assert found.objects == pytest.approx(6 / 8)
    assert found.colours == pytest.approx(5 / 8)
    assert found.counts == pytest.approx(5 / 8)
    assert found.relations == pytest.approx(1 / 6)
    assert found.whole == pytest.approx(2 / 8)
    assert found.readable == pytest.approx(7 / 8)


def test_saying_a_relation_where_there_is_none_is_not_whole():
    assert match(("a dog left of a cow", ["a dog and a cow"])).whole == 0
    assert math.isnan(match(("a dog", ["a dog"])).relations)


def test_every_caption_of_a_scene_matches_it():
    for scene in data.load_scenes("test", 60):
        right = [read_caption(text) for text in scene.references]
        for said in right:
            found = caption_match([said], [right])
            assert found.whole == found.objects == found.counts == found.object_words == 1


def test_a_match_needs_right_captions():
    with pytest.raises(ValueError, match="picture 0 should have right captions"):
        caption_match([None], [[]])


def test_words_and_boxes_of_a_scene():
    for scene in data.load_scenes("unseen", 80):
        words = scene.caption.split()
        found = scenes.word_boxes(scene.caption, scene.things)
        assert sum(len(boxes) for _, boxes in found) == len(scene.things)
        last = {name.split()[-1] for k in grammar.kinds() for name in (k.name, k.plural)}
        assert all(words[place] in last for place, _ in found)
        assert {box for _, boxes in found for box in boxes} == {t.box for t in scene.things}


def test_a_name_that_is_not_there_has_no_box():
    scene = data.compose(3)
    thing = scene.things[0]
    caption = f"a soccer ball left of two {grammar.kinds()[0].plural}"
    places = [place for place, _ in scenes.word_boxes(caption, scene.things)]
    assert places == [2, 6]
    told = scenes.word_boxes("a unicorn", scene.things)
    assert told == [(1, ())]
    assert scenes.word_boxes(f"a {thing.name} a", scene.things)[0][1] == ()
    assert scenes.word_boxes("no caption", scene.things) == []


def test_two_things_of_one_name_are_told_apart_by_colour():
    things = [
        data.Thing("apple", "manzana", c, (n, 0, n + 5, 5)) for n, c in enumerate(("red", "green"))
    ]
    by_colour = scenes.word_boxes("a green apple left of a red apple", things)
    assert by_colour == [(2, ((1, 0, 6, 5),)), (7, ((0, 0, 5, 5),))]
    assert scenes.word_boxes("two apples", things) == [(1, ((0, 0, 5, 5), (1, 0, 6, 5)))]
