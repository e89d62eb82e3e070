"""Attention against known boundaries in time: does it look where the word is spoken?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy


@dataclass(frozen=True)
class SegmentScore:
    """How attention weights agree with where the words of an utterance lie.

    pointing: share of letters whose highest weight is on a state that overlaps the letter's word.
    inside: mean share of a letter's weight on such states.
    chance: mean share of states that overlap a letter's word: what even weights would give for both.
    distance: mean distance, in frames, from the middle of a word to where its letters look: the mean
        place of their weights.
    letters_forward: share of steps from one letter to the next, spaces left out, at which the highest
        weight does not go back.
    words_forward: share of steps from one word to the next at which the place its letters look at
        moves forward.
    letters: how many letters were judged, spaces not counted.
    """

    pointing: float
    inside: float
    chance: float
    distance: float
    letters_forward: float
    words_forward: float
    letters: int


def segment_score(
    weights: Sequence[numpy.ndarray],
    texts: Sequence[str],
    bounds: Sequence[Sequence[tuple[int, int]]],
    frames_per_state: int,
) -> SegmentScore:
    """Score attention over utterances whose words were written rightly.

    weights: for each utterance (letters, states), a row for each letter of its text.
    texts: the words, with one space between two of them.
    bounds: for each utterance and word its first frame, and the frame after its last one.
    frames_per_state: how many frames one state stands for.

    Raises ValueError where the lists do not fit, a text has another number of words than bounds, or no
    utterance is given.
    """
    if not len(weights) == len(texts) == len(bounds) or len(texts) == 0:
        raise ValueError(
            f"Expected weights, text and bounds of at least one utterance, but got {len(weights)}, "
            f"{len(texts)} and {len(bounds)}."
        )
    pointing, inside, chance, distance, letters, words_on = [], [], [], [], [], []
    for rows, text, spans in zip(weights, texts, bounds, strict=True):
        words = text.split()
        if len(words) != len(spans) or len(rows) != len(text):
            raise ValueError(
                f"{text!r} has {len(words)} words and {len(text)} letters and spaces, but there are "
                f"bounds of {len(spans)} words and weights of {len(rows)} letters."
            )
        first = numpy.arange(rows.shape[1]) * frames_per_state  # (states,)
        middle = first + frames_per_state / 2
        word_of = numpy.cumsum([letter == " " for letter in text])
        is_letter = numpy.array([letter != " " for letter in text])
        places = []
        for word, (begin, end) in enumerate(spans):
            mine = rows[is_letter & (word_of == word)]  # (letters of the word, states)
            overlap = (first < end) & (first + frames_per_state > begin)
            pointing.extend(overlap[mine.argmax(1)])
            inside.extend(mine[:, overlap].sum(1))
            chance.extend([overlap.mean()] * len(mine))
            places.append(float((mine @ middle / mine.sum(1)).mean()))
            distance.append(abs(places[-1] - (begin + end) / 2))
        peaks = rows[is_letter].argmax(1)
        letters.extend(peaks[1:] >= peaks[:-1])
        words_on.extend(numpy.diff(places) > 0)
    return SegmentScore(
        pointing=float(numpy.mean(pointing)),
        inside=float(numpy.mean(inside)),
        chance=float(numpy.mean(chance)),
        distance=float(numpy.mean(distance)),
        letters_forward=float(numpy.mean(letters)) if letters else 1.0,
        words_forward=float(numpy.mean(words_on)) if words_on else 1.0,
        letters=len(pointing),
    )
