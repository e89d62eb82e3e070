"""What the grader knows of this course; importing it makes the course known."""

from __future__ import annotations

from pathlib import Path

from cellgrader.profile import CourseProfile, use

# What the set-up cells of the notebooks import.
PRELOAD = (
    *("torch", "matplotlib.pyplot", "ipywidgets", "seqcourse", "seqcourse.check", "seqcourse.data"),
    *("seqcourse.metrics", "seqcourse.models", "seqcourse.nn", "seqcourse.viz", "seqcourse.zoo"),
)
# What notebooks import, and what judges them.
DECIDES = tuple("capstone check functional nn models data decode metrics train zoo".split())


def page_of(root: Path, chapter: int, section: str) -> str:
    """The address of a section below the book's own, "" without such a chapter.

    A chapter may have two pages, 05_ and 05b_: the last that has the section counts, or 05_.
    """
    from docutils.nodes import make_id

    pages = sorted((root / "book").glob(f"{chapter:02d}*.ipynb"), reverse=True)
    for page in pages:
        if f'"## {section}' in page.read_text(encoding="utf-8") or page is pages[-1]:
            return f"book/{page.stem}.html#{make_id(section)}"
    return ""


def make_known(version: str) -> None:
    """Make this course known to the grader."""
    use(
        CourseProfile(
            module="seqcourse",
            package="seqcourse",
            version=version,
            assignment=r"ps\d+",
            named="psN",
            checks="seqcourse.check",
            systems="seqcourse.capstone",
            open_checks=r"ps\d+|Mistake|progress",
            self_check="check.{assignment}.{exercise}({exercise})",
            preload=PRELOAD,
            judges=("seqcourse.check.grade.verdict",),
            hidden="check/ps[0-9]*/",
            decides=DECIDES,
            alike=("functional", "nn", "decode", "models", "metrics"),
            environment={"SEQCOURSE_DEVICE": "cpu"},
            page_of=page_of,
        )
    )
