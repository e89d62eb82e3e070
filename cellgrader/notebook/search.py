"""Find the notebook in a submitted folder. Follows no links, unpacks no archives, runs no code."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from cellgrader import bounds
from cellgrader.notebook.matching import Likeness, likeness
from cellgrader.notebook.parse import MISSING, UNREADABLE, NotGradable, read_submission, shown

__all__ = ["Found", "NotGradable", "find_submission", "links", "read_submission"]

# File endings of notebooks. Browsers and editors produce the second group; it is used if the first has
# none.
SUFFIXES = ((".ipynb",), (".ipynb.txt", ".ipynb.json", ".json", ".txt"))
ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".7z", ".rar")
INSTEAD = dict.fromkeys(ARCHIVES, "Unpack it and hand in the notebook itself.") | {
    ".html": "That is a picture of a notebook: hand in the .ipynb file.",
    ".pdf": "That is a picture of a notebook: hand in the .ipynb file.",
    ".py": "That is a script: hand in the .ipynb file.",
}


@dataclass(frozen=True)
class Found:
    """The notebook to grade.

    remarks: sentences for the student about the choice.
    uncertain: sentences for a person: other notebooks with answers that this one does not have.
    """

    path: Path
    remarks: tuple[str, ...] = ()
    uncertain: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Candidate:
    path: Path
    likeness: Likeness

    @property
    def rank(self) -> tuple[int, int]:
        return len(self.likeness.answers), self.likeness.known


def find_submission(folder: Path, name: str, release: dict) -> Found:
    """Find the notebook of an assignment in a student's folder.

    This is psN.ipynb in any case. If it is missing, unreadable or without answers, it is the notebook
    that holds most of the assignment.

    Args:
        folder: submitted/STUDENT/psN.
        name: the assignment, for example "ps2".
        release: the released notebook.
    Raises:
        NotGradable: there is no notebook, the choice is ambiguous, or it cannot be read.
    """
    for place in (folder.parent, folder):
        if place.is_symlink():
            raise NotGradable(
                UNREADABLE,
                f"The folder {shown(place.name)} should hold the files themselves, but is a link to "
                f"another place. Links are not followed: hand in the files.",
            )
    files = list(_files(folder))
    named = _named(folder, name, files)
    if named is None:
        best, rivals = _best_of(files, release, SUFFIXES)
        if best is None:
            raise NotGradable(MISSING, _missing_sentence(folder, name, files))
        if rivals:
            listed = _list(folder, [best.path, *(rival.path for rival in rivals)])
            raise NotGradable(
                MISSING,
                f"{name}.ipynb should be in the folder, but is not, and several notebooks could be "
                f"it: {listed}. Name the one that counts {name}.ipynb.",
            )
        remark = f"{name}.ipynb was not there: {_below(folder, best.path)} was graded in its place."
        remarks = (remark, *_script_remarks(folder, files))
        return Found(best.path, remarks, _halves(folder, best.path, files, release))
    problem = _problem(named, name, release)
    if problem is not None:
        best, rivals = _best_of([path for path in files if path != named], release, SUFFIXES[:1])
        if best is not None and best.likeness.answers and not rivals:
            why = problem.reason
            remark = f"{shown(named.name)} {why}: {_below(folder, best.path)} was graded in its place."
            remarks = (remark, *_script_remarks(folder, files))
            return Found(best.path, remarks, _halves(folder, best.path, files, release))
        if problem.error is not None:
            raise problem.error
    return Found(named, _remarks(folder, name, named, files), _halves(folder, named, files, release))


def links(folder: Path) -> list[Path]:
    """All links to files and folders below a folder; none is followed."""
    found = []
    for place, folders, files in os.walk(folder):
        found += [Path(place) / name for name in sorted([*folders, *files])]
    return [path for path in found if path.is_symlink()]


@dataclass(frozen=True)
class _Problem:
    """Why psN.ipynb may be the wrong file; ``error`` is set if it cannot be graded at all."""

    reason: str
    error: NotGradable | None = None


def _problem(named: Path, name: str, release: dict) -> _Problem | None:
    try:
        found = likeness(read_submission(named), release)
    except NotGradable as error:
        return _Problem("cannot be read", error)
    if found.is_another:
        error = NotGradable(
            UNREADABLE,
            f"{shown(named.name)} should hold the cells of {name}, but holds those of another "
            f"assignment. Hand in the notebook of {name}.",
        )
        return _Problem("holds another assignment", error)
    return None if found.answers else _Problem("holds no answer")


def _files(folder: Path) -> Iterator[Path]:
    """The regular files below a folder, breadth first, without links, pipes and hidden files."""
    level = [folder]
    seen = 0
    for _ in range(bounds.SEARCHED_DEPTH + 1):
        deeper = []
        for place in level:
            try:
                with os.scandir(place) as listed:
                    some = list(islice(listed, bounds.SEARCHED))
            except OSError:
                continue
            for entry in sorted(some, key=lambda entry: entry.name):
                seen += 1
                if seen > bounds.SEARCHED:
                    return
                if entry.name.startswith(".") or entry.name == "__MACOSX":
                    continue
                if entry.is_file(follow_symlinks=False):
                    yield Path(entry.path)
                elif entry.is_dir(follow_symlinks=False):
                    deeper.append(Path(entry.path))
        level = deeper


def _named(folder: Path, name: str, files: Sequence[Path]) -> Path | None:
    """Find psN.ipynb in the folder itself, in any case.

    Raises:
        NotGradable: it is a link, a folder or another special file.
    """
    exact = folder / f"{name}.ipynb"
    if os.path.lexists(exact):
        if stat.S_ISREG(exact.lstat().st_mode):
            return exact
        what = "a link" if exact.is_symlink() else "a folder" if exact.is_dir() else "a special file"
        raise NotGradable(
            UNREADABLE,
            f"{name}.ipynb should be an ordinary file, but is {what}. Hand in the notebook itself.",
        )
    alike = [path for path in files if path.parent == folder and path.name.lower() == exact.name]
    return alike[0] if alike else None


def _best_of(
    files: Sequence[Path], release: dict, kinds: Sequence[tuple[str, ...]]
) -> tuple[_Candidate | None, list[_Candidate]]:
    """The notebook that holds most of the assignment, and different notebooks that hold as much."""
    for suffixes in kinds:
        found = []
        for path in [path for path in files if path.name.lower().endswith(suffixes)][: bounds.OPENED]:
            try:
                candidate = _Candidate(path, likeness(read_submission(path), release))
            except NotGradable:
                continue
            if candidate.likeness.is_it:
                found.append(candidate)
        if found:
            best = max(found, key=lambda candidate: candidate.rank)
            return best, [
                each for each in found if each.rank == best.rank and each.likeness != best.likeness
            ]
    return None, []


def _halves(folder: Path, chosen: Path, files: Sequence[Path], release: dict) -> tuple[str, ...]:
    """A sentence for each other notebook that answers what the chosen one does not answer."""
    others = [path for path in files if path != chosen and path.name.lower().endswith(SUFFIXES[0])]
    mine = likeness(read_submission(chosen), release).answered if others else frozenset()
    told = []
    for path in others[: bounds.OPENED]:
        with suppress(NotGradable):
            other = likeness(read_submission(path), release)
            if not other.is_another and (more := other.answered - mine):
                told.append(
                    f"{_below(folder, path)} answers {', '.join(sorted(more))}, which "
                    f"{_below(folder, chosen)} does not, and only that one was graded. If the work is "
                    f"in two halves, put them into one notebook."
                )
    return tuple(told)


def _missing_sentence(folder: Path, name: str, files: Sequence[Path]) -> str:
    """A sentence that says why there is nothing to grade and what to do."""
    if not files:
        return f"{name}.ipynb should be in the folder, but there is nothing."
    there = f"{name}.ipynb should be in the folder, but there is {_list(folder, files)}."
    if any(path.suffix.lower() == ".ipynb" for path in files):
        return f"{there} No cells of {name} can be found in it. If it is the work, name it {name}.ipynb."
    for path in files:
        if path.suffix.lower() in INSTEAD:
            return f"{there} {INSTEAD[path.suffix.lower()]}"
    return f"{there} Hand in the notebook."


def _remarks(folder: Path, name: str, chosen: Path, files: Sequence[Path]) -> tuple[str, ...]:
    """Remarks about a name in another case, and about ignored files."""
    remarks = []
    if chosen.name != f"{name}.ipynb":
        remarks.append(f"The notebook should be called {name}.ipynb, but is {shown(chosen.name)}.")
    others = [path for path in files if path != chosen and path.suffix.lower() == ".ipynb"]
    if others:
        remarks.append(f"Only {shown(chosen.name)} is graded, not {_list(folder, others)}.")
    return (*remarks, *_script_remarks(folder, files))


def _script_remarks(folder: Path, files: Sequence[Path]) -> tuple[str, ...]:
    scripts = [path for path in files if path.suffix.lower() == ".py"]
    if not scripts:
        return ()
    return (
        f"Only the notebook is run: put the code of {_list(folder, scripts)} into it, if it is needed.",
    )


def _list(folder: Path, paths: Sequence[Path]) -> str:
    """The names of the first few files, and the number of further ones."""
    more = f" and {len(paths) - 4} more" if len(paths) > 4 else ""
    return ", ".join(_below(folder, path) for path in paths[:4]) + more


def _below(folder: Path, path: Path) -> str:
    return shown(path.relative_to(folder).as_posix())
