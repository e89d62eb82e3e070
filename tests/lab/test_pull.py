"""What a student saves in JupyterLab is not in git's way, in a real clone of the repository."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = ("book/08_masking.ipynb", "book/09_multi_head_attention.ipynb")


def git(folder: Path, *words: str) -> str:
    names = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    run = subprocess.run(
        ["git", *names, *words], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def lab(clone: Path, *options: str) -> str:
    """`seqcourse lab` of the clone, which only says its version when all is prepared."""
    environment = os.environ | {"PYTHONPATH": str(clone)}
    command = [sys.executable, "-m", "seqcourse.cli", "lab", *options, "--version"]
    run = subprocess.run(
        command, cwd=clone, env=environment, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def change(path: Path, line: str) -> None:
    """A sentence more at the end of a notebook's first cell."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"][0]["source"] += ["\n", "\n", line]
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def run_and_save(path: Path) -> None:
    """As JupyterLab saves a notebook of which every code cell has run."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            said = {"name": "stdout", "output_type": "stream", "text": ["ran here\n"]}
            cell.update(execution_count=1, outputs=[said])
    path.write_text(json.dumps(notebook, indent=1), encoding="utf-8")


@pytest.fixture
def clones(tmp_path: Path) -> tuple[Path, Path]:
    """The course's repository as it is here, and a student's clone of it."""
    upstream, mine = tmp_path / "upstream", tmp_path / "mine"
    tracked = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    needed = [name for name in tracked if name and not name.endswith((".safetensors", ".gz", ".xz"))]
    for name in needed:
        if (ROOT / name).is_file():
            (upstream / name).parent.mkdir(parents=True, exist_ok=True)
            (upstream / name).write_bytes((ROOT / name).read_bytes())
    git(upstream, "init", "-q", "-b", "main")
    git(upstream, "add", "--all")
    git(upstream, "commit", "-q", "-m", "The course")
    git(tmp_path, "clone", "-q", str(upstream), str(mine))
    return upstream, mine


def test_a_pull_succeeds_after_chapters_were_run_changed_and_saved(clones):
    upstream, mine = clones
    ran, changed = CHAPTERS
    lab(mine, "--teach")
    assert not (mine / "my-course").exists(), "those who teach open the repository itself"
    lab(mine)
    run_and_save(mine / "my-course" / ran)
    run_and_save(mine / "my-course" / changed)
    change(mine / "my-course" / changed, "My own note.")
    assert git(mine, "status", "--porcelain") == ""

    for name in CHAPTERS:
        change(upstream / name, "A new sentence of the authors.")
    git(upstream, "commit", "-q", "-a", "-m", "Two chapters are better")
    assert "2 files changed" in git(mine, "pull")

    told = lab(mine)
    now = {name: (mine / "my-course" / name).read_text(encoding="utf-8") for name in CHAPTERS}
    assert "A new sentence" in now[ran], "what was only run is brought up to date"
    assert "My own note." in now[changed] and "ran here" in now[changed], "what was changed is kept"
    assert f"You changed {changed}" in told
    beside = list((mine / "my-course" / "book").glob("09_multi_head_attention-*.ipynb"))
    assert ["A new sentence" in path.read_text(encoding="utf-8") for path in beside] == [True]
    assert git(mine, "status", "--porcelain") == ""
