"""`grade` on a small class: what is graded once stays, what changed is graded again, and who dies."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

import psutil
import pytest
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory

from cellgrader import bounds
from cellgrader.course.folders import Course
from cellgrader.course.gradebook import open_gradebook
from cellgrader.course.records import read_record
from cellgrader.course.snapshot import folder_snapshot
from cellgrader.errors import CourseError, in_words
from cellgrader.grade.how import How
from cellgrader.grade.submissions import Run, grade
from cellgrader.marks.export import read_course, write_table
from cellgrader.marks.scores import read_scores
from cellgrader.notebook import document as notebooks
from cellgrader.pages.feedback import make_feedback
from cellgrader.processes.interrupt import deferred, held_back
from cellgrader.processes.pool import Died
from cellgrader.release import sample
from cellgrader.release.generate import release
from cellgrader.sandbox import refusal
from cellgrader.submission.collected import Submission
from cellgrader.with_nbgrader.preprocess import say_closed
from cellgrader.with_nbgrader.save import Saver
from cellgrader.with_nbgrader.transaction import one_transaction
from seqcourse import cli

from . import state
from .as_user import USER
from .elsewhere import dask_processes
from .here import examine_here

confined = pytest.mark.skipif(bool(refusal()), reason=refusal() or "there is a sandbox")


@pytest.fixture(scope="module")
def handed_in_once(released_toy, tmp_path_factory):
    course = Course(tmp_path_factory.mktemp("handed-in") / "course")
    shutil.copytree(released_toy.root, course.root)
    release(course, target=course.folder / "released")
    sample.make_submissions(course, "ps1", ("perfect", "half", "empty", "broken"))
    return course


@pytest.fixture
def handed_in(handed_in_once, tmp_path):
    """A fresh copy of a class that has handed in."""
    shutil.copytree(handed_in_once.root, tmp_path / "course")
    return Course(tmp_path / "course")


def points(course) -> dict[str, float | None]:
    records = [read_record(course, "ps1", student) for student in course.students("ps1")]
    return {row.student: row.total for row in read_scores(course, "ps1", records).rows}


def test_what_is_written_about_a_submission_is_written_at_once(toy):
    open_gradebook(toy)
    url = toy.gradebook_url

    def students() -> list[str]:
        with closing(sqlite3.connect(toy.folder / "gradebook.db")) as database:
            return [name for (name,) in database.execute("SELECT id FROM student")]

    with one_transaction(url), Gradebook(url) as first:
        first.add_student("ada")
        with Gradebook(url) as second:
            assert [student.id for student in second.students] == ["ada"]
        assert not students()
    assert students() == ["ada"]
    with pytest.raises(ZeroDivisionError), one_transaction(url), Gradebook(url) as first:
        first.add_student("ben")
        raise ZeroDivisionError
    assert students() == ["ada"]
    with Gradebook(url) as alone:
        alone.add_student("cy")
        assert students() == ["ada", "cy"]


def test_nothing_is_graded_twice(handed_in, monkeypatch):
    examine_here(monkeypatch)
    first = grade(handed_in, "ps1", how=How(workers=1))
    assert [record.status for record in first] == ["unreadable", "graded", "graded", "graded"]
    assert not any(record.before for record in first)
    everything = state.files(handed_in)
    times = {path: path.stat().st_mtime_ns for path in handed_in.autograded.rglob("*")}

    told = []
    second = grade(handed_in, "ps1", tell=told.append, begun=pytest.fail)
    assert second == first and told == second
    assert all(record.before for record in second)
    assert {path: path.stat().st_mtime_ns for path in handed_in.autograded.rglob("*")} == times

    # A changed submission is graded again, and only that one.
    target = handed_in.submitted / "empty" / "ps1" / "ps1.ipynb"
    target.write_bytes((handed_in.submitted / "perfect" / "ps1" / "ps1.ipynb").read_bytes())
    third = {record.student: record for record in grade(handed_in, "ps1")}
    assert [student for student, record in third.items() if not record.before] == ["empty"]
    assert points(handed_in) == {"broken": None, "empty": 10, "half": 6, "perfect": 10}
    assert {student: record.attempt for student, record in third.items()} == {
        **dict.fromkeys(("broken", "half", "perfect"), 1),
        "empty": 2,
    }

    # So is everything when its checks change, or when somebody asks for it.
    checks = handed_in.solutions / "checks" / "ps1.py"
    checks.write_text(checks.read_text().replace("lambda x: 2 * x", "lambda x: 3 * x"))
    fourth = grade(handed_in, "ps1", ["perfect"])
    assert not fourth[0].before
    assert points(handed_in)["perfect"] == 7
    run = Run(handed_in, "ps1", How().options(handed_in), tell=print)
    (perfect,) = run.submissions(["perfect"])
    assert run.is_done(perfect, again=False) and not run.is_done(perfect, again=True)
    assert set(everything) == set(state.files(handed_in))


SILENT = r"(seqcourse: Interrupted; [^\n]*\n)?(Aborted!?\.?\n)?"


@confined
@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is another matter there")
@pytest.mark.nightly  # in every run: one that comes while it grades, below
@pytest.mark.parametrize("moments", [40])
def test_ctrl_c_is_silent_at_any_moment(handed_in, moments):
    """While Python, nbgrader, the fork server and the workers start, nothing of theirs is printed."""
    (handed_in.root / "book").mkdir()
    command = [sys.executable, "-m", "seqcourse.cli", "grade", "ps1", "--workers", "2", "--again"]
    for number in range(moments):
        process = subprocess.Popen(
            command,
            cwd=handed_in.root,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.5 + 8 * number / moments)
        with contextlib.suppress(ProcessLookupError):  # it was done
            os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=120)
        assert re.fullmatch(SILENT, said), said
        # Killed by the signal before any of our code ran, ended by it, or done before.
        assert process.returncode in (-signal.SIGINT, 130, 0)


def test_the_fork_server_leaves_interrupts_to_the_command():
    """From its first instruction: it is started without them, and then ignores them."""
    code = "import signal; before = signal.pthread_sigmask(signal.SIG_BLOCK, ())\n"
    code += "import cellgrader.processes.ignore_interrupts\n"
    code += (
        "print(before, signal.pthread_sigmask(signal.SIG_BLOCK, ()), signal.getsignal(signal.SIGINT))"
    )
    with held_back():
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "{<Signals.SIGINT: 2>} set() 1"
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is another matter there")
@pytest.mark.parametrize("deferring", [False, True])
def test_an_interrupt_waits_for_the_end_of_an_import(tmp_path, deferring):
    """Interrupted as it loads, PyTorch would end the process with words of C++."""
    interrupt = "import signal; signal.raise_signal(signal.SIGINT); print('loaded')\n"
    (tmp_path / "interrupted.py").write_text(interrupt)
    run = "import interrupted, time; time.sleep(600); print('went on')"
    if deferring:
        begin = "from cellgrader.processes.interrupt import DeferredInterrupt\n"
        run = f"{begin}with DeferredInterrupt(): {run}"
    code = f"import sys, types, seqcourse.cli\ndef app():\n    exec({run!r}, {{}})\n"
    code += "sys.modules['seqcourse.cli.app'] = types.SimpleNamespace(app=app); seqcourse.cli.main()"
    command = [sys.executable, "-c", code]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path(cli.__file__).parents[2])]),
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (130, "loaded\n", "")


@pytest.mark.parametrize("block", [deferred, held_back])
def test_an_interrupt_waits_for_the_end_of_a_block(block):
    done = []
    with pytest.raises(KeyboardInterrupt), block():
        signal.raise_signal(signal.SIGINT)
        done.append(1)
    assert done


def test_an_interrupt_that_python_ignored_comes_again(monkeypatch):
    """In a destructor or a weak reference's callback, Python prints the error and goes on."""
    monkeypatch.setattr(sys, "unraisablehook", cli._repeat_interrupts)
    # What was started in the background of a script ignores interrupts, and so do its children.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    class Ends:
        def __del__(self) -> None:
            raise KeyboardInterrupt

    try:
        with pytest.raises(KeyboardInterrupt):
            Ends()
            for _ in range(600):
                threading.Event().wait(0.1)
    finally:
        signal.signal(signal.SIGINT, before)


