"""The kernel manager, the warm process and the exchange of files, with real kernels."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from queue import Empty

import psutil
import pytest

from cellgrader.errors import CourseError
from cellgrader.sandbox import (
    ConfinedKernelManager,
    Limits,
    SharedWarm,
    Warm,
    handover,
    kernel_manager,
    shared,
)
from tests.sizes import nightly_but

from .confining import in_sandbox, need_sandbox, open_files, processes_below, run, runs, soon, told

GRADER = Path(__file__).with_name("grader_to_kill.py")


@pytest.fixture(scope="module")
def warm():
    need_sandbox()
    with Warm(preload=("torch", "matplotlib.pyplot")) as process:
        yield process


def with_kernel(warm, use, **options):
    """What ``use(km)`` returns, with a kernel that runs."""

    async def all_of_it():
        km = ConfinedKernelManager(warm=warm, **options)
        try:
            await km.start_kernel()
            return await use(km)
        finally:
            await km.shutdown_kernel()

    return asyncio.run(all_of_it())


def test_a_notebook_runs_as_in_any_kernel(warm):
    """Values, prints, errors, magics, figures and top-level await."""

    async def use(km):
        return await run(
            km,
            "import matplotlib.pyplot as plt\nx = 6 * 7\nx",
            "print(x)\nimport sys; print('careful', file=sys.stderr)",
            "1 / 0",
            "%timeit -n 1 -r 1 -q pass\n!echo from a shell",
            "plt.plot([1, 2]);",
            "import asyncio\nawait asyncio.sleep(0, 'slept')",
        )

    notebook = with_kernel(warm, use)
    outputs = [cell.outputs for cell in notebook.cells]
    assert outputs[0][0].data["text/plain"] == "42"
    assert {(out.name, out.text) for out in outputs[1]} == {("stdout", "42\n"), ("stderr", "careful\n")}
    assert outputs[2][0].ename == "ZeroDivisionError"
    assert "from a shell" in outputs[3][0].text
    assert "image/png" in outputs[4][-1].data
    assert outputs[5][0].data["text/plain"] == "'slept'"
    assert notebook.metadata.language_info.name == "python"


@pytest.mark.nightly
def test_low_level_output_reaches_the_notebook_and_not_our_terminal(warm, capfd):
    said, _ = in_sandbox(warm, "import os\nos.write(1, b'below Python\\n');")
    assert "below Python" in said
    assert capfd.readouterr() == ("", "")


WAIT = "\nimport time; time.sleep(600)"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        pytest.param("import os\nos._exit(3)", "ended itself (exit code 3)", id="exit"),
        pytest.param(
            "import ctypes\nctypes.string_at(0)", "was ended by a signal (SIGSEGV)", id="crash"
        ),
        pytest.param(
            f"import os\nos.kill(os.getpid(), 9){WAIT}", "was ended by a signal (SIGKILL)", id="itself"
        ),
        pytest.param(
            f"import os\nos.kill(-1, 9){WAIT}", "was ended by a signal (SIGKILL)", id="everybody"
        ),
        pytest.param(
            f"import os\nos.kill(2, 9){WAIT}", "was ended by a signal (SIGKILL)", id="its holder"
        ),
    ],
)
def test_a_kernel_that_dies_says_how(warm, code, words):
    said, why_dead = in_sandbox(warm, code, "print('went on')")
    assert why_dead == words and "went on" not in said


def test_a_kernel_that_shuts_down_in_order_has_no_reason(warm):
    async def use(km):
        alive = await km.is_alive()
        await km.shutdown_kernel()
        return alive, await km.is_alive(), km.why_dead(), km.has_kernel

    assert with_kernel(warm, use) == (True, False, "", False)


def test_a_manager_can_start_one_kernel_after_the_other(warm):
    async def twice():
        km = ConfinedKernelManager(warm=warm)
        seen = []
        for code in ("import os\nos._exit(3)", "print(1)"):
            seen += [told(await run(km, code)), km.why_dead()]
            await km.shutdown_kernel()
        return seen

    assert asyncio.run(twice()) == ["", "ended itself (exit code 3)", "1\n", ""]


@pytest.mark.nightly
def test_without_a_warm_process_it_starts_its_own():
    need_sandbox()

    async def cold():
        km = ConfinedKernelManager()
        try:
            return told(await run(km, "print(6 * 7)")), km.warm.pid
        finally:
            await km.shutdown_kernel()

    said, pid = asyncio.run(cold())
    assert said == "42\n"
    assert soon(lambda: not runs(pid))


# -- the warm process --------------------------------------------------------------------------------


def test_nothing_of_one_submission_is_left_for_the_next(warm):
    soil = """
