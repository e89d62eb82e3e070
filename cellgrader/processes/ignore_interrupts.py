"""Imported first by the fork server, so that it and its workers leave Ctrl-C to the command.

A terminal sends Ctrl-C to every process of a command. The command ends its workers itself; without this,
each of them would print where it was. Students' kernels set their own handlers.
"""

from __future__ import annotations

import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
