"""Sentence pairs of the test split with links between their words, annotated twice and merged."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from seqcourse.data.readers import FILES, read_lines
from seqcourse.errors import CourseError

ALIGNED_LANGUAGES = ("en-es",)

Link = tuple[int, int]
"""(source position, target position), both counted from 0."""

_FIELDS = ("id", "source", "target", "sure", "possible")
_HOW = (
    "It belongs to the course: install the package again, or in a checkout run "
    "`git checkout -- seqcourse/data/files`."
)


@dataclass(frozen=True)
class AlignedPair:
    """The tokens of a sentence pair and the links between them.

    sure: links that nearly every reader would make.
    possible: links that a reader may make, the sure ones included (Och and Ney 2003).
    """

    source_tokens: tuple[str, ...]
    target_tokens: tuple[str, ...]
    sure: frozenset[Link]
    possible: frozenset[Link]


@dataclass(frozen=True)
class Agreement:
    r"""How far two passes over the same sentence pairs agree.

    f1: 2 |A & B| / (|A| + |B|) over all links, sure or possible.
    sure_f1: the same over the links that a pass calls sure.
    same_label: among the links that both passes have, the share that both call sure or both
        possible; NaN if the passes have no link in common.
    kappa: Cohen's kappa, (p_o - p_e) / (1 - p_e), over every pair of a source and a target word,
        each labelled sure, possible or unlinked.
    links: how many links each pass has.
    sure: how many of them are sure.
    """

    f1: float
    sure_f1: float
    same_label: float
    kappa: float
    links: tuple[int, int]
    sure: tuple[int, int]

    def __str__(self) -> str:
        return (
            f"F1 {self.f1:.3f} over all links ({self.links[0]} and {self.links[1]}), "
            f"{self.sure_f1:.3f} over sure links ({self.sure[0]} and {self.sure[1]}); "
            f"{self.same_label:.1%} of the common links have the same label; "
            f"kappa {self.kappa:.3f}"
        )


def load_alignments(languages: str = "en-es") -> list[AlignedPair]:
    """Load the aligned sentence pairs of the test split, all passes merged.

    A link is sure if every pass calls it sure, and possible if any pass has it. The annotators'
    guideline is in ``alignments-en-es/GUIDELINE.md``.

    Raises:
        CourseError: no such languages; fewer than two passes; a line of a file is malformed.
    """
    passes = _load_passes(languages)
    return [merge_passes(versions) for versions in zip(*passes, strict=True)]


def agreement(languages: str = "en-es") -> Agreement:
    """How far the first two passes agree.

    Raises:
        CourseError: as for :func:`load_alignments`.
    """
    first, second = _load_passes(languages)[:2]
    return compare_passes(first, second)


def merge_passes(versions: Sequence[AlignedPair]) -> AlignedPair:
    """Merge the versions of one sentence pair: links that all call sure are sure, all are possible."""
    return AlignedPair(
        versions[0].source_tokens,
        versions[0].target_tokens,
        frozenset.intersection(*(version.sure for version in versions)),
        frozenset.union(*(version.possible for version in versions)),
    )


def compare_passes(first: Sequence[AlignedPair], second: Sequence[AlignedPair]) -> Agreement:
    """The agreement of two passes over the same sentence pairs."""
    ours, theirs = ([_labels(pair) for pair in each] for each in (first, second))
    cells: Counter[tuple[str, str]] = Counter()
    for pair, one, other in zip(first, ours, theirs, strict=True):
        for link in one.keys() | other.keys():
            cells[one.get(link, "unlinked"), other.get(link, "unlinked")] += 1
        size = len(pair.source_tokens) * len(pair.target_tokens)
        cells["unlinked", "unlinked"] += size - len(one.keys() | other.keys())
    links = tuple(sum(map(len, each)) for each in (ours, theirs))
    sure = tuple(sum(len(pair.sure) for pair in each) for each in (first, second))
    same = {label: cells[label, label] for label in ("sure", "possible", "unlinked")}
    common = sum(n for labels, n in cells.items() if "unlinked" not in labels)
    return Agreement(
        f1=_ratio(2 * common, sum(links)),
        sure_f1=_ratio(2 * same["sure"], sum(sure)),
        same_label=_ratio(same["sure"] + same["possible"], common),
        kappa=_kappa(cells),
        links=links,
        sure=sure,
    )


def read_pass(path: Path) -> list[AlignedPair]:
    """Read one pass: a JSON object per line, as the guideline says.

    Raises:
        CourseError: the file is missing or is not UTF-8, or a line is not such an object, has a
            position outside its sentence or a link twice, or is out of order.
    """
    pairs = []
    for number, line in read_lines(path, _HOW):
        try:
            pairs.append(_read_pair(line, len(pairs)))
        except ValueError as error:
            raise CourseError(f"{path}, line {number}: {error}. {_HOW}") from error
    if not pairs:
        raise CourseError(f"{path}: expected a sentence pair per line, but it is empty. {_HOW}")
    return pairs


def _read_pair(line: str, expected_id: int) -> AlignedPair:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"expected a JSON object, but {error}") from error
    if not isinstance(row, dict) or sorted(row) != sorted(_FIELDS):
        raise ValueError(f"expected a JSON object with {', '.join(_FIELDS)}, but found {line[:60]!r}")
    if row["id"] != expected_id:
        raise ValueError(f"expected the pair with id {expected_id}, but found id {row['id']!r}")
    source, target = (_read_tokens(row[side], side) for side in ("source", "target"))
    sure, possible = (
        _read_links(row[kind], kind, len(source), len(target)) for kind in ("sure", "possible")
    )
    twice = sorted(link for link, n in Counter(sure + possible).items() if n > 1)
    if twice:
        raise ValueError(f"expected every link once, but {list(twice[0])} appears twice")
    return AlignedPair(source, target, frozenset(sure), frozenset(sure + possible))


def _read_tokens(value: object, side: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(x, str) for x in value):
        raise ValueError(f"expected a list of tokens as {side}, but found {value!r}")
    return tuple(value)


def _read_links(value: object, kind: str, width: int, height: int) -> list[Link]:
    if not isinstance(value, list):
        raise ValueError(f"expected a list of links as {kind}, but found {value!r}")
    for link in value:
        if not (isinstance(link, list) and [type(x) for x in link] == [int, int]):
            raise ValueError(f"expected {kind} links as [source, target], but found {link!r}")
        if not (0 <= link[0] < width and 0 <= link[1] < height):
            raise ValueError(
                f"expected {kind} links between {width} source and {height} target tokens, "
                f"counted from 0, but found {link}"
            )
    return [(i, j) for i, j in value]


def _load_passes(languages: str) -> list[list[AlignedPair]]:
    if languages not in ALIGNED_LANGUAGES:
        names = ", ".join(map(repr, ALIGNED_LANGUAGES))
        raise CourseError(f"There are no alignments for {languages!r}; expected one of {names}.")
    folder = FILES / f"alignments-{languages}"
    paths = sorted(folder.glob("pass_*.jsonl"))
    if len(paths) < 2:
        found = ", ".join(path.name for path in paths) or "none"
        raise CourseError(
            f"Expected at least two passes (pass_a.jsonl, pass_b.jsonl) in {folder}, but found "
            f"{found}. A link is sure only where two agree. {_HOW}"
        )
    passes = [read_pass(path) for path in paths]
    for path, pairs in zip(paths[1:], passes[1:], strict=True):
        if len(pairs) != len(passes[0]):
            raise CourseError(
                f"{path}: expected the {len(passes[0])} pairs of {paths[0].name}, but found "
                f"{len(pairs)}. {_HOW}"
            )
        for k, (pair, first) in enumerate(zip(pairs, passes[0], strict=True)):
            if (pair.source_tokens, pair.target_tokens) != (first.source_tokens, first.target_tokens):
                raise CourseError(
                    f"{path}, line {k + 1}: expected the tokens of {paths[0].name}, "
                    f"{' '.join(chain(first.source_tokens, ['/'], first.target_tokens))!r}, but "
                    f"found {' '.join(chain(pair.source_tokens, ['/'], pair.target_tokens))!r}. {_HOW}"
                )
    return passes


def _labels(pair: AlignedPair) -> dict[Link, str]:
    return {link: "sure" if link in pair.sure else "possible" for link in pair.possible}


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def _kappa(cells: Counter[tuple[str, str]]) -> float:
    total = sum(cells.values())
    first: Counter[str] = Counter()
    second: Counter[str] = Counter()
    for (one, other), n in cells.items():
        first[one] += n
        second[other] += n
    observed = _ratio(sum(n for (one, other), n in cells.items() if one == other), total)
    chance = _ratio(sum(n * second[label] for label, n in first.items()), total**2)
    return (observed - chance) / (1 - chance) if chance != 1 else float("nan")
