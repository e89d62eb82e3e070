"""English words and names that the CMU Pronouncing Dictionary does not list: spelling without sound."""

from __future__ import annotations

from seqcourse.data.readers import FILES, read_rows

KINDS = ("name", "word")


def load_unlisted(kind: str | None = None) -> list[str]:
    """Load words that stand in no split of CMUdict, in alphabetical order.

    Args:
        kind: "name" for first and last names of the United States census of 1990, "word" for words of
            a spelling dictionary, None for both.

    Raises:
        ValueError: if the kind is another one.
    """
    if kind is not None and kind not in KINDS:
        raise ValueError(f"kind should be one of {', '.join(KINDS)}, or None, but it is {kind!r}.")
    how = (
        "It belongs to the course: install the package again, or in a checkout run "
        "`python -m seqcourse.data.build unlisted --source FOLDER`."
    )
    rows = read_rows(FILES / "unlisted" / "words.tsv.gz", 2, "word, kind", how)
    return [word for word, found in rows if kind in (None, found)]
