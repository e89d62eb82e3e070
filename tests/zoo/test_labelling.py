"""Words read aloud by a committee: kept, gone on with after a kill, and used to train a student."""

import gzip
from dataclasses import replace

import pytest
import torch

from seqcourse import CourseError, data, zoo
from seqcourse.zoo import labelling
from seqcourse.zoo.tasks import task_of


class Committee:
    """Says the letters of a word; counts what it is asked, and may be stopped."""

    def __init__(self, stop_after=None):
        self.asked, self.stop_after = [], stop_after

    def translate(self, texts):
        if self.stop_after is not None and len(self.asked) >= self.stop_after:
            raise KeyboardInterrupt
        self.asked += texts
        return [zoo.Translation([], [], " ".join(text.upper()), 0.0, None, []) for text in texts]


WORDS = ["aab", "abb", "bab", "bba", "caa"]


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    monkeypatch.setattr(labelling, "AT_ONCE", 2)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "labels" / "someone.tsv.gz"


def test_what_the_committee_says_is_kept(path):
    labelling.label(WORDS, Committee(), path)
    assert labelling.load_labels(path, WORDS) == [(w, " ".join(w.upper())) for w in WORDS]
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_killed_run_goes_on_where_it_stopped(path):
    with pytest.raises(KeyboardInterrupt):
        labelling.label(WORDS, Committee(stop_after=2), path)
    (half,) = path.parent.iterdir()
    half.write_text(half.read_text(encoding="utf-8") + "bab\tB A", encoding="utf-8")  # cut off in a line
    later = Committee()
    labelling.label(WORDS, later, path)
    assert later.asked == WORDS[2:]
    assert labelling.load_labels(path, WORDS) == [(w, " ".join(w.upper())) for w in WORDS]


def test_readings_of_other_words_are_refused_and_stay(path):
    labelling.label(WORDS, Committee(), path)
    before = path.read_bytes()
    for other in (WORDS[:-1], [*WORDS, "cab"], ["aaa", *WORDS[1:]]):
        with pytest.raises(CourseError, match="holds readings of other words"):
            labelling.load_labels(path, other)
    assert path.read_bytes() == before


def test_what_a_killed_run_has_left_of_other_words_is_refused_and_stays(path):
    with pytest.raises(KeyboardInterrupt):
        labelling.label(WORDS, Committee(stop_after=2), path)
    with pytest.raises(CourseError, match="holds readings of other words"):
        labelling.label(WORDS[1:], Committee(), path)
    assert next(path.parent.iterdir()).read_text(encoding="utf-8").startswith("aab\tA A B\n")


def test_damaged_labels_are_a_sentence(tmp_path):
    path = tmp_path / "someone.tsv.gz"
    with pytest.raises(CourseError, match="Make it with: seqcourse train someone"):
        labelling.load_labels(path, WORDS)
    path.write_bytes(gzip.compress(b"aab\tA A B\nabb\n"))
    with pytest.raises(CourseError, match="line 2: expected 2 columns"):
        labelling.load_labels(path, WORDS)


def test_who_has_no_teacher_has_no_labels():
    with pytest.raises(CourseError, match="g2p-attention has no teacher"):
        zoo.labels("g2p-attention")


def test_the_student_learns_from_both_and_is_held_out_on_the_dictionary_alone(tmp_path, monkeypatch):
    """The committee is asked once; a second training finds what it said."""
    committee = Committee()
    monkeypatch.setattr(zoo, "reranker", lambda name: committee)
    monkeypatch.setattr(data, "load_unlisted", lambda: WORDS)
    monkeypatch.setattr("seqcourse.zoo.tasks.student.LABELS", tmp_path)
    listed = task_of(replace(zoo.recipe("g2p-student"), task="pronunciation"))
    for _ in range(2):
        student = task_of(zoo.recipe("g2p-student"))
        student.gather()
        assert committee.asked == WORDS
    assert student.token_pairs("train") == listed.token_pairs("train") + [
        (list(w), list(w.upper())) for w in WORDS
    ]
    for split in ("valid", "test"):
        assert student.token_pairs(split) == listed.token_pairs(split)


def test_the_student_begins_as_its_teacher():
    student = zoo.recipe("g2p-student")
    teacher = zoo.load(student.options["teacher"])
    task = task_of(student)
    source, target = task.vocabularies()
    assert (source, target) == (teacher.source, teacher.target)
    model = zoo.build_model(student, source, target)
    task.prepare(model, source, target)
    wanted = teacher.model.state_dict()
    for name, weights in model.state_dict().items():
        torch.testing.assert_close(weights, wanted[name].to(weights.device))


def test_the_stored_labels_are_what_the_committee_says():
    """Every 3000th of them, read now. (Words read together are padded, so rounding may turn a tie.)"""
    labels = zoo.labels("g2p-student")
    assert [word for word, _ in labels] == data.load_unlisted()
    sample = labels[::3000]
    found = zoo.reranker("g2p-transformer").translate([word for word, _ in sample])
    same = sum(t.text == said for t, (_, said) in zip(found, sample, strict=True))
    assert same >= len(sample) - 2
