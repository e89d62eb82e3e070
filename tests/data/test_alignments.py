"""The aligned sentence pairs: the right sentences, sound links, and a merge as the guideline says."""

from __future__ import annotations

import hashlib
import json
import math
import shutil

import pytest

from seqcourse import data
from seqcourse.data import alignments
from seqcourse.data.pairs import sentence_key
from seqcourse.data.readers import FILES, read_rows
from seqcourse.data.text import count_words
from seqcourse.errors import CourseError

FOLDER = FILES / "alignments-en-es"
PASSES = ("pass_a.jsonl", "pass_b.jsonl")


def lines(name):
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def selection():
    short = [
        pair
        for pair in data.load_pairs("en-es", "test")
        if 5 <= count_words(data.tokenize(pair.source)) <= 10
    ]
    return sorted(short, key=lambda pair: hashlib.sha256(pair.source.encode()).hexdigest())[:120]


@pytest.fixture
def copy(tmp_path, monkeypatch):
    folder = tmp_path / FOLDER.name
    shutil.copytree(FOLDER, folder)
    monkeypatch.setattr(alignments, "FILES", tmp_path)
    return folder


def test_the_pairs_are_those_that_the_guideline_selects_tokenised():
    pairs = data.load_alignments("en-es")
    assert len(pairs) == 120
    for aligned, chosen in zip(pairs, selection(), strict=True):
        assert list(aligned.source_tokens) == data.tokenize(chosen.source)
        assert list(aligned.target_tokens) == data.tokenize(chosen.target)


def test_no_english_sentence_is_in_train_or_valid():
    elsewhere = {
        sentence_key(data.tokenize(pair.source))
        for split in ("train", "valid")
        for pair in data.load_pairs("en-es", split)
    }
    aligned = {sentence_key(pair.source_tokens) for pair in data.load_alignments()}
    assert len(aligned) == 120
    assert not aligned & elsewhere


def test_links_lie_within_the_sentences_and_sure_ones_are_possible():
    for pair in data.load_alignments():
        assert pair.sure and pair.sure <= pair.possible
        for i, j in pair.possible:
            assert 0 <= i < len(pair.source_tokens)
            assert 0 <= j < len(pair.target_tokens)


def test_the_merge_is_what_the_guideline_says():
    # from the files themselves, without the loader's own reading
    passes = [lines(name) for name in PASSES]
    for pair, *rows in zip(data.load_alignments(), *passes, strict=True):
        sure = [{tuple(link) for link in row["sure"]} for row in rows]
        every = [{tuple(link) for link in row["sure"] + row["possible"]} for row in rows]
        assert pair.sure == sure[0] & sure[1]
        assert pair.possible == every[0] | every[1]


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_holds_every_link_once_and_links_full_stops(name):
    for row in lines(name):
        links = [tuple(link) for link in row["sure"] + row["possible"]]
        assert len(links) == len(set(links))
        for end in ".?":
            if row["source"][-1] == row["target"][-1] == end:
                assert [len(row["source"]) - 1, len(row["target"]) - 1] in row["sure"]


def test_the_two_passes_are_not_the_same():
    assert lines(PASSES[0]) != lines(PASSES[1])
    assert 0.7 < data.agreement().f1 < 1


def made_up(sure, possible=(), width=2, height=2):
    tokens = tuple("abcdef")
    return data.AlignedPair(
        tokens[:width], tokens[:height], frozenset(sure), frozenset(sure) | frozenset(possible)
    )


def test_merging_three_versions():
    merged = alignments.merge_passes(
        [
            made_up([(0, 0), (1, 1)]),
            made_up([(0, 0)], [(1, 1), (1, 0)]),
            made_up([(0, 0), (1, 1)], [(0, 1)]),
        ]
    )
    assert merged.sure == {(0, 0)}
    assert merged.possible == {(0, 0), (1, 1), (1, 0), (0, 1)}


def test_agreement_counted_by_hand():
    # cells 00 01 10 11: first sure, possible, sure, none; second sure, sure, none, none
    first = [made_up([(0, 0), (1, 0)], [(0, 1)])]
    second = [made_up([(0, 0), (0, 1)])]
    found = alignments.compare_passes(first, second)
    assert found.f1 == pytest.approx(2 * 2 / (3 + 2))
    assert found.sure_f1 == pytest.approx(2 * 1 / (2 + 2))
    assert found.same_label == pytest.approx(1 / 2)
    observed, chance = 2 / 4, (2 * 2 + 1 * 0 + 1 * 2) / 16
    assert found.kappa == pytest.approx((observed - chance) / (1 - chance))
    assert (found.links, found.sure) == ((3, 2), (2, 2))
    assert "F1 0.800" in str(found)