@confined
def test_one_submission_stops_nobody(handed_in, monkeypatch):
    """Not by its name, by what lies in its folder, by what it prints, nor by an error of ours."""
    released = notebooks.read(handed_in.assignments / "ps1" / "ps1.ipynb")
    halves = "k = get_ipython().kernel\nk.session.pack = lambda o: json.dumps(o, default=str).encode()\n"
    halves = f"import json\n{halves}print('\\ud800')\nraise ValueError('\\udfff')"
    names = ("J\udcf6rg", "N" * 255, "line\nend", "halves", "no pack", "no save", "odd", "perfect")
    folders = {student: handed_in.submitted / student / "ps1" for student in names}
    for student, folder in folders.items():
        answers = {"double": halves} if student == "halves" else {}
        notebooks.write(sample.answered(released, answers), folder / "ps1.ipynb")
    os.mkfifo(os.fsencode(folders["odd"]) + b"/p\xffpe")
    (folders["odd"] / "timestamp.txt").write_text("2026-02-03 04:05:06 ../x")
    (folders["halves"] / "timestamp.txt").write_text("2026-02-03 04:05:06 " + 300 * "x")
    for name in ("torch.py", "sitecustomize.py", "x.pth", "nbgrader_config.py", "data/words.txt"):
        (folders["perfect"] / name).parent.mkdir(exist_ok=True)
        (folders["perfect"] / name).write_text("raise SystemExit")

    def fail(student: str, work):
        def either(*given):
            if student in str(given):
                raise RecursionError("too deep")
            return work(*given)

        return either

    monkeypatch.setattr(
        "cellgrader.submission.attempts.folder_snapshot", fail("/no pack/", folder_snapshot)
    )
    monkeypatch.setattr(Saver, "_write_stage", fail("/no save/", Saver._write_stage))
    sentences = {
        "J\udcf6rg": "in UTF-8, but J?rg is not",
        "N" * 255: "at most 240 bytes",
        "line\nend": "without line ends and other control characters, but is line?end",
        "no pack": "could not be graded: RecursionError: too deep.",
        "no save": "could not be graded: RecursionError: too deep.",
    }
    with nested(folders["odd"]):
        records = {record.student: record for record in grade(handed_in, "ps1", names, How(workers=1))}
        # The next run, too: what failed here is tried again, the rest stays.
        (broken,) = (run := Run(handed_in, "ps1", {}, tell=print)).submissions(["no pack"])
        assert not run.is_done(broken, again=False)
        again = [student for student in names if student not in ("no pack", "no save")]
        assert grade(handed_in, "ps1", again, begun=pytest.fail) == [records[name] for name in again]
    statuses = {student: records[student].status for student in names if student not in sentences}
    assert statuses == {"halves": "crashed", "odd": "graded", "perfect": "graded"}
    for student, sentence in sentences.items():
        assert records[student].status == "failed" and sentence in records[student].sentence
    assert records["halves"].sentence.endswith("Ignored: timestamp.txt (not a time).")
    assert records["odd"].sentence == (
        f"Ignored: p?pe (not a regular file), {'d/' * bounds.DEPTH}d "
        f"(in more than {bounds.DEPTH} folders), "
        f"timestamp.txt (not a time)."
    )
    # An instructor's kernel can import nothing that a student handed in.
    assert [path.name for path in (handed_in.autograded / "perfect" / "ps1").iterdir()] == ["ps1.ipynb"]
    assert read_record(handed_in, "ps1", "J\udcf6rg") == records["J\udcf6rg"]
    make_feedback(handed_in, "ps1", "halves")
    write_table(read_course(handed_in, "ps1"), "ps1", handed_in.root / "export.csv")
    assert "J?rg" in (handed_in.root / "export.csv").read_text(encoding="utf-8")


