"""What code in a sandbox sees, reaches and may do: nothing but its own."""

from __future__ import annotations

import ast
import asyncio
import os
import socket
import sys
from pathlib import Path

import pytest

import seqcourse
from cellgrader.errors import CourseError
from cellgrader.sandbox import ConfinedKernelManager, Limits, Warm, available, bubblewrap

from .confining import in_sandbox, need_sandbox, processes_below, run, told

PACKAGE = Path(seqcourse.__file__).resolve().parent


@pytest.fixture(scope="module")
def warm():
    need_sandbox()
    with Warm(preload=()) as process:
        yield process


def outcome(warm, source: str, **options) -> str:
    """What one cell told; the kernel must have lived through it."""
    said, why_dead = in_sandbox(warm, source, **options)
    assert why_dead == ""
    return said.strip()


def test_only_what_is_listed_can_be_seen(warm):
    walk = """
import os
seen = {}
for place in ("/", "/etc", "/dev", "/tmp", "/exchange"):
    seen[place] = sorted(os.listdir(place))
print(seen)
"""
    seen = ast.literal_eval(outcome(warm, walk))
    tops = {Path(place).parts[1] for place in bubblewrap.visible()}
    links = {link.name for link in bubblewrap.LINKS if link.exists()}
    assert set(seen["/"]) == tops | links | {"dev", "etc", "exchange", "proc", "run", "tmp"}
    assert set(seen["/etc"]) <= {"alternatives", "fonts", "group", "ld.so.cache", "passwd"}
    devices = {"null", "zero", "full", "random", "urandom", "tty"}
    others = {"core", "fd", "ptmx", "pts", "shm", "stderr", "stdin", "stdout"}
    assert set(seen["/dev"]) <= devices | others
    assert seen["/exchange"] == []


def test_the_course_and_the_home_are_not_there(warm, tmp_path):
    root = PACKAGE.parent
    places = [
        root / name for name in ("solutions", "grading", "assignments", ".git", "nbgrader_config.py")
    ]
    places += [Path.home() / ".ssh", Path.home() / ".bashrc", tmp_path, Path("/etc/shadow")]
    places += [Path("/etc/hostname"), Path("/var"), Path("/usr/local/etc"), Path(sys.prefix) / "etc"]
    check = f"import os\nprint([place for place in {[str(p) for p in places]} if os.path.exists(place)])"
    assert outcome(warm, check) == "[]"


def test_the_package_and_the_libraries_are_there(warm):
    check = """
import numpy, seqcourse, torch
from seqcourse import zoo
print(len(zoo.names()) > 0, torch.ones(2).sum().item())
"""
    assert outcome(warm, check) == "True 2.0"


def test_a_folder_that_is_asked_for_can_be_read_and_not_written(warm, tmp_path):
    (tmp_path / "words").write_text("agua")
    tmp_path.chmod(0o755)
    check = f"""
print(open({str(tmp_path / "words")!r}).read())
open({str(tmp_path / "more")!r}, "w")
"""
    said = outcome(warm, check, more=[tmp_path])
    assert said.startswith("agua") and "Read-only file system" in said
    assert [path.name for path in tmp_path.iterdir()] == ["words"]


def test_a_folder_that_only_root_can_read_is_named(warm, tmp_path):
    from cellgrader.sandbox import unprivileged

    if not unprivileged.can_step_down():
        pytest.skip("Only where root steps down somebody else has to read the folder.")
    tmp_path.chmod(0o700)
    with pytest.raises(CourseError, match="readable by everybody.*chmod"):
        outcome(warm, "1", more=[tmp_path])


@pytest.mark.parametrize(
    "place",
    ["/x", "/usr/x", "/etc/x", "/dev/x", "/proc/self/comm", "/proc/sys/kernel/core_pattern"]
    + ["/proc/sys/kernel/hostname", "/sys/x", str(PACKAGE / "x"), str(PACKAGE / "__init__.py")],
)
def test_nothing_outside_of_the_scratch_folder_can_be_written(warm, place):
    said = outcome(warm, f"file = open({place!r}, 'a')\nprint('written')")
    assert "Read-only" in said or "No such file" in said or "Permission denied" in said
    assert "written" not in said


