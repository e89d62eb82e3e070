"""Error rates by edit distance, through jiwer: words, characters, phonemes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jiwer

from seqcourse.metrics.pairs import same_length, texts


@dataclass(frozen=True)
class ErrorRate:
    """How many edits turn the references into the outputs, per unit of reference.

    rate = (substitutions + deletions + insertions) / reference_length, as a fraction; it exceeds 1
    where many units are inserted.
    """

    rate: float
    substitutions: int
    deletions: int
    insertions: int
    reference_length: int

    def __str__(self) -> str:
        return (
            f"{self.rate:.1%} ({self.substitutions} substituted, {self.deletions} deleted, "
            f"{self.insertions} inserted of {self.reference_length})"
        )


@dataclass(frozen=True)
class PronunciationError:
    """How well words were pronounced.

    word_error: share of words whose output equals none of the accepted pronunciations (WER).
    words, wrong: how many words there were and how many of them were wrong.
    phonemes: phoneme edits against the closest accepted pronunciation; `phoneme_error` is its rate.
    """

    word_error: float
    words: int
    wrong: int
    phonemes: ErrorRate

    @property
    def phoneme_error(self) -> float:
        """The phoneme error rate (PER) as a fraction."""
        return self.phonemes.rate

    def __str__(self) -> str:
        return (
            f"word error {self.word_error:.1%} ({self.wrong} of {self.words}), "
            f"phoneme error {self.phonemes}"
        )


def word_error_rate(hypotheses: Sequence[str], references: Sequence[str]) -> ErrorRate:
    """WER of a corpus: edits between words (split at spaces), summed over all sentences.

    Case and punctuation count; normalise both sides first where they should not. Raises ValueError
    where the lists do not fit, or the references hold no word.
    """
    texts(hypotheses=hypotheses, references=references)
    _some(sum(len(text.split()) for text in references), "words")
    return _rate(jiwer.process_words(list(references), list(hypotheses)))


def character_error_rate(hypotheses: Sequence[str], references: Sequence[str]) -> ErrorRate:
    """CER of a corpus: edits between characters (inner spaces count), summed over all sentences.

    Raises ValueError where the lists do not fit, or the references hold no character.
    """
    texts(hypotheses=hypotheses, references=references)
    _some(sum(len(text.strip()) for text in references), "characters")
    return _rate(jiwer.process_characters(list(references), list(hypotheses)))


def phoneme_error_rate(
    hypotheses: Sequence[Sequence[str]], accepted: Sequence[Sequence[Sequence[str]]]
) -> ErrorRate:
    """PER of a corpus: edits between phonemes, each word against its closest pronunciation.

    hypotheses: one list of phonemes per word, such as ["T", "AH", "M", "EY", "T", "OW"].
    accepted: for every word its accepted pronunciations, one or more. The closest is the one that
        needs the fewest edits; among equals the first.

    Raises ValueError where the lists do not fit, a word has no pronunciation, or a pronunciation is
    empty or a string instead of a list of phonemes.
    """
    return pronunciation_error(hypotheses, accepted).phonemes


def pronunciation_error(
    hypotheses: Sequence[Sequence[str]], accepted: Sequence[Sequence[Sequence[str]]]
) -> PronunciationError:
    """Word and phoneme error of letter-to-phoneme conversion; any accepted pronunciation is right.

    Arguments and errors as in `phoneme_error_rate`.
    """
    same_length(hypotheses=hypotheses, accepted=accepted)
    closest, wrong = [], 0
    for word, (phones, pronunciations) in enumerate(zip(hypotheses, accepted, strict=True)):
        output = _spelled(phones, f"the output for word {word}")
        allowed = [_spelled(p, f"a pronunciation of word {word}") for p in pronunciations]
        if not allowed or "" in allowed:
            raise ValueError(
                f"word {word} should have at least one pronunciation and none of them empty, but "
                f"it has {[list(p) for p in pronunciations]}."
            )
        wrong += output not in allowed
        closest.append(_closest(output, allowed))
    outputs = [" ".join(phones) for phones in hypotheses]
    return PronunciationError(
        word_error=wrong / len(outputs),
        words=len(outputs),
        wrong=wrong,
        phonemes=word_error_rate(outputs, closest),
    )


def _closest(output: str, allowed: list[str]) -> str:
    if output in allowed:
        return output
    if len(allowed) == 1:
        return allowed[0]
    return min(allowed, key=lambda pronunciation: _edits(jiwer.process_words(pronunciation, output)))


def _edits(output: jiwer.WordOutput) -> int:
    return output.substitutions + output.deletions + output.insertions


def _spelled(phones: Sequence[str], what: str) -> str:
    """Phonemes with spaces between; each becomes a "word" for jiwer."""
    if isinstance(phones, str) or any(not p or p.split() != [p] for p in phones):
        raise ValueError(
            f"{what} should be a list of phonemes without spaces, such as ['K', 'AE', 'T'], "
            f"but it is {phones!r}."
        )
    return " ".join(phones)


def _some(size: int, what: str) -> None:
    if size == 0:
        raise ValueError(f"the references hold no {what}, so there is no rate. Check them.")


def _rate(output: jiwer.WordOutput | jiwer.CharacterOutput) -> ErrorRate:
    length = output.hits + output.substitutions + output.deletions
    return ErrorRate(
        rate=_edits(output) / length,
        substitutions=output.substitutions,
        deletions=output.deletions,
        insertions=output.insertions,
        reference_length=length,
    )
