"""Code that is hard to read is told to the instructor, keeps its points, and is not told elsewhere."""

from __future__ import annotations

import html
import json

from cellgrader.course.records import read_record
from cellgrader.grade.submissions import grade
from cellgrader.marks.scores import read_scores
from cellgrader.notebook import document as notebooks
from cellgrader.pages.report import as_page, make_report
from cellgrader.release.generate import release
from cellgrader.release.sample import answered, right_answers
from tests.grading.confining import need_sandbox
from tests.grading.toy import make_toy_course


def test_what_hides_goes_to_a_person_and_costs_nothing(tmp_path):
    need_sandbox()
    course = make_toy_course(tmp_path)
    release(course, ["ps1"])
    right = right_answers(notebooks.read(course.solution("ps1")))
    released = notebooks.read(course.assignments / "ps1" / "ps1.ipynb")
    hides = {**right, "half": "exec('def half(x):\\n    return x / 2')\n"}
    for student, answers in {"plain": right, "hides": hides}.items():
        path = course.submitted / student / "ps1" / "ps1.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(answered(released, answers)), encoding="utf-8")
    records = {record.student: record for record in grade(course, "ps1")}
    assert records["plain"].to_review == ()
    (remark,) = records["hides"].to_review
    assert "exec" in remark and "line 1" in remark
    assert not any(records["hides"].messages.values()), "it costs no points"
    assert read_record(course, "ps1", "hides").to_review == records["hides"].to_review
    report = make_report(read_scores(course, "ps1", [*records.values()]), [*records.values()])
    assert "With something to look at: 1 (hides)." in report.summary
    assert f"<li>hides: {html.escape(remark)}</li>" in as_page(report)
