"""The files around the package agree with each other."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ("course", "lab", "book", "release", "grade", "check", "test", "test-all", "bench", "help")


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def requirements() -> list[str]:
    """Every requirement of the project: core and all extras."""
    groups = project()["optional-dependencies"].values()
    return project()["dependencies"] + [entry for group in groups for entry in group]


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {name.lower().replace("_", "-"): version for name, version in pairs}


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return listed.stdout.splitlines()


@pytest.mark.parametrize("name", ["environment.yml", "environment-student.yml"])
def test_environment_lists_the_same_packages(name):
    wanted = project()["dependencies"] if "student" in name else requirements()
    environment = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    conda = [entry for entry in environment["dependencies"] if isinstance(entry, str)]
    (pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    named = [entry for entry in pip if not entry.startswith("-")]
    assert sorted(map(str, map(Requirement, named))) == sorted(map(str, map(Requirement, wanted)))
    assert f"python{project()['requires-python']}" in conda
    assert "-c constraints.txt" in pip and "-e ." in pip


def test_constraints_fit_every_requirement():
    exact = pins()
    for requirement in map(Requirement, requirements()):
        name = requirement.name.lower().replace("_", "-")
        assert name in exact, f"constraints.txt does not pin {name}"
        assert requirement.specifier.contains(exact[name]), f"{name}=={exact[name]}"


def test_constraints_are_exact_and_fit_any_build():
    exact = pins()
    for name, version in exact.items():
        assert Version(version).local is None, f"{name}=={version} fits one build only"
    assert "seqcourse" not in exact


def makefile_targets() -> dict[str, str]:
    """Target -> its recipe."""
    content = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = re.findall(r"^([a-z-]+):[^=\n]*\n((?:\t.*\n|  .*\n)*)", content, re.M)
    return dict(found)


def test_makefile_has_the_targets_and_each_is_thin():
    recipes = makefile_targets()
    assert set(TARGETS) <= set(recipes)
    for name in set(TARGETS) - {"help", "check", "test", "test-all"}:
        lines = recipes[name].strip().splitlines()
        lines = [line for line in lines if "tests/ensure_tools.sh" not in line]
        assert len(lines) == 1, f"the recipe of {name} is longer than one line"
        assert re.search(rf"/seqcourse {name}$", lines[0]), f"{name} does not call seqcourse"
    assert "$(NOTEBOOKS)" in recipes["test"] and '$(TESTS) -m "not nightly"' in recipes["test"]
    assert recipes["test-all"].endswith("$(NOTEBOOKS)\n\t@$(TESTS)\n"), "nothing is left out"


def test_help_names_every_target():
    told = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert sorted(re.findall(r"^\s*make ([a-z-]+)", told.stdout, re.M)) == sorted(makefile_targets())


def test_readme_names_only_what_exists():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"`([^`\n]+)`", readme) + re.findall(r"```.*?```", readme, re.S))
    code = re.sub(r"#.*", "", code)  # comments in a code block are prose
    targets = set(re.findall(r"\bmake ([a-z-]+)", code))
    assert {"course", "lab"} <= targets
    assert targets <= set(makefile_targets())
    from seqcourse.cli.app import app

    commands = {info.name or info.callback.__name__ for info in app.registered_commands}
    commands |= {group.name for group in app.registered_groups}
    told = set(re.findall(r"\bseqcourse ([a-z]+)\b", code))
    assert told, "the README should show the seqcourse command"
    assert told <= commands
    for link in re.findall(r"\]\(([^)#]+)\)", readme):
        if not link.startswith(("http:", "https:")):
            assert (ROOT / link).exists(), f"the README links to {link}"


def workflow(name: str) -> dict:
    return yaml.safe_load((ROOT / ".github/workflows" / name).read_text(encoding="utf-8"))["jobs"]


def test_the_workflows_call_make_only():
    ci, release = workflow("ci.yml"), workflow("release.yml")
    assert {"cpu", "oldest", "nightly", "gpu", "site"} <= set(ci)
    assert ci["nightly"]["steps"][-1]["run"].startswith("make test-all ")
    for job in (*ci.values(), *release.values()):
        for step in job["steps"]:
            if "run" in step:
                called = re.fullmatch(r"make ([a-z-]+)( [A-Z_]+=([\w.]+|\$\{\{[^}]*\}\}))*", step["run"])
                assert called and called.group(1) in makefile_targets(), step["run"]


def test_ci_runs_every_python_and_the_oldest_torch():
    allowed = SpecifierSet(project()["requires-python"])
    named = [f"3.{minor}" for minor in range(20) if f"3.{minor}" in allowed]
    assert workflow("ci.yml")["cpu"]["strategy"]["matrix"]["python"] == named
    assert [f"Programming Language :: Python :: {one}" for one in named] == [
        line for line in project()["classifiers"] if re.search(r":: 3\.\d+$", line)
    ]
    (oldest,) = [r.specifier for r in map(Requirement, requirements()) if r.name == "torch"]
    run = workflow("ci.yml")["oldest"]["steps"][-1]["run"]
    assert str(oldest) == ">=" + re.search(r"TORCH=(\d+\.\d+)\.0$", run)[1]


def test_constraints_hold_for_every_python():
    allowed = SpecifierSet(project()["requires-python"])
    named = [f"3.{minor}.0" for minor in range(20) if f"3.{minor}" in allowed]
    for installed in importlib.metadata.distributions():
        pinned = pins().get(installed.name.lower().replace("_", "-"))
        needs = SpecifierSet(installed.metadata.get("Requires-Python", ""))
        if pinned == installed.version:
            assert all(python in needs for python in named), f"{installed.name} needs Python {needs}"


def test_who_publishes_needs_no_password():
    jobs = workflow("release.yml")
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["needs"] == "build"
    text = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    assert "secrets." not in text and "password:" not in text


def test_ci_runs_the_readmes_test_command():
    content = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert "make test" in content
    assert "`make test`" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert (ROOT / ".ci/run").stat().st_mode & 0o100, ".ci/run should be executable"


def test_one_version_is_told_everywhere():
    from seqcourse import __version__

    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert cited[1] == __version__
    assert re.findall(r"^## (\d\S*)", changes, re.M)[0] == __version__


def test_top_level_names_are_the_design():
    allowed = {
        "README.md", "_config.yml", "_toc.yml", "environment.yml", "pyproject.toml",
        "constraints.txt", "course.toml", "Makefile", "nbgrader_config.py", "LICENSE", "LICENSE-text",
        "CITATION.cff", "CONTRIBUTING.md", "CHANGELOG.md", ".gitignore", ".gitattributes", ".ci",
        ".binder", ".devcontainer", ".dockerignore", "deploy",
        ".github", ".vscode", "environment-student.yml", "setup.py", "AGENTS.md", "CLAUDE.md",
        "GEMINI.md", "book", "solutions", "assignments", "cellgrader", "seqcourse", "tests",
        "benchmarks",
    }  # fmt: skip
    assert {path.split("/")[0] for path in tracked()} <= allowed


# Written in pieces, so that this file does not find itself.
MACHINE_PATH = re.compile(r"(?<![\w.])/(" + "|".join(["ro" + "ot", "ho" + "me", "wo" + "rk"]) + ")/")


@pytest.mark.parametrize("suffix", [".py", ".md", ".yml", ".toml", ".ipynb", ".txt", ".cff"])
def test_no_path_of_one_machine(suffix):
    for path in tracked():
        if path.endswith(suffix) and (ROOT / path).is_file():
            found = MACHINE_PATH.search((ROOT / path).read_text(encoding="utf-8"))
            assert not found, f"{path} names a path of one machine: {found.group()}"


def test_the_modules_that_are_begun_first_are_there():
    from tests.conftest import LONG

    assert [name for name in LONG if not (ROOT / "tests" / name).is_file()] == []
