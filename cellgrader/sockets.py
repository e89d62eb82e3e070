"""How we talk to a kernel: through socket files in a private folder, not through network ports.

Jupyter picks five free ports and hands them to the kernel, which opens them a second later. When
several kernels start at once, a port can be taken in between, and a kernel dies before its first
word. Socket files in a folder of one's own cannot be taken by anybody else.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile


def private_sockets() -> dict[str, str]:
    """Options of a jupyter_client ``KernelManager`` for one kernel at a time.

    Returns:
        ``transport`` and ``ip`` (here the beginning of the sockets' file names), in a new folder that
        goes with this process; nothing on Windows, which has no socket files.
    """
    if os.name != "posix":
        return {}
    folder = tempfile.mkdtemp(prefix="kernel-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return {"transport": "ipc", "ip": os.path.join(folder, "socket")}
