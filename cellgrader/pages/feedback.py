"""Feedback pages: what failed, on which kind of input, and why. They never show a hidden check."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbgrader
from nbconvert.exporters import HTMLExporter
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Dict, Unicode
from traitlets.config import Config

from cellgrader.appeals.requests import told_of_appeals
from cellgrader.course.folders import Course, class_of
from cellgrader.course.records import read_record
from cellgrader.course.small_files import MARKED, NEEDED
from cellgrader.errors import CourseError
from cellgrader.marks import in_gradebook
from cellgrader.marks.by_hand import CHANGED, counted, pending
from cellgrader.marks.in_words import for_student
from cellgrader.marks.late import accounts, seconds_late
from cellgrader.platforms.spreadsheet import number
from cellgrader.printable import printable
from cellgrader.processes.forked import Steps, done_now
from cellgrader.processes.limited import TooCostly, begin
from cellgrader.profile import program, the_course
from cellgrader.release.generate import last_line

BEGIN = "BEGIN HIDDEN TESTS"
END = "END HIDDEN TESTS"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
WIDTH = 88
INSTEAD = "# Hidden checks ran here; what they found stands below."
TEMPLATES = Path(__file__).resolve().parents[1] / "templates"
NBGRADERS_TEMPLATES = str(Path(nbgrader.__file__).parent / "server_extensions/formgrader/templates")

HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*$", re.M)
# A formula, its symbols, and how many of them fit onto a phone.
FORMULA, SYMBOL, MOST_SYMBOLS = re.compile(r"<math\b.*?</math>", re.S), re.compile(r"<m[ino]\b"), 20
# The state of a graded cell; it decides the colour.
FULL, PART, NONE, WAITS = "full", "part", "none", "waits"


class HideChecks(NbGraderPreprocessor):
    """Removes hidden checks from a graded notebook before it becomes a page.

    One line replaces their source. Tracebacks quote source code, so errors of such a cell keep only
    their name and message.
    """

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> tuple[Any, Any]:
        if cell.cell_type != "code" or BEGIN not in cell.source:
            return cell, resources
        lines = []
        inside = False
        for line in cell.source.split("\n"):
            if BEGIN in line:
                inside = True
                lines.append(INSTEAD)
            elif END in line:
                inside = False
            elif not inside:
                lines.append(line)
        cell.source = "\n".join(lines)
        for output in cell.outputs:
            if output.output_type == "error":
                sentence = COLOUR.sub("", f"{output.ename}: {output.evalue}").removesuffix(": ")
                output.traceback = textwrap.wrap(sentence, width=WIDTH) or [output.ename]
        return cell, resources


class ShowPoints(NbGraderPreprocessor):
    """Collects the page's table of points and the verdict of each graded cell."""

    book = Unicode("", help="Address of the rendered book; verdicts then link to its sections.").tag(
        config=True
    )
    course = Unicode("", help="The title and the term of the class.").tag(config=True)
    links = Dict(help="Links for students, by name.").tag(config=True)
    notice = Unicode("", help="A sentence on top of the page.").tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        from nbgrader.api import Gradebook

        info = resources["nbgrader"]
        titles = dict(_titles(nb))
        with Gradebook(info["db_url"]) as gradebook:
            submission = gradebook.find_submission(info["assignment"], info["student"])
            notebook = gradebook.find_submission_notebook(
                info["notebook"], info["assignment"], info["student"]
            )
            grades = {grade.name: _grade(grade, titles) for grade in notebook.grades}
            late, marked = seconds_late(submission, self.config)
            spent = accounts(gradebook, self.config, info["student"])
            name = _called(gradebook, info["student"])
            record = read_record(class_of(self.config), info["assignment"], info["student"])
            partners = [_called(gradebook, who) for who in (record.partners if record else ())]
        findings = nb.metadata.get(program(), {}).get("findings", {})
        for cell in nb.cells:
            grade = grades.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
            if grade is not None:
                grade |= self._verdict(cell, findings.get(grade["name"], {}))
                cell.metadata["feedback"] = grade
        order = [*titles, *(name for name in grades if name not in titles)]
        ours = nb.metadata.get(program(), {})
        points = sum(grade["points"] for grade in grades.values())
        total = in_gradebook.total(points, info["late_penalty"])
        resources["feedback"] = {
            "rows": [grades[name] for name in order if name in grades],
            "points": number(points),
            "course": printable(self.course),
            "links": self.links,
            "notice": printable(self.notice),
            "waits": any(grade["state"] == WAITS for grade in grades.values()),
            "total": number(total),
            "maximum": number(info["max_score"]),
            "share": round(100 * total / info["max_score"]) if info["max_score"] else 0,
            "penalty": number(info["late_penalty"]) if info["late_penalty"] else "",
            "late": MARKED
            if marked
            else f"Handed in {_duration(late)} after the due date"
            if late
            else "",
            "days": spent.of(info["student"]).sentence(info["assignment"]),
            "name": name,
            "partners": " and ".join(partners),
            "remarks": [str(remark) for remark in ours.get("remarks", ())],
            **self._kept_for(info["assignment"], info["student"]),
            "sentence": str(ours.get("sentence", "")),
        }
        return nb, resources

    def _kept_for(self, name: str, student: str) -> dict[str, Any]:
        """What the class's folder keeps for a student: the changes of the mark, and appeals."""
        try:
            folders = self.parent.parent.coursedir
        except AttributeError:
            return {}
        course = Course(Path(folders.root), Path(folders.autograded_directory).parent.as_posix())
        return {
            "changes": for_student(course, name, student),
            "appeals": told_of_appeals(course, name, student),
        }

    def _verdict(self, cell: Any, data: Any) -> dict[str, Any]:
        """Put the check's verdict in the place of the cell's outputs: reasons, and a section to read."""
        if cell.cell_type != "code":
            return {}
        findings = data.get("findings")
        raised = {output.get("ename"): output for output in cell.outputs}
        if not findings and "Mistake" in raised:  # what was graded before there were findings, a quiz
            findings = [{"what": raised["Mistake"]["evalue"], "question": "", "inputs": []}]
        elif not findings and "NotImplementedError" in raised:
            findings = [{"what": "Not answered yet.", "question": "", "inputs": []}]
        if findings or any("✓" in str(output.get("text", "")) for output in cell.outputs):
            cell.outputs = []
        if not findings:
            return {}
        reasons = [
            {"words": f"{one['what']} {one['question']}".strip(), "inputs": one["inputs"]}
            for one in findings
        ]
        if not data.get("see"):
            return {"reasons": reasons}
        chapter, section = data["see"]
        see = {"chapter": chapter, "section": section, "link": self._link(chapter, section)}
        return {"reasons": reasons, "see": see}

    def _link(self, chapter: int, section: str) -> str:
        """The address of a section of the book, or "" if ``book`` is not set."""
        if not self.book:
            return ""
        try:
            root = Path(self.parent.parent.coursedir.root)
        except AttributeError:
            return ""
        place = the_course().page_of(root, chapter, section)
        return f"{self.book.rstrip('/')}/{place}" if place else ""


