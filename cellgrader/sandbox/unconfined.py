"""A kernel manager without a sandbox, for machines that cannot run one.

Student code then has all rights of the grading user. Selected by `--unsafe-no-sandbox`.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager

from cellgrader.sandbox import handover
from cellgrader.sandbox.bubblewrap import environment
from cellgrader.sandbox.limits import Limits
from cellgrader.sockets import private_sockets

# Environment variables that programs need on Windows and macOS.
KEPT = ("SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "PATH", "WINDIR", "LANG")


class PlainKernelManager(AsyncKernelManager):
    """Runs an ordinary kernel in a temporary folder, with a minimal environment."""

    def __init__(self, *, limits: Limits | None = None, **options: Any):
        super().__init__(**{**private_sockets(), **options})
        self.limits = limits or Limits()
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", "--quiet"]
        self._kernel_spec = KernelSpec(argv=argv, language="python", display_name="Python")
        self._folder: str | None = None
        self._exit: int | None = None

    @property
    def exchange(self) -> str:
        """The path of the exchange folder."""
        return os.path.join(self._folder or "", "exchange")

    async def start_kernel(self, **options: Any) -> None:
        """Start the kernel in a temporary folder, which is removed with it."""
        self._exit = None
        self._folder = tempfile.mkdtemp(prefix="notebook-")
        for name in ("exchange", "home"):
            os.mkdir(os.path.join(self._folder, name))
        home = os.path.join(self._folder, "home")
        variables = {
            name: value for name, value in environment().items() if not value.startswith("/tmp")
        } | {name: os.environ[name] for name in KEPT if name in os.environ}
        variables |= {"HOME": home, "USERPROFILE": home, "IPYTHONDIR": os.path.join(home, ".ipython")}
        options.update(cwd=home, env=variables)
        options.pop("extra_arguments", None)
        await super()._async_start_kernel(**options)

    async def _async_cleanup_resources(self, restart: bool = False) -> None:
        await super()._async_cleanup_resources(restart=restart)
        if self._folder is not None and not restart:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    cleanup_resources = _async_cleanup_resources

    async def is_alive(self) -> bool:
        if not self.has_kernel or self.provisioner is None:
            return False
        self._exit = await self.provisioner.poll()
        return self._exit is None

    def used(self) -> float:
        """Seconds of processor time of the kernel's process."""
        with suppress(psutil.Error, AttributeError):
            times = psutil.Process(self.provisioner.process.pid).cpu_times()
            return times.user + times.system
        return 0.0

    def why_dead(self) -> str:
        """Why the kernel is dead, from its exit code; "" if it is alive."""
        process = getattr(self.provisioner, "process", None)
        code = process.poll() if process is not None else self._exit
        return "" if code is None else f"ended itself (exit code {code})"

    def put(self, name: str, data: bytes) -> None:
        """Write a file into the exchange folder."""
        Path(self.exchange, handover.plain(name)).write_bytes(data)

    def take(self, name: str, most: int) -> bytes | None:
        """Read a regular file from the exchange folder, or return None."""
        path = Path(self.exchange, handover.plain(name))
        if path.is_symlink() or not path.is_file() or path.stat().st_size > most:
            return None
        return path.read_bytes()