def test_agreement_with_oneself_is_full_and_with_nothing_is_none():
    pairs = data.load_alignments()
    same = alignments.compare_passes(pairs, pairs)
    assert (same.f1, same.sure_f1, same.same_label) == (1, 1, 1)
    assert same.kappa == pytest.approx(1)
    bare = [made_up([], [], len(p.source_tokens), len(p.target_tokens)) for p in [made_up([(0, 0)])]]
    nothing = alignments.compare_passes([made_up([(0, 0)])], bare)
    assert nothing.f1 == 0
    assert math.isnan(nothing.same_label)


def test_agreement_is_symmetric():
    first, second = (alignments.read_pass(FOLDER / name) for name in PASSES)
    one, other = (
        alignments.compare_passes(first, second),
        alignments.compare_passes(second, first),
    )
    assert one.kappa == pytest.approx(other.kappa)
    assert (one.f1, one.sure_f1, one.same_label) == (other.f1, other.sure_f1, other.same_label)


def test_every_sentence_is_credited_and_its_row_stands_in_the_cut():
    cut = {tuple(row) for row in read_rows(FILES / "tatoeba-en-es" / "test.tsv.gz", 6, "")}
    credits = list(read_rows(FOLDER / "sentences.tsv", 7, ""))
    assert [row[0] for row in credits] == [str(k) for k in range(120)]
    for (_, *row), pair in zip(credits, data.load_alignments(), strict=True):
        assert tuple(row) in cut
        assert tuple(data.tokenize(row[0])) == pair.source_tokens
        assert tuple(data.tokenize(row[1])) == pair.target_tokens
    words = (FOLDER / "ATTRIBUTION").read_text(encoding="utf-8")
    assert "CC BY 2.0 FR" in words and "CC BY 4.0" in words


def test_the_note_tells_the_files_and_counts_as_they_are():
    note = json.loads((FOLDER / "source.json").read_text(encoding="utf-8"))
    assert set(note["files"]) == {"sentences.tsv", "GUIDELINE.md", *PASSES}
    for name, checksum in note["files"].items():
        assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == checksum, name
    merged = data.load_alignments()
    assert note["counts"]["merged"] == {
        "pairs": len(merged),
        "sure": sum(len(pair.sure) for pair in merged),
        "possible, sure ones included": sum(len(pair.possible) for pair in merged),
    }
    found = data.agreement()
    for name, value in note["agreement"].items():
        assert getattr(found, name) == pytest.approx(value, abs=5e-4), name


def test_unknown_languages_are_answered_with_the_known_ones():
    for call in (data.load_alignments, data.agreement):
        with pytest.raises(CourseError, match="'en-fr'.*'en-es'"):
            call("en-fr")


def test_one_pass_is_not_enough(copy):
    (copy / PASSES[1]).unlink()
    with pytest.raises(CourseError, match="at least two passes.*found pass_a.jsonl"):
        data.load_alignments()
    with pytest.raises(CourseError, match="at least two passes"):
        data.agreement()


def change(path, number, **changes):
    rows = path.read_text(encoding="utf-8").splitlines()
    rows[number] = json.dumps(json.loads(rows[number]) | changes)
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sure": [[0, 99]]}, "counted from 0, but found .0, 99."),
        ({"possible": [[-1, 0]]}, "possible links between"),
        ({"sure": [[0, 0], [0, 0]], "possible": []}, "every link once"),
        ({"sure": [[0, 0]], "possible": [[0, 0]]}, "every link once"),
        ({"sure": [[0, 0, 0]]}, "as .source, target., but found .0, 0, 0."),
        ({"sure": [[0, True]]}, "as .source, target."),
        ({"sure": "0-0"}, "list of links"),
        ({"id": 7}, "expected the pair with id 2, but found id 7"),
        ({"target": []}, "list of tokens as target"),
        ({"remark": "?"}, "id, source, target, sure, possible"),
    ],
)
def test_a_malformed_line_is_named(copy, changes, words):
    change(copy / PASSES[1], 2, **changes)
    with pytest.raises(CourseError, match=f"pass_b.jsonl, line 3: .*{words}"):
        data.load_alignments()


def test_other_malformed_files_are_named(copy):
    path = copy / PASSES[0]
    path.write_text("{\n", encoding="utf-8")
    with pytest.raises(CourseError, match="pass_a.jsonl, line 1: expected a JSON object"):
        data.load_alignments()
    path.write_text("", encoding="utf-8")
    with pytest.raises(CourseError, match="it is empty"):
        data.load_alignments()


def test_passes_over_different_sentences_are_refused(copy):
    path = copy / PASSES[1]
    rows = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(rows[:-1]) + "\n", encoding="utf-8")
    with pytest.raises(CourseError, match="expected the 120 pairs of pass_a.jsonl, but found 119"):
        data.load_alignments()
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    tokens = json.loads(rows[4])["source"]
    change(path, 4, source=["we", *tokens[1:]])
    with pytest.raises(CourseError, match="pass_b.jsonl, line 5: expected the tokens of pass_a"):
        data.load_alignments()
