"""Whether this machine can run a sandbox."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import sys

from cellgrader.errors import CourseError
from cellgrader.sandbox.bubblewrap import bubblewrap
from cellgrader.sandbox.holder import Holder
from cellgrader.sandbox.limits import Limits

OLDEST_BUBBLEWRAP = (0, 8)


def bubblewrap_version() -> tuple[int, ...] | None:
    """The version of the installed bubblewrap, or None if it is not installed."""
    if shutil.which("bwrap") is None:
        return None
    reported = subprocess.run([bubblewrap(), "--version"], capture_output=True, text=True, check=False)
    return tuple(int(part) for part in re.findall(r"\d+", reported.stdout)[:3]) or None


@functools.cache
def refusal() -> str:
    """A sentence that says why this machine cannot run a sandbox, or "" if it can.

    Starts a real sandbox, because only that shows whether the system allows it. Cached per process.
    """
    if not sys.platform.startswith("linux"):
        return (
            f"A sandbox needs Linux and bubblewrap, but this is {sys.platform}. Grade on Linux: on "
            f"Windows in WSL (wsl --install), elsewhere in a container or a virtual machine."
        )
    found = bubblewrap_version()
    if found is None:
        return (
            "A sandbox needs bubblewrap, but there is no program bwrap here. Install it (on Debian and "
            "Ubuntu: sudo apt-get install bubblewrap; on Fedora: sudo dnf install bubblewrap)."
        )
    if found < OLDEST_BUBBLEWRAP:
        wanted, here = (".".join(map(str, version)) for version in (OLDEST_BUBBLEWRAP, found))
        return f"A sandbox needs bubblewrap {wanted} or newer, but this is {here}. Install a newer one."
    try:
        with Holder(Limits()):
            return ""
    except CourseError as error:
        return str(error)