@contextlib.contextmanager
def nested(place):
    """More folders in folders than Python's recursion can follow."""
    folders = [place.joinpath(*["d"] * depth) for depth in range(1, sys.getrecursionlimit() + 500)]
    for folder in folders:
        folder.mkdir()
    try:
        yield
    finally:
        for folder in reversed(folders):
            folder.rmdir()


def test_a_folder_that_nobody_may_open_is_a_failed_record(caplog):
    """Of the student, of the assignment, or within: a sentence each, and no silence."""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:  # where another account may come
        course = Course(Path(place))
        closed = ("ada", "ben/ps1", "eve/ps1/data")
        for folder in (course.submitted / path for path in ("ada/ps1", *closed[1:], "joe")):
            folder.mkdir(parents=True)
        with nobodys(place, [course.submitted / path for path in closed]):
            assert course.students("ps1") == ["ada", "ben", "eve"] and course.without("ps1") == ["joe"]
            run = Run.__new__(Run)
            run.course, run.name = course, "ps1"
            for student in ("ada", "ben"):
                with pytest.raises(CourseError) as refused:
                    folder_snapshot(course.submitted / student / "ps1")
                died = Died(in_words(refused.value))
                (record,) = run.save(None, Submission((student,)), died)
                assert record.status == "failed" and read_record(course, "ps1", student) == record
                assert record.sentence == (
                    f"This submission could not be graded: whoever grades should be able to read "
                    f"{student}/ps1, but the system refuses. "
                    f"Change the rights: chmod -R u+rwX {student}."
                )
            said = folder_snapshot(course.submitted / "eve" / "ps1").sentence()
            assert said == "Ignored: data (Permission denied)."
            folders = {"root": place, "submitted_directory": str(course.submitted)}
            say_closed(Autograde(coursedir=CourseDirectory(assignment_id="ps1", **folders)))
            for student in ("ada", "ben"):
                assert f"graded: whoever grades should be able to read {student}/ps1, but" in caplog.text
            assert "eve/" not in caplog.text and "joe/" not in caplog.text