def _called(gradebook: Any, student: str) -> str:
    """A student's first and last name, or that of the folder."""
    from nbgrader.api import MissingEntry

    try:
        known = gradebook.find_student(student)
    except MissingEntry:  # left since
        return printable(student)
    return printable(f"{known.first_name or ''} {known.last_name or ''}".strip() or student)


def _titles(nb: Any) -> Iterator[tuple[str, str]]:
    """Yield (name, last heading before it) for each cell with a grade_id."""
    title = ""
    for cell in nb.cells:
        mark = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "markdown" and not mark.get("solution"):
            headings = HEADING.findall(cell.source)
            title = headings[-1] if headings else title
        if "grade_id" in mark:
            yield mark["grade_id"], title


def _grade(grade: Any, titles: dict[str, str]) -> dict[str, Any]:
    """A grade from the gradebook, as the page's template needs it."""
    points, maximum = counted(grade), float(grade.max_score)
    state = FULL if points >= maximum else PART if points > 0 else NONE
    remark = ""
    if grade.name not in titles:
        remark = "the cell was deleted from the notebook"
    elif pending(grade):
        state, remark = WAITS, CHANGED if pending(grade) == CHANGED else "not graded yet"
    return {
        "name": grade.name,
        "shown": grade.name.replace("-grade", ""),
        "title": titles.get(grade.name, ""),
        "points": points,
        "score": number(points),
        "maximum": number(maximum),
        "state": state,
        "remark": remark,
        "by_hand": grade.manual_score is not None and grade.auto_score is not None,
    }


