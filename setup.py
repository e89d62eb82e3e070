"""What pyproject.toml cannot say: notebooks from outside the package, and addresses from a setting."""

import shutil
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from seqcourse.cli import handout  # noqa: E402
from seqcourse.pages.addresses import find_repository  # noqa: E402

# What the source distribution holds besides the package, so that whoever builds from it has the same.
BESIDE = ["constraints.txt", "CHANGELOG.md", "CITATION.cff"]


class WithNotebooks(build_py):
    """Puts what a student gets into the wheel, as seqcourse/handout/."""

    def run(self):
        super().run()
        if self.editable_mode:
            return  # they are read where they are
        folder = Path(self.build_lib, "seqcourse", "handout")
        shutil.rmtree(folder, ignore_errors=True)  # of an earlier build
        for name in handout.names(ROOT):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target)

    def get_source_files(self):
        return super().get_source_files() + handout.names(ROOT) + BESIDE


address = find_repository(ROOT)  # BOOK_REPOSITORY, or the remote of git
urls = {"Source": address, "Issues": f"{address}/issues"} if address else {}
setup(cmdclass={"build_py": WithNotebooks}, project_urls=urls)
