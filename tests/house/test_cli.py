"""The command line: help that is quick, errors that are sentences, exit code 2."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from seqcourse.cli import doctor, lab, root
from seqcourse.errors import CourseError

ROOT = Path(__file__).resolve().parents[2]


def seqcourse(*arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "seqcourse.cli", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["grade", "ps99"], "'ps99' should be an assignment"),
        (["release", "ps99"], "'ps99' should be an assignment"),
        (["translate", "  "], "should be a sentence"),
        (["translate", "good day", "--beam", "2", "--n-best", "3"], "--beam 3"),
        (["translate", "good day", "--model", "no-such-model"], "no-such-model"),
        (["translate", "good day", "--folder", "runs/mine"], "Name it: --model"),
        (
            ["translate", "x", "--folder", "nope", "--model", "en-es-fixed"],
            "seqcourse train RECIPE --out",
        ),
        (["train", "no-such-model"], "no-such-model"),
        (["train", "char-alice", "--budget", "huge"], "'quick' or 'full'"),
        (["bench", "no-such-measurement"], "no-such-measurement"),
        (["data", "build", "no-such-data", "--source", "."], "no-such-data"),
        (["data", "build", "alice", "--source", "no-such-folder"], "no-such-folder"),
    ],
)
def test_bad_input_gets_a_sentence(arguments, words, monkeypatch):
    from seqcourse.cli.app import app

    monkeypatch.chdir(ROOT)
    error = CliRunner().invoke(app, arguments).exception
    assert isinstance(error, CourseError) and words in str(error)
    assert len(str(error).split()) >= 8, "a sentence says what was expected and what came"


def test_the_sentence_of_an_error_is_all_that_is_said_and_the_exit_code_is_2():
    outcome = seqcourse("grade", "ps99")
    assert outcome.returncode == 2, outcome.stderr
    assert outcome.stderr.startswith("seqcourse: 'ps99' should be an assignment")
    assert "Traceback" not in outcome.stderr


def test_help_lists_every_command_once():
    from seqcourse.cli.app import FOR, app

    assert sorted(" ".join(FOR.values()).split()) == sorted(get_command(app).commands)
    said = CliRunner().invoke(app, ["--help"]).stdout
    assert all(title in said for title in FOR) and "Autograde what lies in" in said


@pytest.mark.parametrize("arguments", [["no-such-command"], ["grade", "--workers", "0"]])
def test_wrong_usage_gets_exit_code_2(arguments):
    outcome = seqcourse(*arguments)
    assert outcome.returncode == 2
    assert "Traceback" not in outcome.stderr


def test_help_names_the_commands_and_loads_nothing_heavy():
    told = seqcourse("--help")
    assert told.returncode == 0
    for name in ("lab", "book", "release", "grade", "course", "doctor", "train", "translate", "data"):
        assert f" {name} " in told.stdout
    heavy = "{'torch', 'numpy', 'matplotlib', 'nbgrader'}"
    code = f"import sys, seqcourse.cli.app; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize("command", ["grade", "export", "train"])
def test_help_cuts_no_option_in_a_narrow_terminal(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    told = seqcourse(command, "--help").stdout
    assert "…" not in told and max(map(len, told.splitlines())) <= 80
    if command == "grade":
        assert "--unsafe-no-sandbox" in told and "--student" in told


def test_version():
    from seqcourse import __version__

    assert seqcourse("--version").stdout.strip() == f"seqcourse {__version__}"


def test_translate_prints_a_sentence_and_the_best_of_the_beam():
    from seqcourse.cli.app import app

    one = seqcourse("translate", "we are eating bread")
    assert one.returncode == 0, one.stderr
    assert "pan" in one.stdout and len(one.stdout.splitlines()) == 1
    three = CliRunner().invoke(app, ["translate", "we are eating bread", "--beam", "4", "--n-best", "3"])
    lines = three.stdout.splitlines()
    assert len(lines) == 3
    scores = [float(line.split()[0]) for line in lines]
    assert scores == sorted(scores, reverse=True)


# What a visitor types first, and its right translations.
FIRST = {
    "hello": {"hola"},
    "good morning": {"buenos días"},
    "good night": {"buenas noches"},
    "yes": {"sí"},
    "no": {"no"},
    "thank you": {"gracias"},
    "how are you?": {"cómo estás", "cómo está", "cómo está usted"},
    "goodbye": {"adiós", "hasta luego", "hasta la vista"},
    "please": {"por favor"},
    "I love you": {"te amo", "te quiero"},
}


@pytest.mark.parametrize("typed", [str, str.capitalize, "{}!".format])
def test_what_a_visitor_types_first_comes_out_right(typed):
    """As it is, with a capital letter, or shouted."""
    from seqcourse.cli.app import app

    outcome = CliRunner().invoke(app, ["translate", "\n".join(map(typed, FIRST)).replace("?!", "?")])
    lines = outcome.stdout.splitlines()
    assert len(lines) == len(FIRST), outcome.output
    for line, (phrase, right) in zip(lines, FIRST.items(), strict=True):
        assert line.strip("¡¿.?!") in right, (phrase, line)


def test_a_model_that_is_named_answers_itself():
    from seqcourse import zoo
    from seqcourse.cli.app import app

    for name in ("en-es-subwords", "en-es-attention"):
        told = CliRunner().invoke(app, ["translate", "hello", "--model", name]).stdout
        assert told.strip() == zoo.load(name).translate_text("hello")


def test_the_course_is_found_from_below(tmp_path, monkeypatch):
    for sign in root.SIGNS:
        (tmp_path / sign).mkdir()
    deep = tmp_path / "book" / "deeper"
    deep.mkdir()
    assert root.find_root(deep) == tmp_path
    monkeypatch.setattr(root, "is_course", lambda folder: False)
    with pytest.raises(CourseError, match="should run in a checkout of the course"):
        root.find_root(deep)


def test_what_a_student_handed_in_is_no_course(tmp_path):
    """Its nbgrader_config.py would run with the instructor's rights."""
    handed_in = tmp_path / "grading" / "submitted" / "eve" / "ps1" / "x"
    for folder in (tmp_path, handed_in):
        for sign in root.SIGNS:
            (folder / sign).mkdir(parents=True)
    for start in (handed_in, handed_in / "book"):
        assert root.find_root(start) == root.find_work(start) == tmp_path
    (handed_in / root.STARTED).parent.mkdir()
    (handed_in / root.STARTED).touch()
    assert root.find_work(handed_in) == tmp_path


