"""What a notebook is worth after each editor saved it, and whether its cells were found again.

    seqcourse bench editors

Assignment 1, solved, in every form of tests/grading/editors.py, and once per edit in the form that keeps
nothing of the course's marks, graded in one run of `seqcourse grade`. Writes
benchmarks/results/editors.json: for each form what it keeps, where it is taken from, of how many
assignments the mended notebook is the same cell by cell as JupyterLab's, and the points of assignment 1.
Exit code 1 when somebody earns less than everything.

About 3 minutes on two idle cores.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the forms belong to the tests

from cellgrader.course.folders import Course  # noqa: E402
from cellgrader.grade.submissions import grade  # noqa: E402
from cellgrader.marks.scores import read_scores  # noqa: E402
from cellgrader.notebook import document as notebooks  # noqa: E402
from cellgrader.release.generate import release  # noqa: E402
from cellgrader.release.sample import answered, right_answers  # noqa: E402
from seqcourse.cli.bench import MISSED  # noqa: E402
from tests.grading.editors import EDITS, FORMS, saved  # noqa: E402
from tests.grading.test_editors import NAMES, cells, mended, solved  # noqa: E402
from tests.grading.toy import copy_real_course  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "editors.json"
BARE = "Colab, copied"


def same(form: str, folder: Path) -> int:
    """Of how many assignments the mended notebook equals JupyterLab's."""
    return sum(
        cells(mended(saved(solved(name), form), name, folder), FORMS[form].adds)
        == cells(mended(saved(solved(name), "JupyterLab"), name, folder))
        for name in NAMES
    )


def main() -> None:
    plan = {form: (form, "") for form in FORMS} | {edit: (BARE, edit) for edit in EDITS}
    students = {case: f"student-{number:02}" for number, case in enumerate(plan)}
    with tempfile.TemporaryDirectory() as folder:
        course: Course = copy_real_course(Path(folder) / "course")
        release(course, ["ps1"])
        given = notebooks.read(course.assignments / "ps1" / "ps1.ipynb")
        whole = answered(given, right_answers(notebooks.read(course.solution("ps1"))))
        for case, (form, edit) in plan.items():
            path = course.submitted / students[case] / "ps1" / "ps1.ipynb"
            path.parent.mkdir(parents=True)
            path.write_bytes(saved(whole, form, edit))
        records = grade(course, "ps1")
        scores = read_scores(course, "ps1", records)
        found = {record.student: record for record in records}
        rows = {}
        for case, (form, edit) in plan.items():
            record, row = found[students[case]], scores.row(students[case])
            rows[case] = {
                "saved by": form,
                "keeps": FORMS[form].keeps,
                "status": record.status,
                "points": row.total,
                "of": scores.automatic,
                "remarks": list(record.remarks),
                "for a person": list(record.to_review),
            }
            if not edit:
                rows[case] |= {
                    "same notebook": same(form, Path(folder)),
                    "assignments": len(NAMES),
                    "taken from": FORMS[form].source,
                }
            print(f"{case}: {record.status}, {row.total:g} of {scores.automatic:g}", flush=True)
    missed = [case for case, row in rows.items() if row["points"] != row["of"]]
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    notebooks.write_text(RESULT, json.dumps({"machine": machine, "cases": rows}, indent=1) + "\n")
    sys.exit(MISSED if missed else 0)


if __name__ == "__main__":
    main()
