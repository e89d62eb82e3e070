"""What the Makefile runs before anything is installed."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

INSTALL = Path(__file__).resolve().parents[2] / "seqcourse" / "cli" / "install.py"


@pytest.fixture
def install():
    spec = importlib.util.spec_from_file_location("course_install", INSTALL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_needs_nothing_but_the_standard_library():
    import ast

    names = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(INSTALL.read_text(encoding="utf-8")))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert names <= set(sys.stdlib_module_names)


def test_progress_of_pip_is_shown(install, capsys):
    script = "print('Collecting torch'); print('Installing collected packages: torch')"
    install.watch([sys.executable, "-c", script], "PyTorch")
    told = capsys.readouterr().out
    assert "PyTorch ..." in told and "unpacking" in told and "done in" in told


def test_a_failing_pip_gives_a_sentence_and_its_last_lines(install, capsys):
    script = "import sys; print('ERROR: no such version'); sys.exit(3)"
    with pytest.raises(install.InstallError, match="stopped with exit code 3"):
        install.watch([sys.executable, "-c", script], "PyTorch")
    assert "ERROR: no such version" in capsys.readouterr().out


def test_bytecode_is_made_and_what_cannot_be_compiled_is_passed_over(install, capfd, tmp_path):
    texts = {
        "good": "x = 1\n",
        "template": "{{ x }} =\n",
        "pack/inside": "y = 2\n",
        "pack/odd": 'z = "\\d"\n',  # some compilers warn of it
        "pack/tests/nobody_runs_it": "w = 3\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    install.compile_all(Path(sys.executable), tmp_path)
    made = {path.name.partition(".")[0] for path in tmp_path.rglob("*.pyc")}
    assert made == {"good", "inside", "odd"}
    told = capfd.readouterr()
    assert "bytecode: done in" in told.out and "template" not in told.out + told.err


def test_an_old_python_is_refused(install, monkeypatch, tmp_path):
    monkeypatch.setattr(install.sys, "version_info", (3, 10, 0))
    with pytest.raises(install.InstallError, match="needs Python 3.11"):
        install.install(tmp_path, tmp_path / ".venv")
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize(
    ("there", "words"),
    [
        (["python3.12", "uv"], "There is another one: make PYTHON=python3.12 course"),
        (["uv"], "uv python install 3.13 && make PYTHON=$(uv python find 3.13) course"),
        ([], "Install uv (pip install uv), which fetches one. Then give: uv python install 3.13"),
    ],
)
def test_who_has_no_fitting_python_is_told_what_to_do_here(install, monkeypatch, there, words):
    monkeypatch.setattr(install.shutil, "which", lambda name: name if name in there else None)
    monkeypatch.setattr(install.sys, "version_info", (3, 15, 0))
    with pytest.raises(install.InstallError) as refused:
        install.install(Path("here"), Path("there"))
    assert words in str(refused.value)


def test_another_torch_takes_the_pins_with_it_that_it_cannot_have(install, monkeypatch, tmp_path):
    given = []
    monkeypatch.setattr(install, "watch", lambda command, title: given.append(command))
    monkeypatch.setattr(install, "compile_all", lambda python, folder: None)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    install.install(INSTALL.parents[2], tmp_path, "2.6.0")
    pins = (tmp_path / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert "torch==2.6.0" in pins and not [
        pin for pin in pins if pin.startswith(("sympy", "torch==2.13"))
    ]
    assert [command[command.index("--constraint") + 1] for command in given] == [
        str(tmp_path / "constraints.txt")
    ] * 2
