"""nbgrader's exchange, for a class in which not everything came through it."""

from __future__ import annotations

import glob
from pathlib import Path

from nbgrader.exchange.default import ExchangeReleaseFeedback

# What `nbgrader submit` leaves beside the work; by it a student's page is found again.
NEEDED = ("timestamp.txt", "submission_secret.txt")


class ReleaseFeedback(ExchangeReleaseFeedback):
    """Releases the pages that students can fetch, and says which they cannot."""

    def copy_files(self) -> None:
        for folder in map(Path, sorted(glob.glob(self.src_path))):
            missing = [name for name in NEEDED if not (folder / name).is_file()]
            if missing:
                self.log.warning(
                    "%s should have %s beside the work to fetch feedback, but it did not come with it. "
                    "Nothing was released: hand %s/*.html back the way the work came.",
                    folder.parent.name,
                    " and ".join(missing),
                    folder,
                )
            else:
                self.src_path = glob.escape(str(folder))
                super().copy_files()