def test_data_check_finds_a_changed_file(tmp_path):
    from seqcourse.cli.data import DataSet

    (tmp_path / "a.txt").write_text("changed")
    data = DataSet("toy", tmp_path, {"files": {"a.txt": "0" * 64, "b.txt": "0" * 64}})
    assert data.problems() == [
        "a.txt is not the file that came with the course",
        "b.txt is missing",
    ]


def test_a_busy_machine_gets_one_thread_for_each_notebook(monkeypatch, capsys):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0, 1}, raising=False)
    monkeypatch.setattr("os.getloadavg", lambda: (2.6, 1.0, 1.0), raising=False)
    assert lab.fewer_threads({}) == {"OMP_NUM_THREADS": "1"}
    told = capsys.readouterr().out
    assert "2.6 processes for 2 cores" in told and "OMP_NUM_THREADS=2 seqcourse lab" in told
    assert lab.fewer_threads({"OMP_NUM_THREADS": "2"}) == {}
    monkeypatch.setattr("os.getloadavg", lambda: (2.0, 9.0, 9.0))
    assert lab.fewer_threads({}) == {}
    monkeypatch.delattr("os.getloadavg")  # as on Windows
    assert lab.fewer_threads({}) == {} and capsys.readouterr().out == ""


def test_doctor_does_not_ask_for_a_checkout(monkeypatch):
    monkeypatch.setattr(root, "SIGNS", ("no such folder",))
    assert list(doctor.privacy()) == []


def test_a_group_of_one_s_own_is_no_other_account(tmp_path, monkeypatch):
    """Many systems give each account a group of its own, and folders that this group may enter."""
    mine = tmp_path.stat()
    me = SimpleNamespace(pw_name="me", pw_uid=mine.st_uid, pw_gid=mine.st_gid)
    group = SimpleNamespace(gr_mem=["me"])
    monkeypatch.setattr("pwd.getpwuid", lambda number: me)
    monkeypatch.setattr("grp.getgrgid", lambda number: group)
    for mode, people, members, others_may in (
        (0o770, [me], ["me"], False),
        (0o770, [me], ["ben"], True),
        (0o770, [me, SimpleNamespace(pw_uid=mine.st_uid + 1, pw_gid=mine.st_gid)], [], True),
        (0o775, [me], [], True),
        (0o700, [me], ["ben"], False),
    ):
        tmp_path.chmod(mode)
        group.gr_mem = members
        monkeypatch.setattr("pwd.getpwall", lambda people=people: people)
        assert doctor._others_may(tmp_path, 0o055) is others_may


@pytest.mark.parametrize(("cuda", "words"), [(None, "CPU build"), ("13.0", "GPU build (13.0)")])
def test_doctor_says_which_pytorch_is_there(monkeypatch, cuda, words):
    monkeypatch.setattr("torch.version.cuda", cuda)
    monkeypatch.setattr("torch.version.hip", None)
    assert words in next(iter(doctor.torch())).sentence


def test_doctor_prints_what_to_install_with_its_bracket(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "version", lambda name: None)
    monkeypatch.setattr(doctor, "PARTS", (doctor.tools, doctor.database))
    monkeypatch.setenv("COLUMNS", "200")
    doctor.check_installation()
    said = capsys.readouterr().out
    for extra in ("grading", "site", "dev", "postgres"):
        assert f"pip install 'seqcourse[{extra}]'" in said


@pytest.mark.parametrize("page", ["README.md", "book/appendix_instructors.md"])
def test_grades_are_written_where_git_does_not_look(page):
    """The examples are copied as they stand: a file of grades belongs into grading/."""
    words = (ROOT / page).read_text(encoding="utf-8").split()
    files = [after for word, after in pairwise(words) if word in ("--csv", "--to") and "." in after]
    assert files and all(file.startswith("grading/") for file in files), files
    assert "/grading/" in (ROOT / ".gitignore").read_text(encoding="utf-8").split()
