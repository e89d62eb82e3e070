"""On Google Colab: install what the course needs and Colab does not have, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib import metadata

from packaging.requirements import Requirement

# Colab's own PyTorch fits its machines, and its notebooks are not JupyterLab.
NEVER = {"torch", "jupyterlab", "jupyterlab-myst"}


def absent() -> list[str]:
    """What the course needs, students' part only, of which no version is installed."""
    needed = map(Requirement, metadata.requires("seqcourse") or ())
    core = [one for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})]
    return [str(one) for one in core if one.name not in NEVER and not _version(one.name)]


def install_absent() -> None:
    """Install what is absent. pip stops with an error rather than change PyTorch."""
    missing = absent()
    if not missing:
        return
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as kept:
        if version := _version("torch"):
            kept.write(f"torch=={version}\n")
            kept.flush()
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--constraint", kept.name]
        subprocess.run([*pip, *missing], check=True)


def _version(name: str) -> str:
    """The installed version of a package, or ""."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