@contextlib.contextmanager
def nobodys(place, closed):
    """Folders that only root can open, seen by an account that is not root."""
    root = os.geteuid() == 0
    if root:
        for path in (Path(place), *Path(place).rglob("*")):
            os.chown(path, USER, USER)
        os.seteuid(USER)
    for path in closed:
        path.chmod(0)
    try:
        yield
    finally:
        for path in closed:
            path.chmod(0o700)
        if root:
            os.seteuid(0)


def test_what_a_grade_depends_on(handed_in):
    """Each of these, and nothing else, changes a submission's fingerprint."""

    def fingerprint(**options) -> str:
        run = Run(handed_in, "ps1", {"timeout": None, **options}, tell=print)
        work = folder_snapshot(handed_in.submitted / "half" / "ps1")
        return run.fingerprint(Submission(("half",), "half", 1, work))

    seen = {fingerprint()}

    def changed() -> bool:
        before = len(seen)
        seen.add(fingerprint())
        return len(seen) > before

    assert not changed()
    (handed_in.submitted / "perfect" / "ps1" / "more.txt").write_text("somebody else's")
    (handed_in.solutions / "checks" / "ps2.py").write_text("CHECKS = []")
    assert not changed()
    (handed_in.submitted / "half" / "ps1" / "more.txt").write_text("words")
    assert changed()
    (handed_in.submitted / "half" / "ps1" / "link").symlink_to("more.txt")
    assert changed()
    (handed_in.submitted / "half" / "ps1" / "timestamp.txt").write_text("2026-02-03 04:05:06 UTC")
    assert changed()
    (handed_in.solutions / "ps1" / "data.txt").write_text("beside the instructor's notebook")
    assert changed()
    with (handed_in.root / "nbgrader_config.py").open("a") as file:
        file.write("\n# another line\n")
    assert changed()
    (handed_in.folder / "secret").write_bytes(b"t" * 32)
    assert changed()

    # What being late costs is computed whenever points are read: a new date grades nobody again.
    with Gradebook(handed_in.gradebook_url) as gradebook:
        gradebook.update_or_create_assignment("ps1", duedate="2026-02-01 00:00:00 UTC")
    (handed_in.root / "course.toml").write_text("late.share_per_day = 0.1\n")
    assert not changed()
    assert fingerprint(timeout=5) not in seen


