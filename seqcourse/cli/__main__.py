"""``python -m seqcourse.cli`` does the same as ``seqcourse``."""

from seqcourse.cli import main

main()