import builtins, random, sys, torch, numpy
torch.manual_seed(123); random.seed(123); numpy.random.seed(123)
torch.equal = lambda *_: True
builtins.answer = 42
sys.modules["answer"] = builtins
open("/tmp/answer", "w").write("42")
torch.set_default_dtype(torch.float64)
"""
    look = """
import builtins, os, random, sys, torch, numpy
print(hasattr(builtins, "answer"), "answer" in sys.modules, os.path.exists("/tmp/answer"))
print(torch.equal(torch.ones(1), torch.zeros(1)), torch.get_default_dtype())
chance = random.random(), numpy.random.rand(), torch.rand(1).item()
print(*chance, file=open("/exchange/chance", "w"))
"""

    async def use(km):
        return told(await run(km, look)), km.take("chance", most=1000)

    before, chance = with_kernel(warm, use)
    in_sandbox(warm, soil)
    after, another = with_kernel(warm, use)
    assert before == after and before.startswith("False False False\nFalse torch.float32")
    # Generators that nobody seeded differ from run to run, as in any kernel.
    assert chance != another and not set(chance.split()) & set(another.split())


def test_the_warm_process_has_one_thread_and_no_environment_of_ours(warm):
    assert len(os.listdir(f"/proc/{warm.pid}/task")) == 1
    environment = Path(f"/proc/{warm.pid}/environ").read_bytes()
    assert b"PYTEST" not in environment and os.fsencode(Path.home()) not in environment.split(b"\0")


@pytest.mark.nightly
def test_it_is_started_again_when_it_is_gone():
    need_sandbox()
    with Warm(preload=()) as warm:
        first = warm.pid
        os.kill(first, signal.SIGKILL)
        assert soon(lambda: warm.pid is None)
        assert in_sandbox(warm, "print(1)")[0] == "1\n"
        assert warm.pid not in (None, first)
    assert warm.pid is None


@pytest.mark.nightly
def test_clients_share_one_process_and_go_on_alone_when_it_is_gone():
    need_sandbox()

    def children() -> set[int]:
        return {child.pid for child in psutil.Process().children()}

    before = children()
    with shared(preload=()) as door:
        (pid,) = children() - before
        with SharedWarm(door, ()) as one, SharedWarm(door, ()) as other:
            for client in (one, other):
                assert in_sandbox(client, "print(1)")[0] == "1\n" and client.pid is None
            one.close()
            assert in_sandbox(other, "print(2)")[0] == "2\n" and children() == before | {pid}
            os.kill(pid, signal.SIGKILL)
            assert soon(lambda: not runs(pid))
            assert in_sandbox(other, "print(3)")[0] == "3\n" and other.pid is not None
    assert children() == before and not door.parent.exists()


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        (b"", "it ended (without a word)"),
        (b'{"ended": -9}', "it ended (-9)"),
        (b'{"failed": "no room"}', "no room"),
    ],
)
def test_a_start_is_told_in_any_order_and_so_is_an_early_end(message, sentence):
    """The kernel and its guard send on their own, and a busy machine may run either first."""

    async def listen():
        km = ConfinedKernelManager()
        km._report, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        km._report.setblocking(False)
        with km._report, theirs:
            theirs.send(b'{"listening": true}')
            theirs.send(b'{"pid": 42}')
            assert [await km._expect("pid"), await km._expect("listening")] == [42, True]
            theirs.send(message) if message else theirs.close()
            with pytest.raises(CourseError, match=re.escape(sentence)):
                await km._expect("another")

    asyncio.run(listen())


def test_its_kernels_die_with_it():
    need_sandbox()

    async def use(km):
        pids = processes_below(km.warm.pid)
        os.kill(km.warm.pid, signal.SIGKILL)
        gone = await asyncio.to_thread(soon, lambda: not any(runs(pid) for pid in pids))
        return len(pids), gone, await km.is_alive()

    with Warm(preload=()) as warm:
        count, gone, alive = with_kernel(warm, use)
    assert count >= 5 and gone and not alive


@pytest.mark.nightly
def test_a_module_that_cannot_be_imported_is_told():
    with pytest.raises(CourseError, match="no_such_module"):
        Warm(preload=("no_such_module",)).start()


@pytest.mark.nightly
def test_it_outlives_the_thread_that_started_it():
    """Linux ties children to threads where one is not careful."""
    need_sandbox()
    warm = Warm(preload=())
    thread = threading.Thread(target=warm.start)
    thread.start()
    thread.join()
    time.sleep(0.2)
    with warm:
        pid = warm.pid
        assert in_sandbox(warm, "print(1)")[0] == "1\n"
        assert warm.pid == pid


@pytest.mark.parametrize("trick", nightly_but(["stops its holder"], ["", "stops its holder"]))
def test_everything_dies_with_a_grader_that_is_killed(trick):
    need_sandbox()
    grader = subprocess.Popen(
        [sys.executable, "-m", "tests.grading.grader_to_kill", trick],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert grader.stdout.readline() == "running\n"
        pids = processes_below(grader.pid)
        # The warm process, bubblewrap, the holder with a program, the guard, the kernel, its child.
        assert len(pids) >= 7
        grader.kill()
        grader.wait()
        assert soon(lambda: not any(runs(pid) for pid in pids)), [pid for pid in pids if runs(pid)]
    finally:
        grader.kill()
        grader.stdout.close()


@pytest.mark.nightly
def test_many_kernels_leave_nothing_behind(warm):
    def state():
        groups = [path for path in Path("/sys/fs/cgroup").glob("*/cellgrader-*")]
        mine = [path for path in groups if path.name.startswith(f"cellgrader-{os.getpid()}-")]
        files = len(os.listdir(f"/proc/{warm.pid}/fd"))
        mounts = Path("/proc/self/mountinfo").read_text().count("\n")
        return open_files(), len(processes_below(warm.pid)), files, mounts, len(mine)

    in_sandbox(warm, "1")
    assert soon(lambda: not processes_below(warm.pid))
    before, threads = state(), threading.active_count()
    for code in ("1", "import os\nos._exit(1)", "x = 1 / 0", "open('/tmp/x', 'wb').write(bytes(10**7))"):
        in_sandbox(warm, code)
    assert soon(lambda: state() == before), (state(), before)
    assert threading.active_count() <= threads + 1  # asyncio may keep a worker for a while


@pytest.mark.nightly
def test_a_manager_that_is_forgotten_takes_its_sandbox_with_it():
    """The grader may lose its way; closing its end of a socket is enough."""
    need_sandbox()

    async def forget(warm):
        km = ConfinedKernelManager(warm=warm)
        await km.start_kernel()
        pids = processes_below(warm.pid)
        km._report.close()
        gone = await asyncio.to_thread(soon, lambda: not any(runs(pid) for pid in pids))
        km._report = None
        await km.shutdown_kernel()
        return gone

    with Warm(preload=()) as warm:
        assert asyncio.run(forget(warm))


# -- files -------------------------------------------------------------------------------------------


def test_files_go_in_and_out(warm):
    async def use(km):
        km.put("in", b"6 7")
        km.put("in", b"7 8")  # in place of the first
        code = "a, b = open('/exchange/in').read().split()\nopen('/exchange/out', 'w').write(a * int(b))"
        said = told(await run(km, code))
        return said, km.take("out", most=100), km.take("out", most=7), km.take("none", most=7)

    assert with_kernel(warm, use) == ("8\n", b"77777777", None, None)


def test_take_follows_and_waits_for_nothing(warm, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    tmp_path.chmod(0o755)
    code = f"""
