"""The script that sees to a browser, bubblewrap and PostgreSQL, and the functions that find them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import browser

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tests" / "ensure_tools.sh"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a shell script")
on_macos = pytest.mark.skipif(
    any(Path(place).exists() for place in browser.PLACES), reason="Chrome of macOS"
)


def run(path: Path, *tools: str) -> subprocess.CompletedProcess[str]:
    """The script with nothing but `path` to look in, and no Python of the course."""
    environment = {"PATH": str(path), "PYTHON_OF_COURSE": str(path / "none")}
    shell = shutil.which("sh")
    return subprocess.run(
        [shell, str(SCRIPT), *tools], env=environment, capture_output=True, text=True, check=False
    )


def program(folder: Path, name: str, does: str = "") -> Path:
    """A program of that name in the folder."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{does}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder of programs in which `id` says that we are not root, on Linux."""
    program(tmp_path, "id", "echo 1000")
    program(tmp_path, "uname", "echo Linux")
    return tmp_path


@on_macos
def test_without_a_browser_it_says_what_to_do_and_goes_on(tools):
    result = run(tools, "browser")
    assert result.returncode == 0
    assert "install Chromium or Chrome" in result.stdout
    assert "skipped" in result.stdout


def test_a_firefox_is_named_and_without_one_it_says_what_to_do(tools):
    assert "Without it they are skipped" in run(tools, "firefox").stdout
    path = program(tools, "firefox")
    assert str(path) in run(tools, "firefox").stdout


def test_without_bubblewrap_it_says_what_that_means(tools):
    result = run(tools, "bubblewrap")
    assert result.returncode == 0
    assert "apt-get install bubblewrap" in result.stdout
    assert "--unsafe-no-sandbox" in result.stdout


def test_elsewhere_than_on_linux_it_asks_for_nothing(tools):
    program(tools, "uname", "echo Darwin")
    assert "Linux only" in run(tools, "bubblewrap").stdout


@pytest.mark.parametrize(
    ("tool", "name"), [("browser", "chromium"), ("bubblewrap", "bwrap"), ("postgresql", "pg_ctl")]
)
def test_it_names_what_it_finds(tools, tool, name):
    found = program(tools, name)
    result = run(tools, tool)
    assert result.returncode == 0
    assert str(found) in result.stdout and len(result.stdout.splitlines()) == 1


@pytest.mark.skipif(not Path("/etc/debian_version").exists(), reason="only on Debian it installs")
@pytest.mark.parametrize(("tool", "name"), [("bubblewrap", "bwrap"), ("browser", "chromium")])
def test_root_on_debian_installs_the_package(tools, tool, name):
    program(tools, "id", "echo 0")
    # The package manager that brings what is asked for, and notes its arguments.
    log, new = tools / "log", tools / name
    does = f'echo "$@" >> {log}; echo "#!/bin/sh" > {new}; {shutil.which("chmod")} 755 {new}'
    program(tools, "apt-get", does)
    result = run(tools, tool)
    assert f"{tools / name}" in result.stdout
    assert tool.replace("browser", "chromium") in log.read_text()


def test_a_tool_that_it_does_not_know_is_named(tools):
    assert "emacs" in run(tools, "emacs").stdout


def test_make_asks_for_what_its_targets_need():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "sh tests/ensure_tools.sh browser bubblewrap postgresql" in makefile
    assert "sh tests/ensure_tools.sh bubblewrap\n" in makefile


def test_the_function_finds_the_same_programs(tools, monkeypatch):
    found = program(tools, "google-chrome")
    monkeypatch.setenv("PATH", str(tools))
    assert browser.find_chromium() == str(found)
    script = SCRIPT.read_text(encoding="utf-8")
    assert f"for program in {' '.join(browser.PROGRAMS)};" in script
    assert all(place in script for place in browser.PLACES)


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("1", True), ("", False)])
def test_only_continuous_integration_insists(monkeypatch, value, expected):
    monkeypatch.setenv("CI", value)
    assert browser.required() is expected
