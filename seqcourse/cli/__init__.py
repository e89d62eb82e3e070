"""The command line: ``seqcourse lab | book | release | grade | course | doctor | train | ...``."""

from __future__ import annotations

import _thread
import atexit
import logging
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import Any

from cellgrader.printable import printable
from seqcourse.errors import CourseError

# What a shell calls a command that Ctrl-C ended, and the seconds after which an interrupt is repeated.
INTERRUPTED, SOON = 130, 0.05


def main() -> None:
    """Run the command line; a CourseError becomes its sentence and exit code 2."""
    sys.unraisablehook = _repeat_interrupts
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    try:
        from seqcourse.cli.app import app

        logging.lastResort.addFilter(_is_no_interrupt)
        # Names of folders are shown that are not UTF-8.
        sys.stdout.reconfigure(errors="backslashreplace")
        app()
    except CourseError as error:
        lines = map(printable, str(error).split("\n"))
        print("seqcourse:", "\n".join(lines), file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        # An interrupt that comes while Python ends has nothing left to end.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


def _is_no_interrupt(record: logging.LogRecord) -> bool:
    """Whether a library has something else to say than where an interrupt met it."""
    kind = record.exc_info[0] if record.exc_info else None
    return kind is None or not issubclass(kind, KeyboardInterrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """End the command, but no import: interrupted as it loads, PyTorch aborts the process."""
    while frame and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    if not frame:
        raise KeyboardInterrupt
    _interrupt_soon()


def _repeat_interrupts(lost: Any) -> None:
    """Interrupt again where an interrupt fell into code whose errors Python ignores."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        return sys.__unraisablehook__(lost)
    _interrupt_soon()


def _interrupt_soon() -> None:
    again = threading.Timer(SOON, _interrupt_now)
    again.daemon = True
    with suppress(RuntimeError):  # Python ends anyway
        again.start()


def _interrupt_now() -> None:
    if hasattr(signal, "pthread_kill"):  # this also ends a wait
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    else:  # Windows
        _thread.interrupt_main()
