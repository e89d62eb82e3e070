"""nbgrader's exchange, for work that nobody has to trust.

``ReleaseFeedback`` skips submissions that did not come through the exchange. ``Collect`` follows no
student's links, takes nothing that another account handed in under a student's name, believes no time
that is earlier than the exchange's own, and goes on after a submission that cannot be collected.
"""

from __future__ import annotations

import glob
import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from logging import LogRecord
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect, ExchangeReleaseFeedback
from nbgrader.utils import ignore_patterns

from cellgrader import bounds
from cellgrader.course.folders import remove
from cellgrader.course.small_files import NEEDED, TIMESTAMP, kept, time
from cellgrader.marks.late import zone_of
from cellgrader.notebook.parse import shown

# Where a submission is copied before it takes its place.
BESIDE = ".collected-"
# How much earlier than the exchange a timestamp.txt may be: a large submission takes a while to copy.
LEEWAY = timedelta(minutes=5)
MINUTES = "%Y-%m-%d %H:%M UTC"


class ReleaseFeedback(ExchangeReleaseFeedback):
    """Releases the pages that students can fetch, and logs a warning for the others."""

    def copy_files(self) -> None:
        for folder in map(Path, sorted(glob.glob(self.src_path))):
            missing = [name for name in NEEDED if not (folder / name).is_file()]
            if missing:
                self.log.warning(
                    "%s should have %s beside the work to fetch feedback, but the submission lacks it. "
                    "Nothing was released: return %s/*.html the way the work was handed in.",
                    folder.parent.name,
                    " and ".join(missing),
                    folder,
                )
            else:
                self.src_path = glob.escape(str(folder))
                super().copy_files()


