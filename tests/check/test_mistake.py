"""What a student sees of a mistake in a notebook: its sentence, not the check's own code."""

from __future__ import annotations

from IPython.core.interactiveshell import InteractiveShell

from seqcourse.check import Mistake

SENTENCE = "rnn_step: the shape of the result is right, the numbers are not. Did you forget b_hh? "


def test_a_notebook_shows_the_sentence_alone(capsys):
    shell = InteractiveShell.instance()
    outcome = shell.run_cell(
        f"from seqcourse.check import Mistake\nraise Mistake({SENTENCE.strip()!r} * 3)"
    )
    InteractiveShell.clear_instance()
    assert type(outcome.error_in_exec).__name__ == "Mistake"
    told = capsys.readouterr().out
    assert "Did you forget b_hh?" in told.replace("\n", " ")
    assert "Traceback" not in told and "run_cell" not in told
    assert max(map(len, told.splitlines())) <= 88


def test_it_is_an_assertion_error_so_that_graders_take_it_for_a_failed_test():
    assert issubclass(Mistake, AssertionError)