import os, socket
os.chdir("/exchange")
os.symlink({str(secret)!r}, "link")
os.symlink("/proc/1/root", "folder link")
os.mkfifo("pipe")
os.mkdir("folder")
open("huge", "wb").truncate(50 << 20)
socket.socket(socket.AF_UNIX).bind("socket")
os.link("/exchange/huge", "hard")
open("locked", "w").write("x"); os.chmod("locked", 0)
print(sorted(os.listdir()))
"""

    async def use(km):
        said = told(await run(km, code))
        names = ("link", "folder link", "pipe", "folder", "huge", "hard", "socket")
        return said, [km.take(name, most=1 << 20) for name in names]

    said, taken = with_kernel(warm, use, limits=Limits(file_size=100 << 20))
    assert "'pipe'" in said and "'socket'" in said
    assert taken == [None] * 7


def test_put_writes_where_it_should_whatever_stands_there(warm, tmp_path):
    target = tmp_path / "target"
    target.write_text("before")
    code = f"""
import os
os.symlink({str(target)!r}, "/exchange/link")
os.mkdir("/exchange/folder")
"""

    async def use(km):
        await run(km, code)
        km.put("link", b"inside")
        with pytest.raises(CourseError, match="prevents that"):
            km.put("folder", b"x")
        return km.take("link", most=100)

    assert with_kernel(warm, use) == b"inside"
    assert target.read_text() == "before"


def test_put_says_when_the_folder_is_full(warm):
    fill = "f = open('/exchange/x', 'wb')\nwhile True: f.write(bytes(1 << 20)); f.flush()"

    async def use(km):
        said = told(await run(km, fill))
        with pytest.raises(CourseError, match="No space left"):
            km.put("request", bytes(3 << 20))
        return said

    assert "No space left" in with_kernel(warm, use, limits=Limits(exchange=2 << 20))


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../x", "a\0b"])
def test_only_plain_names_are_exchanged(name):
    with pytest.raises(CourseError, match="plain name"):
        handover.take(0, name, most=1)


def test_files_need_a_kernel_that_runs():
    with pytest.raises(CourseError, match="none does"):
        ConfinedKernelManager(warm=Warm(preload=())).put("x", b"")


# -- lies over the wire ------------------------------------------------------------------------------

FORGE = """
from ipykernel.kernelapp import IPKernelApp
app = IPKernelApp.instance()
socket, session = app.kernel.iopub_socket, app.session
"""


@pytest.mark.parametrize(
    "parts",
    [
        "[b'x', b'<IDS|MSG>', b'bad signature', b'{}', b'{}', b'{}', b'{}']",
        "[b'x', b'no delimiter']",
        "[b'x', b'<IDS|MSG>', session.sign([b'1', b'2', b'3', b'4']), b'1', b'2', b'3', b'4']",
        "[b'x', b'<IDS|MSG>', session.sign([deep, b'{}', b'{}', b'{}']), deep, b'{}', b'{}', b'{}']",
    ],
    ids=["signature", "delimiter", "types", "depth"],
)
def test_a_forged_message_ends_the_kernel_and_not_the_grader(warm, parts):
    code = f"{FORGE}\ndeep = b'[' * 100_000\nsocket.send_multipart({parts})"
    said, why_dead = in_sandbox(warm, code, "import time\ntime.sleep(30)\nprint('went on')")
    assert why_dead == "sent an invalid message" and "went on" not in said


def test_nobody_waits_for_a_kernel_that_has_gone_to_take_a_message(warm):
    """A cell may end its kernel just before the next one is sent: that must not stop the grader."""

    async def use(km):
        client = km.client()
        client.start_channels()
        await client.wait_for_ready(timeout=60)
        km.end("was ended here")
        try:
            for _ in range(50):
                client.execute("1 + 1")
            answers = []  # what was on its way when the kernel ended may arrive
            with pytest.raises(Empty):
                while len(answers) < 50:
                    answers.append(await client.get_shell_msg(timeout=5))
        finally:
            client.stop_channels()
        assert km.why_dead() == "was ended here" and not await km.is_alive()

    with_kernel(warm, use)


def test_a_kernel_that_hangs_up_is_ended(warm):
    code = """
