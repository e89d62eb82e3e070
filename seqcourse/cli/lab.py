"""``seqcourse lab``: JupyterLab on a student's folder, or with ``--teach`` on the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from seqcourse.cli.front import NAME as FRONT
from seqcourse.cli.front import write_front
from seqcourse.cli.handout import start, update
from seqcourse.cli.root import MINE, STARTED, find_root, find_work, is_course
from seqcourse.errors import CourseError

# What students do not see: nbgrader's menus for instructors, and a question that asks another host.
HIDDEN = (
    "@jupyter/nbgrader:course-list",
    "@jupyter/nbgrader:create-assignment",
    "@jupyter/nbgrader:formgrader",
    "@jupyterlab/apputils-extension:announcements",
)


def open_lab(options: Sequence[str] = (), teach: bool = False) -> None:
    """Start JupyterLab and wait until it ends.

    Args:
        options: handed on to JupyterLab, such as ``--no-browser``.
        teach: on the checkout itself, with nbgrader's menus for instructors.

    Raises:
        CourseError: JupyterLab is not installed, or ends with an error.
    """
    root = find_root() if teach else students_folder()
    environment = dict(os.environ)
    environment.pop("SEQCOURSE_STATIC", None)
    environment |= fewer_threads(environment)
    if not teach:
        write_front(root)
        paths = [str(_settings(root)), environment.get("JUPYTER_CONFIG_PATH", "")]
        environment["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={root}"]
    if (root / FRONT).is_file() and not teach:
        command.append(f"--LabApp.default_url=/lab/tree/{FRONT}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")  # in a container one often is; Jupyter asks for a word then
    try:
        code = subprocess.call([*command, *options], cwd=root, env=environment)
    except KeyboardInterrupt:
        return
    if code:
        raise CourseError(
            f"JupyterLab should have opened on {root}, but stopped with exit code {code}; what it "
            f"said stands above. `seqcourse doctor` says whether it is installed."
        )


def fewer_threads(environment: Mapping[str, str]) -> dict[str, str]:
    """What to add to a kernel's environment: one thread where more processes run than there are cores.

    There, threads of one product wait for each other: on two busy cores one thread made 480 training
    steps in 91 seconds, two threads made 20 in 45. An OMP_NUM_THREADS of one's own stays.
    """
    try:
        load = os.getloadavg()[0]
    except (AttributeError, OSError):  # Windows does not know it
        return {}
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if load <= cores or "OMP_NUM_THREADS" in environment:
        return {}
    print(
        f"This machine is busy ({load:.1f} processes for {cores} core{'s' * (cores > 1)}), so each "
        f"notebook computes with one thread. OMP_NUM_THREADS={cores} seqcourse lab gives it all cores."
    )
    return {"OMP_NUM_THREADS": "1"}


def students_folder() -> Path:
    """The folder to work in. In a checkout that is a copy inside it, so that git finds its own files as
    they were: made at the first call, brought up to date at each later one.

    Raises:
        CourseError: there is none, or it cannot be written.
    """
    folder = find_work()
    if is_course(folder):
        folder = folder / MINE
        start(folder)
    elif is_course(folder.parent):
        update(folder)
    return folder


def _settings(root: Path) -> Path:
    """A folder of settings for JupyterLab: `HIDDEN` is switched off, and Markdown opens rendered."""
    folder = root / STARTED.parent / "jupyter"
    (folder / "labconfig").mkdir(parents=True, exist_ok=True)
    viewers = {"defaultViewers": {"markdown": "Markdown Preview"}}
    for name, settings in (
        ("page_config.json", {"disabledExtensions": dict.fromkeys(HIDDEN, True)}),
        ("default_setting_overrides.json", {"@jupyterlab/docmanager-extension:plugin": viewers}),
    ):
        (folder / "labconfig" / name).write_text(json.dumps(settings), encoding="utf-8")
    return folder
