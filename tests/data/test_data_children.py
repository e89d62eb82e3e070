"""The children's books: parts, paragraphs, sentences, passages, hidden words."""

from __future__ import annotations

from collections import Counter

import pytest
import torch

from seqcourse import data
from seqcourse.data.masking import CLS, NOT_ASKED, SEP, join_pair
from seqcourse.errors import CourseError

BOOKS = ["alice", "bryant", "burgess", "edgeworth"]


def test_the_parts_make_up_the_books():
    whole = data.load_books()
    parts = [data.load_books(split) for split in ("train", "valid", "test")]
    assert list(whole) == BOOKS
    for name in BOOKS:
        assert "".join(part[name] for part in parts) == whole[name] == data.load_book(name)
        assert 0.89 < len(parts[0][name]) / len(whole[name]) < 0.93
        assert parts[1][name].startswith(data.paragraphs(parts[1][name])[0][:20])


def test_the_books_and_nothing_else():
    books = data.load_books()
    assert books["bryant"].startswith("TWO LITTLE RIDDLES IN RHYME\n\n There's a garden")
    assert books["burgess"].startswith("I\n\nBUSTER BEAR GOES FISHING\n\nBuster Bear yawned")
    assert books["edgeworth"].startswith("THE ORPHANS.\n\nNear the ruins of the castle")
    for name, text in books.items():
        if name != "alice":  # its own cut keeps its marks, so that its character model stays what it is
            assert "_" not in text and "  " not in text
        assert "gutenberg" not in text.lower() and "\n\n\n" not in text and text.endswith("\n")


def test_sentences_of_a_paragraph():
    told = '"Who is that?" she said. "It\'s the Rain!" The end.'
    assert data.sentences(told) == ['"Who is that?" she said.', '"It\'s the Rain!"', "The end."]
    assert " ".join(data.sentences(told)) == told
    assert data.sentences("") == []


def test_passages_are_held_out_by_place_and_drawn_by_seed():
    train = data.load_passages("train", each=10, seed=3)
    assert Counter(p.author for p in train) == dict.fromkeys(range(4), 10)
    assert train == data.load_passages("train", each=10, seed=3)
    assert train != data.load_passages("train", each=10, seed=4)
    assert all(len(p.text.split()) >= 20 for p in train)
    known = {p.text for p in data.load_passages("train")}
    assert not known & {p.text for s in ("valid", "test") for p in data.load_passages(s)}
    with pytest.raises(CourseError, match="99 passages of each author.* 'test' has 2[0-9] of"):
        data.load_passages("test", each=99)
    with pytest.raises(CourseError, match="one of train, valid, test, but it is 'dev'"):
        data.load_books("dev")


def test_labelled_batches_go_through_all_texts_in_another_order():
    texts, labels = [[5, 6, 7], [8], [9, 10], [11, 12]], [0, 1, 2, 3]
    batches = data.LabelledBatches(texts, labels, batch_size=3)
    orders = []
    for epoch in (0, 1, 2):
        batches.set_epoch(epoch)
        seen = []
        for batch in batches:
            assert batch.tokens.shape == (len(batch.labels), batch.lengths.max())
            for row, length, label in zip(batch.tokens, batch.lengths, batch.labels, strict=True):
                assert row[:length].tolist() == texts[label] and not row[length:].any()
                seen.append(int(label))
        assert sorted(seen) == labels and len(batches) == 2
        orders.append(seen)
    assert len({tuple(order) for order in orders}) > 1
    with pytest.raises(CourseError, match="2 texts, 1 labels"):
        data.LabelledBatches([[1], [2]], [0], 1)


def test_hidden_words_in_numbers():
    """Draws by hand: chosen or not, and the three things that become of a chosen word."""
    tokens = torch.tensor([[CLS, 7, 8, 9, 10, SEP, 0]])
    chosen = torch.tensor([[0.0, 0.1, 0.1, 0.1, 0.15, 0.0, 0.0]])
    what = torch.tensor([[0.0, 0.79, 0.85, 0.95, 0.0, 0.0, 0.0]])
    which = torch.full((1, 7), 0.999)
    hidden, targets = data.mask_words(tokens, torch.stack([chosen, what, which]), mask_id=4, size=20)
    assert hidden.tolist() == [[CLS, 4, 19, 9, 10, SEP, 0]]
    assert targets.tolist() == [[NOT_ASKED, 7, 8, 9, NOT_ASKED, NOT_ASKED, NOT_ASKED]]