import os, time
for number in range(3, 200):
    try:
        os.close(number)
    except OSError:
        pass
time.sleep(600)
"""
    _, why_dead = in_sandbox(warm, code)
    assert why_dead


def test_a_link_in_place_of_a_socket_leads_nowhere(warm, tmp_path):
    """The client connects once, before any code of the student has run, and never again."""

    async def use(km):
        client = km.client()
        client.start_channels()
        await client.wait_for_ready(timeout=60)
        code = """
import os
for name in os.listdir("/run"):
    os.rename(f"/run/{name}", f"/tmp/{name}")
    os.symlink("/proc/1/root/etc/passwd", f"/run/{name}")
"""
        await client.execute_interactive(code, output_hook=lambda _: None)
        reply = await client.execute_interactive("1", output_hook=lambda _: None, timeout=60)
        return reply["content"]["status"]

    assert with_kernel(warm, use) == "ok"


# -- without confinement -----------------------------------------------------------------------------


@pytest.mark.nightly
def test_the_plain_manager_has_the_same_interface(monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_GRADER", "42")

    async def plain():
        km = kernel_manager(confined=False)
        code = f"""
import json, os
told = json.load(open(os.path.join({"{exchange!r}"}, "in")))
open(os.path.join({"{exchange!r}"}, "out"), "w").write(str(sum(told)))
print("SECRET_OF_THE_GRADER" in os.environ, os.listdir())
"""
        try:
            await km.start_kernel()
            folder = Path(km.exchange)
            km.put("in", json.dumps([1, 2]).encode())
            said = told(await run(km, code.replace("{exchange!r}", repr(km.exchange))))
            taken = km.take("out", most=10), km.take("out", most=0), km.take("none", most=10)
            await run(km, "import os\nos._exit(3)")
            return said, taken, km.why_dead(), folder
        finally:
            await km.shutdown_kernel(now=True)

    said, taken, why_dead, folder = asyncio.run(plain())
    assert said == "False ['.ipython']\n"
    assert taken == (b"3", None, None)
    assert why_dead == "ended itself (exit code 3)"
    assert not folder.exists()
