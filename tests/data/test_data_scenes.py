"""Scenes: what they show is what they say, whoever composes them, and no split leaks into another."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter
from functools import cache
from itertools import combinations, permutations

import numpy
import pytest

from seqcourse import data
from seqcourse.data import geometry, grammar, pictures, scenes
from seqcourse.data.grammar import read_caption
from seqcourse.errors import CourseError


@cache
def many() -> dict[str, list]:
    """Scenes of every split; drawn when the first test asks, as drawing takes a second or two."""
    return {split: data.load_scenes(split, 200) for split in scenes.SCENE_SPLITS}


def everything() -> list:
    return [scene for found in many().values() for scene in found]


def test_the_same_number_makes_the_same_scene_in_another_process():
    code = (
        "import hashlib; from seqcourse.data import compose; s = [compose(n, 'test') for n in (7, 3)];"
        "print(hashlib.sha256(s[1].image.tobytes()).hexdigest(), s[1].caption, s[1].things)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = data.compose(3, "test")
    digest = hashlib.sha256(ours.image.tobytes()).hexdigest()
    assert told.stdout.strip() == f"{digest} {ours.caption} {ours.things}"


def test_numbers_and_splits_make_different_scenes():
    images = {scene.image.tobytes() for scene in everything()}
    assert len(images) == len(everything())
    later = data.load_scenes("train", 2, start=10)
    assert [scene.number for scene in later] == [10, 11]
    assert later[0].caption == many()["train"][10].caption


@pytest.mark.parametrize("size", [32, 48, 64, 128])
def test_every_size_holds_every_scene(size):
    for number in range(60):
        scene = data.compose(number, "unseen", size)
        assert scene.image.shape == (size, size, 3) and scene.image.dtype == numpy.uint8
        for thing in scene.things:
            x0, y0, x1, y1 = thing.box
            assert 0 <= x0 < x1 <= size and 0 <= y0 < y1 <= size


def test_one_to_four_things_overlap_little_and_vary_in_size():
    counts = Counter(len(scene.things) for scene in everything())
    assert set(counts) == {1, 2, 3, 4}
    sides = []
    for scene in everything():
        boxes = [thing.box for thing in scene.things]
        assert all(geometry.overlap(a, b) <= 0.05 for a, b in combinations(boxes, 2))
        sides += [max(x1 - x0, y1 - y0) for x0, y0, x1, y1 in boxes]
    assert min(sides) < 20 and max(sides) > 45


def test_the_things_are_painted_in_their_boxes_and_nowhere_else(monkeypatch):
    """The same scene on a white ground differs from white inside the boxes only."""

    def white(rng, size):
        grounds_of(rng, size)  # draws as many random numbers
        return numpy.full((size, size, 3), 255, dtype=numpy.uint8)

    grounds_of = scenes.backgrounds.background
    monkeypatch.setattr(scenes.backgrounds, "background", white)
    for scene in data.load_scenes("train", 100):
        painted = (scene.image < 250).any(-1)
        outside = painted.copy()
        for x0, y0, x1, y1 in (thing.box for thing in scene.things):
            inside = painted[y0:y1, x0:x1]
            outside[y0:y1, x0:x1] = False
            if inside.mean() < 0.02:  # a white thing: nearly nothing of it differs
                assert "white" in scene.caption
                continue
            rows, columns = numpy.flatnonzero(inside.any(1)), numpy.flatnonzero(inside.any(0))
            # and they fill them: the box is tight, but for soft and white edges
            assert len(rows) >= 0.8 * (y1 - y0) - 1 and len(columns) >= 0.8 * (x1 - x0) - 1
        assert not outside.any()


def test_captions_say_what_the_boxes_show():
    for scene in everything():
        shown = Counter((thing.name, thing.colour) for thing in scene.things)
        assert scene.caption == scene.references[0]
        assert len(set(scene.references)) == len(scene.references) == len(scene.references_es)
        for reference in scene.references:
            said = read_caption(reference)
            assert said.counts == shown
            if said.relation:
                (first, relation, second) = said.relation
                boxes = {(thing.name, thing.colour): thing.box for thing in scene.things}
                assert holds(boxes[first], relation, boxes[second])


def holds(first, relation, second):
    """By the middles alone, not by the rule that the composer uses."""
    (x, y), (to_x, to_y) = (((b[0] + b[2]) / 2, (b[1] + b[3]) / 2) for b in (first, second))
    gap = max(first[0], second[0]) - min(first[2], second[2])
    return {
        "left of": to_x - x > 2 * abs(to_y - y),
        "right of": x - to_x > 2 * abs(to_y - y),
        "above": to_y - y > 2 * abs(to_x - x),
        "below": y - to_y > 2 * abs(to_x - x),
        "next to": abs(to_x - x) > 2 * abs(to_y - y) and 0 <= gap <= 4,
    }[relation]


def test_every_relation_and_count_is_met():
    said = [read_caption(scene.caption) for scene in many()["train"]]
    assert {one.relation[1] for one in said if one.relation} == set(grammar.RELATIONS)
    assert {n for one in said for n in one.counts.values()} == {1, 2, 3, 4}
    assert {colour for one in said for _, colour in one.counts} == {None, *grammar.COLOURS}


def test_a_far_pair_is_not_next_to_and_a_slanting_one_has_no_relation():
    two = [scene for scene in everything() if len(scene.things) == 2 and len(scene.references) in (2, 4)]
    seen = Counter()
    for scene in two:
        if len({(thing.name, thing.colour) for thing in scene.things}) < 2:
            continue
        boxes = [thing.box for thing in scene.things]
        found = geometry.relations(*boxes, 64)
        seen[len(found)] += 1
        assert ("next to" in found) == any(" next to " in text for text in scene.references)
        assert bool(found) == (" and " not in scene.caption)
        if "next to" not in found and found in (("left of",), ("right of",)):
            assert geometry.gaps(*boxes)[0] >= 7  # an eighth of the picture, or nearly
    assert min(seen[n] for n in (0, 1, 2)) > 20


def names_of(scene):
    return {thing.name for thing in scene.things}


def pairs_of(scene):
    return set(combinations(sorted(names_of(scene)), 2))


def test_pairs_of_test_and_valid_are_never_shown_elsewhere():
    shown = {split: set().union(*map(pairs_of, found)) for split, found in many().items()}
    for split in ("valid", "test"):
        own = {pair for pair in shown[split] if data.scenes.pair_split(*pair) == split}
        for scene in many()[split]:
            assert pairs_of(scene) & own, "every scene should hold a pair of its own"
        for other in {"train", "valid", "test"} - {split}:
            assert not own & shown[other]
    assert len(shown["test"]) > 100
    # but every single thing of the test is learned
    assert set().union(*map(names_of, many()["test"])) <= set(pictures.names("train"))


def test_unseen_things_are_unseen():
    unseen = set(pictures.names("unseen"))
    assert len(unseen) >= 5 and not unseen & set(pictures.names("train"))
    assert all(names_of(scene) & unseen for scene in many()["unseen"])
    for split in ("train", "valid", "test"):
        assert not any(names_of(scene) & unseen for scene in many()[split])


def test_pair_split_is_symmetric_and_keeps_about_a_tenth():
    everything = list(combinations(pictures.names("train"), 2))
    splits = Counter(scenes.pair_split(*pair) for pair in everything)
    assert 0.07 < splits["test"] / len(everything) < 0.13
    assert 0.03 < splits["valid"] / len(everything) < 0.07
    assert all(scenes.pair_split(a, b) == scenes.pair_split(b, a) for a, b in everything)
    assert scenes.pair_split("apple", "apple") == "train"


def test_a_wrong_number_split_or_size_is_a_sentence():
    with pytest.raises(CourseError, match="expected one of 'train', 'valid', 'test', 'unseen'"):
        data.compose(0, "dev")
    with pytest.raises(CourseError, match="0, 1, 2, ..., not -1"):
        data.compose(-1)
    with pytest.raises(CourseError, match="32 pixels a side or more, not 16"):
        data.compose(0, size=16)


def test_questions_are_answered_by_the_things():
    seen = Counter()
    for scene in everything():
        counts = Counter(thing.name for thing in scene.things)
        colours = {thing.name: thing.colour for thing in scene.things}
        asked_of = data.questions(scene)
        assert asked_of == data.questions(scene)
        for question in asked_of:
            seen[question.kind, question.answer] += 1
            words = question.text.split()
            assert words[-1] == "?" and question.text.startswith(question.kind.split(" is ")[0])
            if question.kind == "how many":
                plural = " ".join(words[2:-3])
                (name,) = {kind.name for kind in pictures.kinds() if kind.plural == plural}
                assert grammar.NUMBERS.index(question.answer) == counts[name]
            elif question.kind == "what colour":
                name = " ".join(words[4:-1])
                named = {kind.name for kind in pictures.kinds() if name in (kind.name, kind.plural)}
                assert {colours[n] for n in named if n in colours} == {question.answer}
            else:
                assert question.answer in counts
    kinds = {kind for kind, _ in seen}
    assert kinds == {"how many", "what colour", "what is where"}
    assert {answer for kind, answer in seen if kind == "how many"} == set(grammar.NUMBERS)
    assert {answer for kind, answer in seen if kind == "what colour"} == set(grammar.COLOURS)


def made(*things):
    image = numpy.zeros((64, 64, 3), numpy.uint8)
    things = tuple(data.Thing(name, name, colour, box) for name, colour, box in things)
    return data.Scene(image, things, "", "", (), 0)


def test_where_is_asked_only_where_one_thing_is_there():
    left, right = (0, 20, 10, 30), (40, 20, 50, 30)
    scene = made(("tiger", None, left), ("dog", None, right))
    where = {q.text: q.answer for q in data.questions(scene) if q.kind == "what is where"}
    assert where == {"what is right of the tiger ?": "dog", "what is left of the dog ?": "tiger"}
    second = ("cow", None, (56, 20, 64, 30))
    scene = made(("tiger", None, left), ("dog", None, right), second)
    texts = [q.text for q in data.questions(scene)]
    assert "what is right of the tiger ?" not in texts  # a dog and a cow are
    assert "what is right of the dog ?" in texts
    scene = made(("apple", "red", left), ("apple", "green", right))
    told = {q.text: q.answer for q in data.questions(scene)}
    assert told["what is left of the green apple ?"] == "apple"
    assert told["how many apples are there ?"] == "two"
    assert not any(q.kind == "what colour" for q in data.questions(scene))
    scene = made(("dog", None, left), ("dog", None, right))  # which dog?
    assert not any(q.kind == "what is where" for q in data.questions(scene))


def test_all_orders_of_three_groups_are_right():
    scene = next(s for s in everything() if s.caption.count(" and ") == 2)
    parts = scene.caption.split(" and ")
    assert set(scene.references) == {" and ".join(order) for order in permutations(parts)}
