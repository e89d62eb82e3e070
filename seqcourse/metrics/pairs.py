"""Arguments that come in pairs: one reference for each output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def texts(**lists: Sequence[Any]) -> None:
    """Raise ValueError unless all are lists of one length, not empty, and hold texts only."""
    same_length(**lists)
    for name, values in lists.items():
        other = next((value for value in values if not isinstance(value, str)), None)
        if other is not None:
            raise ValueError(
                f"{name} should hold texts, but one entry is a {type(other).__name__}: "
                f'{str(other)[:40]}. Join tokens to a text first: " ".join(tokens).'
            )


def references_of(
    hypotheses: Sequence[str], references: Sequence[Any], what: str
) -> list[tuple[str, ...]]:
    """The references of every entry as a tuple: one text, or several.

    Raises:
        ValueError: if the lists do not fit or hold no texts, or an entry has no reference, or what seems
            to be the tokens of one.
    """
    _refuse_streams(hypotheses, references)
    same_length(hypotheses=hypotheses, references=references)
    texts(hypotheses=hypotheses)
    several = [(given,) if isinstance(given, str) else tuple(given) for given in references]
    for number, given in enumerate(several):
        if not given:
            raise ValueError(f"{what} {number} has no reference; expected at least one. Leave it out.")
        texts(references=given)
        words = set(hypotheses[number].split())
        if all(len(text.split()) == 1 for text in given) and len(words & set(given)) > 1:
            raise ValueError(
                f"The references of {what} {number} are single words, {list(given)[:6]}, which looks "
                f'like the tokens of one text. Join them: " ".join(tokens).'
            )
    return several


def _refuse_streams(hypotheses: Sequence[str], references: Sequence[Any]) -> None:
    """Refuse sacrebleu's form, one list with a reference of every sentence after the other."""
    count = len(hypotheses)
    if len(references) in (0, count) or isinstance(references, str) or isinstance(hypotheses, str):
        return
    if all(not isinstance(given, str) and len(given) == count for given in references):
        raise ValueError(
            f"references should have one entry for each of the {count} hypotheses, with all its "
            f"references, but they are {len(references)} lists of {count}: a list for each translator, "
            f"it seems. list(zip(*references)) turns them."
        )


def same_length(**lists: Sequence[Any]) -> None:
    """Raise ValueError unless all are lists (not strings) of one length, and not empty."""
    for name, values in lists.items():
        if isinstance(values, str):
            raise ValueError(
                f"{name} should be a list with one entry per sentence, but it is the string "
                f"{values[:40]!r}. Put it into a list."
            )
    sizes = {name: len(values) for name, values in lists.items()}
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{size} {name}" for name, size in sizes.items())
        raise ValueError(f"one entry per sentence is expected everywhere, but there are {told}.")
    if 0 in sizes.values():
        raise ValueError(f"{' and '.join(sizes)} are empty; expected at least one sentence.")
