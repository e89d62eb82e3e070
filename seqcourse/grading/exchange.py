"""Release feedback through nbgrader's exchange, skipping submissions that did not come through it."""

from __future__ import annotations

import glob
from pathlib import Path

from nbgrader.exchange.default import ExchangeReleaseFeedback

from seqcourse.grading.kept import NEEDED


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