def _duration(seconds: float) -> str:
    """A duration in its two largest units: "1 day 3 hours", "25 minutes"."""
    minutes = max(1, round(seconds / 60))
    parts = (minutes // 1440, "day"), (minutes // 60 % 24, "hour"), (minutes % 60, "minute")
    words = [f"{count} {unit}{'' if count == 1 else 's'}" for count, unit in parts if count]
    return " ".join(words[:2])


class FeedbackExporter(HTMLExporter):
    """nbconvert's exporter with this course's template: one file, no scripts, no external resources."""

    def __init__(self, config: Config | None = None, **options: Any) -> None:
        # nbgrader sets its own template on HTMLExporter; these settings override it for this class.
        own = Config()
        own.FeedbackExporter.template_name = "cellgrader_feedback"
        own.FeedbackExporter.extra_template_basedirs = [str(TEMPLATES)]
        own.FeedbackExporter.extra_template_paths = []
        settings = Config(config or {})
        settings.merge(own)
        super().__init__(config=settings, **options)

    def from_notebook_node(self, *given: Any, **options: Any) -> tuple[str, Any]:
        page, resources = super().from_notebook_node(*given, **options)
        return FORMULA.sub(_able_to_scroll, page), resources


def _able_to_scroll(formula: re.Match) -> str:
    """A formula that is too long for a phone, in a place that scrolls, also by the keyboard."""
    drawn = formula[0]
    if len(SYMBOL.findall(drawn)) <= MOST_SYMBOLS:
        return drawn
    return f'<span class="long" tabindex="0" role="group" aria-label="Formula">{drawn}</span>'


def make_feedback(course: Course, name: str, student: str, notice: str = "") -> Path:
    """Write the feedback page of one graded submission and return its path.

    Args:
        notice: a sentence on top of the page, for example which version this is.
    Raises:
        CourseError: there is no graded submission, or nbgrader could not make the page.
    """
    done_now(making_feedback(course, name, student, notice))
    return page_path(course, name, student)


def page_path(course: Course, name: str, student: str) -> Path:
    """Where a student's page is."""
    return course.feedback / student / name / f"{name}.html"


def making_feedback(course: Course, name: str, student: str, notice: str = "") -> Steps:
    """What ``make_feedback`` does, beside other things."""
    graded = course.autograded / student / name
    if not graded.is_dir():
        raise CourseError(
            f"{student} should have a graded {name} in {course.grading}/autograded, but has none. "
            f"Grade first: {program()} grade {name}"
        )
    # Of the submission's other files, only those are copied that releasing the page needs.
    api = course.api(CourseDirectory__ignore=["*"], ShowPoints__notice=notice)
    making = begin("To make the page", api.generate_feedback, name, student)
    yield making
    try:
        outcome = making.result()
        why = "" if outcome["success"] else f"{last_line(outcome)}."
    except TooCostly as problem:
        why = str(problem)
    if why:
        raise CourseError(
            f"nbgrader should have made {student}'s feedback on {name}, but could not: {why}"
        )
    for file in NEEDED:
        if (graded / file).is_file():
            shutil.copyfile(graded / file, page_path(course, name, student).with_name(file))