def test_scratch_can_be_written_and_is_empty_the_next_time(warm):
    write = "import os\nprint(os.listdir())\nopen('x', 'w').write('1')\nprint(os.path.abspath('x'))"
    for _ in range(2):
        said = outcome(warm, write)
        assert "'x'" not in said.split("]")[0] and said.endswith("/tmp/x")


def test_there_is_no_network(warm):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        check = f"""
import socket
print(socket.if_nameindex())
for address in (("127.0.0.1", {port}), ("192.0.2.1", 80)):
    try:
        socket.create_connection(address, 5)
        print("connected")
    except OSError as error:
        print(type(error).__name__)
"""
        said = outcome(warm, check)
        assert "connected" not in said
        server.settimeout(0.1)
        with pytest.raises(TimeoutError):
            server.accept()


def test_sockets_of_the_machine_are_not_there(warm, tmp_path):
    """Files cannot be seen, and names without a file belong to the network namespace."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0seqcourse-test")
        server.listen()
        check = r"""
import socket
with socket.socket(socket.AF_UNIX) as client:
    client.connect("\0seqcourse-test")
"""
        assert "ConnectionRefusedError" in outcome(warm, check)


def test_the_environment_is_ours(warm, monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_GRADER", "42")
    with Warm(preload=()) as fresh:
        check = """
import os
print(sorted(os.environ))
print(open("/proc/self/environ").read())
"""
        said = outcome(fresh, check)
    assert "SECRET" not in said
    names = set(ast.literal_eval(said.splitlines()[0]))
    # Jupyter's kernel adds some of its own.
    assert set(bubblewrap.environment()) <= names
    assert not names & {name for name in os.environ if name.startswith(("PYTEST", "JPY", "VIRTUAL"))}


def test_it_has_no_privileges_and_gets_none(warm):
    check = """
import os
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print({name: int(status[name], 16) for name in status if name.startswith("Cap")})
print(status["NoNewPrivs"].split(), os.getresuid(), os.getresgid())
"""
    capabilities, others = outcome(warm, check).splitlines()
    assert set(ast.literal_eval(capabilities).values()) == {0}
    assert others == "['1'] (1000, 1000, 1000) (1000, 1000, 1000)"


def test_outside_it_is_never_root(warm):
    """Its files belong to whoever grades; to nobody when that is root, if others can read Python."""
    from cellgrader.sandbox import unprivileged

    expected = unprivileged.NOBODY if unprivileged.can_step_down() else os.geteuid()

    async def owners() -> set[str]:
        km = ConfinedKernelManager(warm=warm)
        try:
            await km.start_kernel()
            pids = processes_below(warm.pid)
            texts = [Path(f"/proc/{pid}/status").read_text() for pid in pids]
            return {identity for text in texts for identity in text.split("Uid:")[1].split()[:4]}
        finally:
            await km.shutdown_kernel()

    assert asyncio.run(owners()) == {str(expected)}


@pytest.mark.parametrize("flag", [0x10000000, 0x20000, 0x40000000, 0x20000000])
def test_no_new_namespace_can_be_made(warm, flag):
    check = f"import ctypes\nprint(ctypes.CDLL(None).unshare({flag}))"
    assert outcome(warm, check) == "-1"


def test_namespaces_cannot_be_switched_on_by_another_call(warm):
    """clone can make user namespaces, too; the sandbox's own limit on them is what counts."""
    check = """
import ctypes, os, signal
number = 56 if os.uname().machine == "x86_64" else 220
pid = ctypes.CDLL(None).syscall(number, 0x10000000 | 17, 0, 0, 0, 0)
print("refused" if pid < 0 else "made")
if pid == 0: os._exit(0)
"""
    assert outcome(warm, check) == "refused"


def test_other_processes_cannot_be_seen_or_touched(warm):
    check = f"""
import os, signal
print(sorted(int(name) for name in os.listdir("/proc") if name.isdigit()), os.getppid())
try:
    os.kill({os.getpid()}, signal.SIGTERM)
    print("killed")
except OSError as error:
    print(type(error).__name__)
"""
    said = outcome(warm, check)
    assert said == "[1, 2, 3] 0\nProcessLookupError"


