"""What is published, installed where there is nothing but the packages that a student needs."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from seqcourse import __version__
from seqcourse.cli import handout
from tests.house import dist
from tests.house.test_house import ROOT, project, tracked

ADDRESS = "https://github.com/someone/course"
# Outside the package, what the build may use.
NEEDED = ("setup.py", "pyproject.toml", "README.md", "CHANGELOG.md", "CITATION.cff", "constraints.txt")


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[Path, Path]:
    """The source distribution of a checkout without a remote, and the wheel from it with an address."""
    here = tmp_path_factory.mktemp("dist")
    given = handout.names(ROOT)
    for name in tracked():
        if name in given or name.startswith(("cellgrader/", "seqcourse/", "book/", "LICENSE", *NEEDED)):
            (here / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, here / "checkout" / name)
    packed = dist.source(here / "checkout", here)
    return packed, dist.wheel(packed, here, BOOK_REPOSITORY="git@github.com:someone/course.git")


def test_the_wheel_holds_the_package_and_what_a_student_gets(built):
    _, wheel = built
    assert wheel.stat().st_size < dist.MOST
    with zipfile.ZipFile(wheel) as opened:
        held = {name for name in opened.namelist() if ".dist-info/" not in name}
        given = handout.names(ROOT)
        for name in given:
            assert opened.read(f"seqcourse/handout/{name}") == (ROOT / name).read_bytes(), name
    package = {name for name in tracked() if name.startswith(("cellgrader/", "seqcourse/"))}
    assert held == package | {f"seqcourse/handout/{name}" for name in given}


def test_metadata_are_whole_and_addresses_come_from_the_setting(built):
    packed, wheel = built
    with zipfile.ZipFile(wheel) as opened:
        (name,) = [name for name in opened.namelist() if name.endswith(".dist-info/METADATA")]
        told = message_from_bytes(opened.read(name))
        licences = [name for name in opened.namelist() if "/licenses/" in name]
    assert told["Version"] == __version__
    assert told.get_all("Project-URL") == [f"Source, {ADDRESS}", f"Issues, {ADDRESS}/issues"]
    for field in (
        "Summary",
        "Author",
        "Keywords",
        "Classifier",
        "License-Expression",
        "Requires-Python",
    ):
        assert told[field], field
    assert sorted(map(str, map(Requirement, project()["dependencies"]))) == sorted(
        str(Requirement(needed)) for needed in told.get_all("Requires-Dist") if "extra ==" not in needed
    )
    assert len(licences) == len(told.get_all("License-File")) > 10
    with tarfile.open(packed) as opened:
        name = f"{packed.name.removesuffix('.tar.gz')}/PKG-INFO"
        assert message_from_bytes(opened.extractfile(name).read()).get_all("Project-URL") is None


def core() -> set[str]:
    """The installed packages that the core asks for, and those that they ask for."""
    found, waiting = set(), [Requirement(entry) for entry in project()["dependencies"]]
    while waiting:
        wanted = waiting.pop()
        for extra in wanted.extras or {""}:
            if (key := (wanted.name, extra)) in found:
                continue
            found.add(key)
            for entry in map(Requirement, importlib.metadata.requires(wanted.name) or ()):
                if entry.marker is None or entry.marker.evaluate({"extra": extra}):
                    waiting.append(entry)
    return {name for name, _ in found}


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory) -> Path:
    """The commands of an environment with the wheel and the core: no grading, no book, no tests."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place, with_pip=False)
    ours = Path(sysconfig.get_path("purelib"))
    theirs = place / ours.relative_to(sys.prefix)
    for name in core():
        record = importlib.metadata.distribution(name).read_text("RECORD")
        for top in {line.split("/")[0].split(",")[0] for line in record.splitlines()}:
            if top not in ("..", "__pycache__") and not (theirs / top).exists():
                (theirs / top).symlink_to(ours / top)
    (place / "share").symlink_to(Path(sys.prefix) / "share")  # JupyterLab's pages and the kernel
    pip = [sys.executable, "-m", "pip", "--python", str(place / "bin" / "python"), "install", "--quiet"]
    command = [*pip, "--no-deps", "--no-index", "--no-compile", str(built[1])]
    subprocess.run(command, check=True, env=alone())  # from a checkout, pip finds it installed already
    return place / "bin"


def alone() -> dict[str, str]:
    """The environment without the course's own variables and without a checkout's folder."""
    return {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "SEQCOURSE"))
    }


def call(bin: Path, folder: Path, *arguments: str, program: str = "seqcourse") -> str:
    """What a command of the installed environment says."""
    done = subprocess.run(
        [bin / program, *arguments], cwd=folder, env=alone(), capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_student_begins_and_translates_without_a_checkout(installed, tmp_path):
    absent = "[n for n in ('nbgrader', 'sphinx', 'pytest') if importlib.util.find_spec(n)]"
    code = f"import importlib.util, seqcourse; print({absent}, seqcourse.__file__)"
    where = call(installed, tmp_path, "-c", code, program="python")
    assert where.startswith("[] ") and str(installed.parent) in where
    assert "Next: cd my-course" in call(installed, tmp_path, "start", "my-course")
    assert call(installed, tmp_path, "translate", "we are eating bread").strip()
    mine = tmp_path / "my-course"
    assert {name for name in handout.names(ROOT)} <= {
        path.relative_to(mine).as_posix() for path in mine.rglob("*") if path.is_file()
    }


@pytest.mark.nightly
def test_a_student_goes_on_without_a_checkout(installed, tmp_path):
    call(installed, tmp_path, "start", "my-course")
    mine = tmp_path / "my-course"
    assert "0 files are new" in call(installed, mine / "book", "update")
    assert "ps9" in call(installed, mine / "assignments", "progress")
    config = json.loads(call(installed, mine / "book", "lab", "--show-config-json"))
    assert config["ServerApp"]["root_dir"] == str(mine.resolve())
    told = call(installed, mine, "doctor")
    assert "Everything that the course needs is here." in told
    words = "Python, PyTorch, device, folder, nbgrader, sandbox, browser, machine, data:, model:"
    for word in words.split(", "):
        assert word in told