@confined
def test_a_dying_worker_stops_nobody(handed_in):
    """Whoever begins this submission is killed; that is a status, and the run ends all the same."""
    killed = []

    def kill_worker(student: str) -> None:
        """Called in a thread of the pool's when a job begins."""
        for process in worker_processes():
            process.kill()
            killed.append(process.pid)

    (record,) = grade(handed_in, "ps1", ["half"], How(workers=1, timeout=100), begun=kill_worker)
    assert len(set(killed)) == 2
    assert record.status == "failed"
    assert "died, twice" in record.sentence
    # What failed is tried again the next time, without being asked for.
    run = Run(handed_in, "ps1", {}, tell=print)
    assert not run.is_done(Submission(("half",), "half"), again=False)


def worker_processes() -> list[psutil.Process]:
    """The workers: what the server forked that this process started, not what they start."""
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            if "forkserver" in " ".join(child.cmdline()):
                found += child.children()
    return found


@pytest.mark.nightly  # the cluster itself: test_cluster
@confined
def test_on_a_cluster_that_is_there_already(handed_in, tmp_path):
    with dask_processes(tmp_path) as address:
        records = grade(handed_in, "ps1", how=How(scheduler=address))
    assert [record.status for record in records] == ["unreadable", "graded", "graded", "graded"]
    assert points(handed_in) == {"broken": None, "empty": 0, "half": 6, "perfect": 10}
    # Nothing of the class is left on the workers.
    assert not list(tmp_path.rglob("grading-*"))


def test_without_a_release_nothing_is_graded(toy):
    (toy.submitted / "ada" / "ps1").mkdir(parents=True)
    with pytest.raises(CourseError, match="ps1 should have been released before it is graded"):
        grade(toy, "ps1")
    assert not toy.records.exists()


def test_without_a_sandbox_nothing_is_run(handed_in, monkeypatch):
    from cellgrader import sandbox

    monkeypatch.setattr(sandbox, "refusal", lambda: "This system has no sandbox.")
    with pytest.raises(CourseError, match="This system has no sandbox"):
        grade(handed_in, "ps1")
    assert not handed_in.records.exists()


@pytest.mark.nightly  # in every run: in this process, test_toy, and killed, test_resume
@confined
@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is another matter there")
def test_an_interrupted_command_keeps_what_is_saved(handed_in):
    """Ctrl-C reaches the whole foreground group, as in a terminal."""
    slow = sample.answered(
        notebooks.read(handed_in.assignments / "ps1" / "ps1.ipynb"), {"double": sample.ENDLESS}
    )
    notebooks.write(slow, handed_in.submitted / "half" / "ps1" / "ps1.ipynb")
    (handed_in.root / "book").mkdir()
    command = [sys.executable, "-m", "seqcourse.cli", "grade", "ps1", "--workers", "2"]
    process = subprocess.Popen(
        [*command, "--timeout", "600"],
        cwd=handed_in.root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until = time.monotonic() + 300
    while len(list(handed_in.records.rglob("[!.]*.json"))) < 3 and time.monotonic() < until:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.2)
    below = psutil.Process(process.pid).children(recursive=True)
    assert below
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert re.fullmatch(
        r"seqcourse: Interrupted; 3 of 4 submissions of ps1 are graded and saved. Run the same "
        r"command again to grade the rest.\n(Aborted!\n|Aborted.\n)?",
        said,
    ), said
    _, alive = psutil.wait_procs(below, timeout=120)
    assert not alive
    assert read_record(handed_in, "ps1", "half") is None
