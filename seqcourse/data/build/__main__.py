"""``python -m seqcourse.data.build``."""

import sys

from seqcourse.data.build import main

if __name__ == "__main__":
    sys.exit(main())
