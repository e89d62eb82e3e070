"""The command line: ``seqcourse lab | book | release | grade | course | doctor | train | ...``."""

from __future__ import annotations

import atexit
import logging
import signal
import sys
from contextlib import suppress
from typing import Any

from seqcourse.errors import CourseError
from seqcourse.printable import printable

# What a shell calls a command that Ctrl-C ended, and the seconds after which an interrupt is repeated.
INTERRUPTED, SOON = 130, 0.05


def main() -> None:
    """Run the command line; a CourseError becomes its sentence and exit code 2."""
    sys.unraisablehook = _repeat_interrupts
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


def _repeat_interrupts(lost: Any) -> None:
    """Interrupt again where an interrupt fell into code whose errors Python ignores."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        return sys.__unraisablehook__(lost)
    import _thread
    import threading

    again = threading.Timer(SOON, _thread.interrupt_main)
    again.daemon = True
    with suppress(RuntimeError):  # Python ends anyway
        again.start()