def test_hidden_words_in_the_mean():
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randint(5, 50, (400, 100), generator=generator)
    draws = torch.rand(3, 400, 100, generator=generator)
    hidden, targets = data.mask_words(tokens, draws, mask_id=4, size=50)
    asked = targets != NOT_ASKED
    assert asked.double().mean().item() == pytest.approx(0.15, abs=0.005)
    assert (hidden == tokens)[~asked].all() and (targets == tokens)[asked].all()
    assert (hidden == 4)[asked].double().mean().item() == pytest.approx(0.8, abs=0.02)
    same = (hidden == tokens)[asked].double().mean().item()
    assert same == pytest.approx(0.1 + 0.1 / 45, abs=0.01)
    others = hidden[asked & (hidden != 4) & (hidden != tokens)]
    assert others.min() == 5 and others.max() == 49
    with pytest.raises(CourseError, match="three draws for each token"):
        data.mask_words(tokens, draws[:2], mask_id=4, size=50)


DOCUMENTS = [[[10, 11], [12], [13, 14, 15]], [[20], [21, 22]], [[30, 31, 32, 33, 34, 35], [36]]]


def test_pairs_true_and_false():
    batches = data.MaskedBatches(DOCUMENTS, batch_size=3, mask_id=4, size=40, longest=8, seed=1)
    seen: Counter[int] = Counter()
    for epoch in range(60):
        batches.set_epoch(epoch)
        for batch in batches:
            words = torch.where(batch.targets == NOT_ASKED, batch.tokens, batch.targets)
            rows = zip(words, batch.lengths, batch.segments, batch.follows, strict=True)
            for row, length, segment, follows in rows:
                ids, segment = row[:length].tolist(), segment[:length].tolist()
                end = ids.index(SEP)
                assert ids[0] == CLS and ids[-1] == SEP and ids.count(SEP) == 2 and length <= 8
                assert segment == [0] * (end + 1) + [1] * (len(ids) - end - 1)
                first, second = ids[1] // 10, ids[end + 1] // 10
                assert (first == second) == bool(follows)
                seen[int(follows)] += 1
    assert sum(seen.values()) == 60 * 4
    assert 80 < seen[0] < 160


def test_a_validation_set_asks_the_same_questions_again():
    fresh, fixed = (
        data.MaskedBatches(DOCUMENTS, 4, mask_id=4, size=40, seed=1, fresh=f) for f in (True, False)
    )
    for batches, same in ((fresh, False), (fixed, True)):
        (one,) = batches
        batches.set_epoch(5)
        (two,) = batches
        equal = one.tokens.shape == two.tokens.shape and torch.equal(one.tokens, two.tokens)
        assert equal == same
    with pytest.raises(CourseError, match="at least two documents"):
        data.MaskedBatches(DOCUMENTS[:1], 2, mask_id=4, size=40)


def test_the_longer_sentence_is_cut():
    assert join_pair([5, 6, 7, 8], [9], longest=6) == ([CLS, 5, 6, SEP, 9, SEP], 4)
    assert join_pair([5], [6, 7], longest=9) == ([CLS, 5, SEP, 6, 7, SEP], 3)


def test_sentences_beyond_the_cut():
    """No held-out English sentence is trained on, however it is spelt."""
    rest = data.load_pairs("en-es", "rest")
    held = {
        " ".join(data.tokenize(pair.source))
        for split in ("valid", "test", "long", "any")
        for pair in data.load_pairs("en-es", split)
    }
    assert len(rest) > 40_000 and len(data.load_pairs("en-es", "any")) == 1000
    assert not held & {" ".join(data.tokenize(pair.source)) for pair in rest}
    assert max(len(pair.source.split()) for pair in rest) > 30
    with pytest.raises(CourseError, match="There is no split 'rest'"):
        data.load_pairs("en-fr", "rest")
