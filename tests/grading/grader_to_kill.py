"""A grader with a kernel that does all it can to outlive it; test_confine_kernel kills it."""

from __future__ import annotations

import asyncio
import sys
import time

import seqcourse  # noqa: F401  (makes the course known to the grader)
from cellgrader.sandbox import ConfinedKernelManager, Warm

from .confining import run, told

CODE = """
import ctypes, os, signal
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)  # not to die with a parent
if os.fork() == 0:
    os.setsid()
    while True:
        pass
"""
STOP = "\nos.kill(2, signal.SIGSTOP)"


async def main(trick: str) -> None:
    with Warm(preload=()) as warm:
        km = ConfinedKernelManager(warm=warm)
        notebook = await run(km, CODE + (STOP if trick else ""))
        assert told(notebook) == "", told(notebook)
        print("running", flush=True)
        time.sleep(600)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
