"""Rebuild the course's data files from their source packages.

    python -m seqcourse.data.build tatoeba --source FOLDER   (eng-spa.tsv.gz, eng-fra.tsv.gz)
    python -m seqcourse.data.build cmudict --source FOLDER   (cmudict.dict, LICENSE)
    python -m seqcourse.data.build alice   --source FOLDER   (carroll-alice.txt)
    python -m seqcourse.data.build children --source FOLDER  (bryant-stories.txt and two more)
    python -m seqcourse.data.build familiar --source FOLDER  (gcompris-qt-data, mate-backgrounds)
    python -m seqcourse.data.build fashion --source FOLDER   (the four files of Fashion-MNIST)
    python -m seqcourse.data.build photographs --source FOLDER  (the folder of Tux Paint's stamps)
    python -m seqcourse.data.build pictures --source FOLDER  (the folder of Tux Paint's stamps)
    python -m seqcourse.data.build digits  --source FOLDER   (digits.npz)
    python -m seqcourse.data.build prompts --source FOLDER   (core-sounds-en.txt.gz, en_US_f_Allison/)

The same source gives the same bytes. Every file is written atomically.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from seqcourse.data.build import (
    alice,
    children,
    cmudict,
    digits,
    familiar,
    fashion,
    photographs,
    pictures,
    prompts,
    tatoeba,
)
from seqcourse.data.readers import FILES
from seqcourse.errors import CourseError

_SETS = (tatoeba, cmudict, alice, children, familiar, fashion, photographs, pictures, digits, prompts)
BUILDERS = {module.__name__.rpartition(".")[2]: module.build for module in _SETS}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m seqcourse.data.build",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=list(BUILDERS))
    parser.add_argument("--source", type=Path, required=True, help="folder of the source files")
    parser.add_argument("--target", type=Path, default=FILES, help="where to write the folders")
    options = parser.parse_args(arguments)
    try:
        BUILDERS[options.name](options.source, options.target)
    except CourseError as error:
        print(error, file=sys.stderr)
        return 2
    return 0
