"""nbgrader's settings: the stages are folders of this course.

Students' work and grades lie under grading/, which is never committed. `seqcourse release` and
`seqcourse grade` read this file, and so do the `nbgrader` command and its formgrader. What a class
chooses stands in course.toml.
"""

from pathlib import Path

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.preprocessors import GetGrades

from cellgrader.course.folders import Course, close
from cellgrader.grade.plain_nbgrader import Reader
from cellgrader.marks.late import LatePolicy, RenewPenalty
from cellgrader.pages.feedback import (
    NBGRADERS_TEMPLATES,
    TEMPLATES,
    FeedbackExporter,
    HideChecks,
    ShowPoints,
)
from cellgrader.release.adapt import AdaptToClass
from cellgrader.submission.shared_by_hand import share_by_hand
from cellgrader.with_nbgrader.exchange import Collect, ReleaseFeedback
from cellgrader.with_nbgrader.formgrader import ShowModel
from cellgrader.with_nbgrader.preprocess import AUTOGRADE, SANITIZE, HandOut, WriteVersion, read_times
from seqcourse import CourseError

c = get_config()  # noqa: F821  (nbgrader defines it)

here = Path(__file__).resolve().parent
course = Course(here)
try:
    chosen = course.settings
except CourseError as error:  # nbgrader would go on without this file, and so without the sandbox
    raise SystemExit(f"seqcourse: {error}") from None
close(here / "grading")  # to every other account

c.CourseDirectory.course_id = chosen["name"]
c.CourseDirectory.root = str(here)
c.CourseDirectory.ignore = ["feedback", "__pycache__", "*.pyc", ".ipynb_checkpoints", ".*.progress*"]
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "assignments"
c.CourseDirectory.submitted_directory = "grading/submitted"
c.CourseDirectory.autograded_directory = "grading/autograded"
c.CourseDirectory.feedback_directory = "grading/feedback"
c.CourseDirectory.solution_directory = "grading/solution"
c.CourseDirectory.source_with_tests_directory = "grading/source_with_tests"
c.CourseDirectory.db_url = course.gradebook_url

# `nbgrader zip_collect ps1` unpacks grading/downloaded/ps1/archive beside it.
c.ZipCollectApp.downloaded_directory = "grading/downloaded"
# Collecting follows no student's links. Feedback on work that did not come through the exchange is
# passed over, with a sentence.
c.ExchangeFactory.collect = Collect
c.ExchangeFactory.release_feedback = ReleaseFeedback

c.ClearSolutions.code_stub = {
    "python": "# Your code goes here, in place of the next line.\nraise NotImplementedError()"
}
c.ClearSolutions.text_stub = "*Your answer goes here.*"
c.GenerateAssignment.preprocessors.insert(0, AdaptToClass)
c.GenerateAssignment.preprocessors.extend([HandOut, WriteVersion])

# `nbgrader autograde` examines a submission as `seqcourse grade` does: a worker process reads it as what
# it may be, puts its answers into the released notebook, and runs that in a sandbox; the hidden checks
# of solutions/checks judge outside of it.
c.Autograde.exporter_class = Reader
c.Autograde.sanitize_preprocessors = SANITIZE
c.Autograde.autograde_preprocessors = AUTOGRADE
c.Reader.timeout = chosen["timeout"]

c.AssignLatePenalties.plugin_class = LatePolicy
c.LatePolicy.zone = chosen["zone"]
for option in ("grace_minutes", "share_per_day", "floor", "days_per_assignment"):
    c.LatePolicy[option] = chosen[f"late.{option}"]
c.LatePolicy.account = chosen["late.days"]
c.LatePolicy.assignments = chosen.late
c.LatePolicy.leave_out = chosen["leave_out"]

# A due date in a zone that nobody knows is refused; nbgrader would take it for UTC.
read_times(chosen.zone)

# What the formgrader saves for one of several partners is saved for the others.
share_by_hand(course)

# What students wrote is shown without running anything of theirs in a browser, and without asking
# another server for anything: in the formgrader and on the feedback pages.
c.HTMLExporter.sanitize_html = True
c.HTMLExporter.preprocessors = ["cellgrader.pages.safe.MakeSafe", ShowModel]
c.HTMLExporter.filters = {"markdown2html": "cellgrader.pages.safe.markdown"}
c.HTMLExporter.extra_template_basedirs = [str(TEMPLATES / "formgrader"), NBGRADERS_TEMPLATES]
c.ShowModel.root = str(here)

# Feedback shows what failed and why, never the hidden check. Points given by hand count for what
# being late costs, so that is computed again first.
c.GenerateFeedback.exporter_class = FeedbackExporter
c.GenerateFeedback.preprocessors = [
    RenewPenalty,
    GetGrades,
    HideChecks,
    ShowPoints,
    CSSHTMLHeaderPreprocessor,
]
c.ShowPoints.book = chosen["book"]
c.ShowPoints.course = ", ".join(chosen[key] for key in ("title", "term") if chosen[key])
c.ShowPoints.links = chosen.links
