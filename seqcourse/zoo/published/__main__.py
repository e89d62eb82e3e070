"""``python -m seqcourse.zoo.published``: make the stored outputs and reference figures again.

``outputs`` asks SmolLM2 what the chapter asks it; ``reference`` runs MiniLM's weights in the BertModel
of HF transformers, for the test that compares ours with it.
"""

from __future__ import annotations

import sys

from seqcourse.errors import CourseError
from seqcourse.zoo.published.stored import write_outputs, write_reference

COMMANDS = {"outputs": write_outputs, "reference": write_reference}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in COMMANDS:
        sys.exit(f"Usage: python -m seqcourse.zoo.published {'|'.join(COMMANDS)}")
    try:
        COMMANDS[sys.argv[1]]()
    except CourseError as error:
        sys.exit(str(error))
