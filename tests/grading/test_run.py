"""A kernel that does not start is started again; what a kernel sends is kept as it is seen."""

from __future__ import annotations

from contextlib import asynccontextmanager

import nbformat
import pytest
from nbformat.v4 import new_output

from cellgrader.errors import CourseError
from cellgrader.run.kernels import MOST_STARTS, KernelGone, Ran, Runner, _Client, merged
from cellgrader.sandbox import Warm, kernel_manager
from tests.sizes import nightly_but

from .confining import need_sandbox

WHY = "A confined kernel did not start: it ended (without a word)."


@pytest.mark.parametrize("failures", nightly_but([MOST_STARTS - 1], [MOST_STARTS - 1, MOST_STARTS]))
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


def test_outputs_are_those_of_a_cell_s_first_run(monkeypatch):
    """A probe that ends its kernel starts another one, in which cells may know what was asked."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("f()") for _ in range(3)])
    runs = []

    class Client:
        timeout, late = 0, False

        async def async_execute_cell(self, cell, index):
            cell.outputs = [] if len(runs) == 1 and index == 0 else [stream(f"{len(runs)} {index}")]
            if len(runs) > 1 and index == 2:
                raise KernelGone("ended the kernel")

    @asynccontextmanager
    async def kernel(runner):
        runs.append(runner)
        yield Client()

    async def probes(*_):
        raise KernelGone("ended")

    monkeypatch.setattr(Runner, "_kernel", kernel)
    monkeypatch.setattr(Runner, "_run_probes", probes)
    Runner(book, None, timeout=30, wall=120).run({})
    assert len(runs) > 1
    assert [cell.outputs for cell in book.cells] == [[], [stream("1 1")], [stream("1 2")]]


def stream(text: str, name: str = "stdout"):
    return new_output("stream", name=name, text=text)


def test_once_a_cell_was_stopped_the_others_have_half_the_time():
    """A notebook that hangs in every cell keeps others waiting; 30 seconds are enough for any cell."""
    book, hung = nbformat.v4.new_notebook(), Ran(stopped=[3])
    for timeout, then in ((120, 60), (50, 30), (20, 20)):
        runner = Runner(book, lambda: None, timeout=timeout, wall=600)
        assert [runner.seconds_for_a_cell(ran) for ran in (Ran(), hung)] == [timeout, then]
    assert Runner(book, lambda: None, timeout=120, wall=0).seconds_for_a_cell(hung) == 1


def test_text_is_merged_between_other_outputs():
    picture = new_output("display_data", data={"text/plain": "a figure"})
    sent = [stream("1", "stderr"), stream("a"), stream("2\n", "stderr"), stream("b\n"), picture]
    sent += [stream("c")]
    assert merged(sent) == [stream("ab\n"), stream("12\n", "stderr"), picture, stream("c")]


@pytest.mark.parametrize(
    ("sent", "seen"),
    [
        (["\r 10%", "\r 20%", "\r100%\n", "done\n"], "100%\ndone\n"),
        (["Windows\r\n", "ends\r\n"], "Windows\r\nends\r\n"),
        ([" 50%\r"], " 50%\r"),
    ],
)
def test_what_is_overwritten_goes(sent, seen):
    assert merged([stream(part) for part in sent]) == [stream(seen)]


def test_long_lines_and_many_pieces_take_no_time():
    """With nbclient's own merging each letter of a line is compared with all that follow: hours."""
    assert not _Client(nbformat.v4.new_notebook()).coalesce_streams
    long = "x" * 1_000_000
    assert merged([stream(long)]) == [stream(long)]
    assert merged([stream("y\n")] * 20_000) == [stream("y\n" * 20_000)]


def test_halves_of_characters_are_replaced():
    cell = nbformat.v4.new_code_cell("1")
    client = _Client(nbformat.v4.new_notebook(cells=[cell]))
    client.clear_before_next_output = False
    for kind, content in {
        "stream": {"name": "stdout", "text": "a\ud800"},
        "error": {"ename": "b\udfff", "evalue": "", "traceback": ["c\ud800"]},
        "display_data": {"data": {"text/plain": "d\ud800"}, "metadata": {"e\ud800": 1}},
    }.items():
        header = {"msg_type": kind, "msg_id": kind}
        client.process_message(
            {**header, "header": header, "parent_header": {}, "content": content}, cell, 0
        )
    assert len(cell.outputs) == 3
    nbformat.writes(nbformat.v4.new_notebook(cells=[cell])).encode()


@pytest.mark.parametrize(
    ("seconds", "used", "stopped"),
    [
        (4, 0.5, False),  # a busy machine gave it half a second of its three
        pytest.param(600, 0.0, True, marks=pytest.mark.nightly),  # it sleeps
        pytest.param(600, 3.5, True, marks=pytest.mark.nightly),  # it has had its time
        pytest.param(600, 0.05, True, marks=pytest.mark.nightly),  # so little is a kind of sleep
    ],
)
def test_a_cell_that_the_machine_kept_waiting_is_not_stopped(seconds, used, stopped):
    need_sandbox()
    sleeps = nbformat.v4.new_code_cell(f"import time; time.sleep({seconds}); print('done')")
    book = nbformat.v4.new_notebook(cells=[sleeps])

    with Warm(preload=()) as warm:

        def new_kernel():
            manager, readings = kernel_manager(warm=warm), iter([0.0])
            manager.used = lambda: next(readings, used)
            return manager

        ran = Runner(book, new_kernel, timeout=3, wall=120).run({})
    assert ran.stopped == ([0] if stopped else [])
    assert (book.cells[0].outputs[0].get("text") == "done\n") is not stopped


@pytest.mark.parametrize("confined", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_a_kernel_says_how_much_processor_time_it_used(confined):
    if confined:
        need_sandbox()
    burn = "import time\nwhile time.process_time() < 3: pass"
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(burn)])
    said = []

    class Client(_Client):
        async def async_execute_cell(self, *given, **named):
            done = await super().async_execute_cell(*given, **named)
            said.append(self.km.used())
            return done

    with Warm(preload=()) as warm, pytest.MonkeyPatch.context() as patch:
        patch.setattr("cellgrader.run.kernels._Client", Client)
        Runner(book, lambda: kernel_manager(confined=confined, warm=warm), timeout=60, wall=120).run({})
    assert 2.5 < said[0] < 10
