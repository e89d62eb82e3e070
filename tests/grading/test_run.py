"""A kernel that does not start is started again; one that never does is told."""

from __future__ import annotations

import nbformat
import pytest

from seqcourse.errors import CourseError
from seqcourse.grading.confine import Warm, kernel_manager
from seqcourse.grading.run import MOST_STARTS, Runner

from .confining import need_sandbox

WHY = "A confined kernel did not start: it ended (without a word)."


@pytest.mark.parametrize("failures", [MOST_STARTS - 1, MOST_STARTS])
def test_a_start_that_fails_is_repeated(failures):
    need_sandbox()
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("print(1 + 2)")])
    made = []

    async def fail(**_):
        raise CourseError(WHY)

    with Warm(preload=()) as warm:

        def new_kernel():
            made.append(kernel_manager(warm=warm))
            if len(made) <= failures:
                made[-1].start_kernel = fail
            return made[-1]

        runner = Runner(book, new_kernel, timeout=30, wall=120)
        if failures == MOST_STARTS:
            with pytest.raises(CourseError, match="did not start"):
                runner.run({})
            return
        ran = runner.run({})
    assert len(made) == MOST_STARTS and not ran.gone
    assert book.cells[0].outputs[0].text == "3\n"
