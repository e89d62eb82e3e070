r"""Words that nobody has pronounced, read aloud by a committee: what a student learns from.

Several readers of different kinds together read better than each of them (:mod:`.reranking`), but all
of them have to be run. One model can learn what they would say, from words for which no answer is known:

.. math:: L = -\sum_{(x, y) \in \mathcal D} \log P_\theta(y \mid x)
          -\sum_{x \in \mathcal U} \log P_\theta(\hat y(x) \mid x)

with :math:`\mathcal D` the dictionary, :math:`\mathcal U` words that do not stand in it, and
:math:`\hat y(x)` the committee's reading of x: distillation of whole outputs (Kim and Rush 2016).
Sun et al. (2019) do it for letters and phonemes with the committee's probabilities of every phoneme,
which joint n-grams do not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from seqcourse.data.readers import read_rows, write_text
from seqcourse.errors import CourseError
from seqcourse.train.progress import progress
from seqcourse.zoo.reranking import Reranker

AT_ONCE = 512  # words read together, and kept together when a run is killed
LABELS = Path(__file__).parent / "labels"

Labelled = list[tuple[str, str]]
"""Words and how they are read: phonemes with spaces between."""


def label(words: Sequence[str], teacher: Reranker, path: Path) -> None:
    """Let a committee read words aloud, and keep what it says in a packed file, word TAB phonemes.

    What an interrupted run has read already, in a file ending in .part beside it, is not read again.

    Args:
        words: what to read.
        teacher: who reads.
        path: where to keep it, ending in .gz.

    Raises:
        CourseError: if what an interrupted run has left belongs to other words.
    """
    part = path.with_suffix(".part")
    known = _whole_rows(part)
    _check(known, words[: len(known)], part)
    part.parent.mkdir(parents=True, exist_ok=True)
    part.write_text(_lines(known), encoding="utf-8")
    with part.open("a", encoding="utf-8") as stream:
        for at in progress(range(len(known), len(words), AT_ONCE), "words read aloud"):
            some = list(words[at : at + AT_ONCE])
            read = [(w, t.text) for w, t in zip(some, teacher.translate(some), strict=True)]
            stream.write(_lines(read))
            stream.flush()
            known += read
    write_text(path, _lines(known))
    part.unlink()


def load_labels(path: Path, words: Sequence[str]) -> Labelled:
    """What :func:`label` has kept of these words.

    Raises:
        CourseError: if it is missing or damaged, or belongs to other words.
    """
    how = f"Make it with: seqcourse train {path.name.partition('.')[0]}"
    labelled = [(word, said) for word, said in read_rows(path, 2, "word, phonemes", how)]
    _check(labelled, words, path)
    return labelled


def _lines(labelled: Labelled) -> str:
    return "".join(f"{word}\t{said}\n" for word, said in labelled)


def _whole_rows(path: Path) -> Labelled:
    """The complete lines of a file that a killed run may have left with half a line at its end."""
    if not path.is_file():
        return []
    whole, end, _ = path.read_text(encoding="utf-8").rpartition("\n")
    rows = [line.split("\t") for line in whole.split("\n")] if end else []
    return [(word, said) for word, said in rows]


def _check(labelled: Labelled, words: Sequence[str], path: Path) -> None:
    if [word for word, _ in labelled] != list(words):
        raise CourseError(
            f"{path} holds readings of other words than are to be learned from. Delete it to have them "
            f"read again."
        )