class Collect(ExchangeCollect):
    """Collects each student's newest submission, and logs a warning for what it leaves.

    leave: names in the exchange's inbound folder that are not looked at yet.
    """

    leave: frozenset[str] = frozenset()

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """nbgrader's record of a submission, with whether it is collected, and why it is not."""
        file = os.path.basename(path)
        why = ""
        try:
            record = super()._path_to_record(path)
            why = self._foreign(path, record["username"])
        except Exception:  # every account can put a folder of any name here
            record = {"username": file.partition("+")[0], "filename": file, "timestamp": datetime.min}
            why = f"{shown(file)} should be named STUDENT+ASSIGNMENT+TIME, but is not"
        return {**record, "take": not why and file not in self.leave, "why": why}

    def _foreign(self, path: str, student: str) -> str:
        """Why a folder is not this student's work; "" where accounts cannot tell."""
        if not self.check_owner or os.name != "posix":
            return ""
        import pwd

        try:
            account, owner = pwd.getpwnam(student).pw_uid, os.lstat(path).st_uid
        except (KeyError, OSError):  # no such account: another kind of login
            return ""
        if owner in (account, os.getuid()):
            return ""
        file = shown(os.path.basename(path))
        return f"{file} should belong to the account of {shown(student)}, but belongs to another one"

    def _sort_by_timestamp(self, records: list[dict]) -> list[dict]:
        return sorted(records, key=lambda each: (each["take"], each["timestamp"]), reverse=True)

    def copy_files(self) -> None:
        for record in self.src_records:
            if record["why"]:
                self.log.warning("%s. It was not collected.", record["why"])
        self.check_owner = False  # done, see `_foreign`
        taken = [record for record in self.src_records if record["take"]]
        name, course = self.coursedir.assignment_id, self.coursedir.course_id
        self.log.info("Processing %d submissions of '%s' for course '%s'", len(taken), name, course)
        self.log.addFilter(_is_no_count)
        try:
            for record in taken:
                self._copy_one(record)
        finally:
            self.log.removeFilter(_is_no_count)

    def _copy_one(self, record: dict[str, Any]) -> None:
        self.src_records = [record]
        try:
            super().copy_files()
        except Exception as error:  # the others are collected all the same
            self.log.warning("%s was not collected: %s.", shown(record["filename"]), error)

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copy a submission beside its place, and move it there when it is whole."""
        place = Path(dest)
        for left in place.parent.glob(f"{BESIDE}*"):  # of a process that was killed
            remove(left)
        beside = Path(tempfile.mkdtemp(dir=place.parent, prefix=BESIDE))
        ignored = ignore_patterns(
            exclude=self.coursedir.ignore,
            include=self.coursedir.include,
            max_file_size=self.coursedir.max_file_size,
            log=self.log,
        )
        try:
            _copy(Path(src), beside, ignored, 1000 * self.coursedir.max_dir_size)
            self._correct_time(Path(src), beside)
            beside.chmod(0o2770 if self.coursedir.groupshared else 0o755)
            if self.coursedir.groupshared:
                for path in beside.rglob("*"):
                    path.chmod(0o2770 if path.is_dir() else 0o660)
            beside.rename(place)
        except BaseException:
            remove(beside)
            raise

    def _correct_time(self, source: Path, copy: Path) -> None:
        """Put a later time of arrival into timestamp.txt, and log a warning.

        The student wrote it. A submission arrived at the latest of three times: the one in the file, the
        one in the folder's name, and the file's own. If the file holds no time, it arrived now.
        """
        (record,) = self.src_records
        said = kept(copy).get(TIMESTAMP)
        told = time(said, zone_of(self.config)) if said else None
        now = arrived = datetime.now(UTC).replace(tzinfo=None)
        if told is not None:
            arrived = min(now, max(record["timestamp"], _modified(source / TIMESTAMP)))
            if arrived - told <= LEEWAY:
                return
        (copy / TIMESTAMP).write_text(f"{arrived:%Y-%m-%d %H:%M:%S.%f} UTC", encoding="utf-8")
        holds = "no time" if told is None else f"{told:{MINUTES}}"
        self.log.warning(
            "%s of %s holds %s, but the work arrived at %s, which counts. "
            "If that is wrong, correct the file in submitted/.",
            *(TIMESTAMP, shown(record["username"]), holds, f"{arrived:{MINUTES}}"),
        )


def _modified(path: Path) -> datetime:
    """When a file was last changed, in UTC without its zone; long ago if that cannot be told."""
    try:
        return datetime.fromtimestamp(os.lstat(path).st_mtime, UTC).replace(tzinfo=None)
    except (OSError, OverflowError, ValueError):  # the file's owner can set any time
        return datetime.min


def _is_no_count(line: LogRecord) -> bool:
    """Leaves out nbgrader's line with the number of submissions, which would say 1 for each of them."""
    return not str(line.msg).startswith("Processing")


def _copy(source: Path, target: Path, ignored: Callable, most: int) -> None:
    """Copy regular files, and no more than ``most`` bytes. The student may change them meanwhile: every
    file is opened below a folder that is open already, so no link is followed.

    Raises:
        RuntimeError: there is more than a submission may hold.
    """
    size = number = 0
    for place, folders, files, handle in os.fwalk(source, follow_symlinks=False):
        below = Path(place).relative_to(source)
        (target / below).mkdir(exist_ok=True)
        left = set(ignored(place, [*folders, *files]))
        folders[:] = [name for name in folders if name not in left and len(below.parts) < bounds.DEPTH]
        for name in sorted(set(files) - left):
            with suppress(OSError):
                opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=handle)
                with os.fdopen(opened, "rb") as file:
                    if not stat.S_ISREG(os.fstat(opened).st_mode):
                        continue
                    content = file.read(most - size + 1)
                size, number = size + len(content), number + 1
                if size > most or number > bounds.FILES:
                    break
                (target / below / name).write_bytes(content)
        if size > most or number > bounds.FILES:
            raise RuntimeError(
                f"it should hold at most {bounds.FILES:,} files of {most // 1_000_000} MB together"
            )
