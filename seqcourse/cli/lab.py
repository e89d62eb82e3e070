"""``seqcourse lab``: JupyterLab on the course's folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from seqcourse.cli.root import find_work
from seqcourse.errors import CourseError


def open_lab(options: Sequence[str] = ()) -> None:
    """Start JupyterLab and wait until it ends.

    Args:
        options: handed on to JupyterLab, such as ``--no-browser``.

    Raises:
        CourseError: JupyterLab is not installed, or ends with an error.
    """
    root = find_work()
    environment = dict(os.environ)
    environment.pop("SEQCOURSE_STATIC", None)
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={root}"]
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