def test_nothing_of_ours_is_open_in_it(warm):
    """Every file it has was opened by Jupyter's kernel in the sandbox."""
    check = """
import os
for name in os.listdir("/proc/self/fd"):
    try:
        target = os.readlink(f"/proc/self/fd/{name}")
    except OSError:
        continue
    if not target.startswith(("socket:", "pipe:", "anon_inode:", "/dev/null", "/proc/")):
        print(target)
print(open("/proc/net/unix").read().count("@"))
"""
    assert outcome(warm, check) == "0"


def test_calls_that_no_notebook_needs_are_refused(warm):
    from cellgrader.sandbox import calls

    if calls.library() is None:
        pytest.skip("System calls are filtered by libseccomp, which is not here.")
    check = """
import ctypes, os, socket
C = ctypes.CDLL(None, use_errno=True)
print(C.ptrace(16, 1, 0, 0), ctypes.get_errno())
for make in (lambda: os.memfd_create("x"), lambda: socket.socket(40, 1), lambda: socket.socket(38, 5)):
    try:
        print(make())
    except PermissionError:
        print("refused")
print(C.shmget(0, 4096, 0o1600))
"""
    assert outcome(warm, check) == "-1 1\nrefused\nrefused\nrefused\n-1"


def test_two_sandboxes_know_nothing_of_each_other(warm):
    async def both() -> list[str]:
        one, two = (ConfinedKernelManager(warm=warm) for _ in range(2))
        try:
            write = "open('/tmp/answer', 'w').write('42')\nopen('/exchange/answer', 'w').write('42')"
            shm = "\nopen('/dev/shm/answer', 'w').write('42')"
            await run(one, write + shm)
            one.put("mine", b"1")
            look = """
import os
for place in ("/tmp", "/exchange", "/dev/shm"):
    print("answer" in os.listdir(place))
print(sorted(int(name) for name in os.listdir("/proc") if name.isdigit()))
"""
            return [told(await run(two, look)), str(two.take("mine", most=10))]
        finally:
            await one.shutdown_kernel()
            await two.shutdown_kernel()

    assert asyncio.run(both()) == ["False\nFalse\nFalse\n[1, 2, 3]\n", "None"]


def test_a_package_beside_its_course_is_seen_without_it(monkeypatch, tmp_path):
    """The course's folder is on the search path of a checkout; it is not among the visible ones."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(PACKAGE.parent), str(tmp_path), ""])
    places = bubblewrap.visible()
    assert PACKAGE in places
    assert not any(PACKAGE.parent == place or place in PACKAGE.parent.parents for place in places)
    assert tmp_path not in places and Path.home() not in places


def test_installed_packages_elsewhere_are_seen(monkeypatch, tmp_path):
    folder = tmp_path / "lib" / "site-packages"
    folder.mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    assert folder in bubblewrap.visible()


def test_without_bubblewrap_it_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "apt-get install bubblewrap" in available.refusal.__wrapped__()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere it refuses anyway")
@pytest.mark.parametrize(
    ("does", "words"),
    [
        ("echo bubblewrap 0.6.1", ["0.8 or newer", "0.6.1"]),
        (
            'case $1 in --version) echo bubblewrap 0.9.0;; *) echo "no permissions" >&2; exit 1;; esac',
            ["no permissions", "user namespaces"],
        ),
    ],
)
def test_a_bubblewrap_that_does_not_work_is_found_out(monkeypatch, tmp_path, does, words):
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\n{does}\n")
    program.chmod(0o755)
    tmp_path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr("cellgrader.sandbox.unprivileged.can_step_down", lambda: False)
    sentence = available.refusal.__wrapped__()
    assert all(word in sentence for word in words), sentence


def test_elsewhere_than_on_linux_it_refuses(monkeypatch):
    monkeypatch.setattr(available.sys, "platform", "darwin")
    assert "needs Linux" in available.refusal.__wrapped__()


def test_a_module_that_starts_threads_cannot_be_preloaded(tmp_path, monkeypatch):
    """A fork copies one thread; locks of the others would stay closed for ever."""
    need_sandbox()
    from cellgrader.sandbox import server

    requests, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with requests, other:
        monkeypatch.setattr(server, "threads", lambda: 2)
        asked = {"limits": vars(Limits()), "more": [], "groups": [], "connection": {}}
        with pytest.raises(CourseError, match="one thread"):
            server.Server(requests, os.getpid()).start(asked, other)
