"""Replacements for nbgrader's steps that are safe with untrusted submissions.

`nbgrader autograde` uses them through nbgrader_config.py:

    c.Autograde.exporter_class = Reader
    c.Autograde.sanitize_preprocessors = SANITIZE
    c.Autograde.autograde_preprocessors = AUTOGRADE

`seqcourse grade` examines submissions in parallel, then lets nbgrader save them with SAVE_SANITIZE and
SAVE: the same steps without running the notebook.
"""

from __future__ import annotations

import atexit
import os
import stat
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.converters import base as converter
from nbgrader.preprocessors import (
    CheckCellMetadata,
    DeduplicateIds,
    LimitOutput,
    NbGraderPreprocessor,
    OverwriteCells,
    OverwriteKernelspec,
)
from traitlets import Bool, Integer, Unicode

from seqcourse.grading import notebook as notebooks
from seqcourse.grading.byhand import HoldBack, SaveGrades
from seqcourse.grading.course import Course
from seqcourse.grading.examine import Examiner
from seqcourse.grading.late import RenewPenalty
from seqcourse.grading.mend import mend
from seqcourse.grading.stage import find_submission, read_submission

REMARKS = "seqcourse"


_find_all_files = converter.find_all_files


def _regular_files(path: str, exclude: list[str] | None = None) -> list[str]:
    """The files of a submission that nbgrader may copy: regular files only.

    nbgrader would follow links, for example to another student's work or to an endless device.
    """
    if os.path.islink(path):
        return []
    return [file for file in _find_all_files(path, exclude) if stat.S_ISREG(os.lstat(file).st_mode)]


# nbgrader has no setting for this.
converter.find_all_files = _regular_files


class Reader(NotebookExporter):
    """Reads an untrusted submission, which may be renamed, damaged or a link.

    nbgrader's second pass reads its own file, in nbgrader's way.
    """

    def from_filename(self, filename: str, resources: dict | None = None, **kw: Any) -> Any:
        if not getattr(self.parent, "_sanitizing", False):
            return super().from_filename(filename, resources=resources, **kw)
        info = resources["nbgrader"]
        folder = Path(filename).parent
        release = _release(self.parent.coursedir, info["assignment"], info["notebook"])
        found = find_submission(folder, info["notebook"], release)
        book = nbformat.from_dict(read_submission(found.path))
        book.metadata[REMARKS] = {"remarks": list(found.remarks)}
        return self.from_notebook_node(book, resources=resources, **kw)


class Mend(NbGraderPreprocessor):
    """Puts a student's answers into the released notebook."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        info = resources["nbgrader"]
        release = _release(self.parent.parent.coursedir, info["assignment"], info["notebook"])
        before = nb.metadata.get(REMARKS, {}).get("remarks", [])
        mended = mend(nb, release)
        book = nbformat.from_dict(mended.notebook)
        book.metadata[REMARKS] = {"remarks": [*before, *mended.remarks], "lost": list(mended.lost)}
        return book, resources


class Examine(NbGraderPreprocessor):
    """Replaces nbgrader's Execute: runs a notebook in the sandbox and judges it outside."""

    root = Unicode("", help="The course's folder.").tag(config=True)
    grading = Unicode("grading", help="The class's folder in it.").tag(config=True)
    timeout = Integer(120, help="Seconds that one cell may take.").tag(config=True)
    everything = Bool(False, help="Run also the cells that only show something.").tag(config=True)
    unsafe_no_sandbox = Bool(
        False, help="Run students' code without a sandbox, with all your rights."
    ).tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        info = resources["nbgrader"]
        examiner = _examiner(
            self.root or self.parent.parent.coursedir.root,
            self.grading,
            confined=not self.unsafe_no_sandbox,
            timeout=self.timeout,
            everything=self.everything,
        )
        done = examiner.examine_notebook(info["notebook"], info["student"], nb)
        nb.metadata.setdefault(REMARKS, {}).update(status=done["status"], sentence=done["sentence"])
        return nb, resources


SANITIZE = [Mend, HoldBack, DeduplicateIds, OverwriteKernelspec, OverwriteCells, CheckCellMetadata]
# For a notebook that has already been mended, run and judged.
SAVE_SANITIZE = [HoldBack, OverwriteCells]
SAVE = [LimitOutput, SaveGrades, RenewPenalty, CheckCellMetadata]
AUTOGRADE = [Examine, *SAVE]

_examiners: dict[tuple, Examiner] = {}


def _examiner(root: str, grading: str, **options: Any) -> Examiner:
    """This process's examiner for a course, closed at exit."""
    key = (root, grading, *sorted(options.items()))
    if key not in _examiners:
        _examiners[key] = Examiner(Course(Path(root), grading), **options).__enter__()
        atexit.register(_examiners[key].__exit__)
    return _examiners[key]


def _release(coursedir: Any, assignment: str, notebook: str) -> dict:
    """The released notebook, from nbgrader's own folder of releases."""
    folder = coursedir.format_path(coursedir.release_directory, ".", assignment)
    return notebooks.read(Path(folder) / f"{notebook}.ipynb")
