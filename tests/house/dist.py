"""Build what is published: source distribution and wheel. `make dist` runs this file."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

MOST = 40e6  # bytes of a wheel


def source(root: Path, out: Path) -> Path:
    """The source distribution of a checkout."""
    command = [sys.executable, "setup.py", "--quiet", "sdist", "--dist-dir", str(out.resolve())]
    subprocess.run(command, cwd=root, check=True)
    (packed,) = out.glob("*.tar.gz")
    return packed


def wheel(packed: Path, out: Path, **environment: str) -> Path:
    """The wheel that a source distribution gives, with nothing else at hand."""
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"]
    command = [*pip, "--no-build-isolation", "--wheel-dir", str(out), str(packed)]
    subprocess.run(command, check=True, env=os.environ | environment)
    (built,) = out.glob("*.whl")
    return built


def main(out: Path, tag: str = "") -> None:
    """Build both; refuse a tag that is not the version, and a wheel that is too large."""
    root = Path(__file__).resolve().parents[2]
    text = (root / "seqcourse" / "__init__.py").read_text(encoding="utf-8")
    version = re.search(r'__version__ = "(.+)"', text)[1]
    if tag not in ("", f"v{version}"):
        sys.exit(f"The tag should be v{version}, the version of the package, but it is {tag}.")
    for old in out.glob("seqcourse-*"):
        old.unlink()
    built = wheel(source(root, out), out)
    size = built.stat().st_size
    if size > MOST:
        sys.exit(f"{built} should be at most {MOST / 1e6:.0f} MB, but it is {size / 1e6:.1f} MB.")
    print(f"{built}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
