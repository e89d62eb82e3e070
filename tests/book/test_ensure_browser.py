"""The script that sees to a browser, and the function that finds it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import browser

SCRIPT = Path(__file__).with_name("ensure_browser.sh")


def run(path: Path) -> subprocess.CompletedProcess[str]:
    """The script with nothing but `path` to look in, and no Python of the course."""
    environment = {"PATH": str(path), "PYTHON_OF_COURSE": str(path / "none")}
    shell = shutil.which("sh")
    return subprocess.run(
        [shell, str(SCRIPT)], env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder of programs in which `id` says that we are not root."""
    (tmp_path / "id").write_text("#!/bin/sh\necho 1000\n")
    (tmp_path / "id").chmod(0o755)
    return tmp_path


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
@pytest.mark.skipif(any(Path(place).exists() for place in browser.PLACES), reason="Chrome of macOS")
def test_without_a_browser_it_says_what_to_do_and_goes_on(tools):
    result = run(tools)
    assert result.returncode == 0
    assert "install Chromium or Chrome" in result.stdout
    assert "skipped" in result.stdout


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_it_names_the_browser_that_it_finds(tools):
    program = tools / "chromium"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    result = run(tools)
    assert result.returncode == 0
    assert str(program) in result.stdout


def test_the_function_finds_the_same_programs(tools, monkeypatch):
    program = tools / "google-chrome"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tools))
    assert browser.find_chromium() == str(program)
    script = SCRIPT.read_text(encoding="utf-8")
    assert f"for program in {' '.join(browser.PROGRAMS)};" in script
    assert all(place in script for place in browser.PLACES)


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("1", True), ("", False)])
def test_only_continuous_integration_insists(monkeypatch, value, expected):
    monkeypatch.setenv("CI", value)
    assert browser.required() is expected
