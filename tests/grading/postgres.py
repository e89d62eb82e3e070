"""A PostgreSQL server of the tests' own, from whatever packages the system has."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Debian keeps the server's programs off the search path, one folder per version.
FOLDERS = ("/usr/lib/postgresql/*/bin",)
USER = "seqcourse"


def programs() -> Path | None:
    """The folder of initdb and pg_ctl; None where there is no server."""
    found = shutil.which("pg_ctl")
    if found:
        return Path(found).resolve().parent
    places = [path for pattern in FOLDERS for path in Path("/").glob(pattern.lstrip("/"))]
    places = [path for path in places if (path / "pg_ctl").exists()]
    return max(places, key=lambda path: [int(n) for n in path.parent.name.split(".")], default=None)


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """Start a server that listens on a socket in ``folder`` only; yields a database's address.

    The server refuses to run as root, so root runs it as somebody else.

    Args:
        folder: an empty folder with a short path, below folders that everybody may enter.
    """
    bin = programs()
    assert bin is not None
    other: dict = {}
    if os.geteuid() == 0:
        import pwd

        user = next(name for name in ("postgres", "nobody") if _known(name))
        number = pwd.getpwnam(user)
        os.chown(folder, number.pw_uid, number.pw_gid)
        other = {"user": number.pw_uid, "group": number.pw_gid, "extra_groups": []}
    data = folder / "data"

    def run(*command: object) -> None:
        done = subprocess.run(
            [str(part) for part in command],
            capture_output=True,
            text=True,
            cwd=folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
            timeout=120,
            **other,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    run(bin / "initdb", "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync")
    options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
    # The log goes to a file: a server that holds our pipe open would never let the call return.
    run(bin / "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", options, "start")
    try:
        run(bin / "createdb", "-h", folder, "-U", USER, "grades")
        yield f"postgresql://{USER}@/grades?host={folder}"
    finally:
        run(bin / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")


def _known(user: str) -> bool:
    import pwd

    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True
