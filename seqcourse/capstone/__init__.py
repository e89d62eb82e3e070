"""The system that a student trains in assignment 9: a hidden split, its measures, the course's lines.

``split``   sentences and scenes that a secret draws
``system``  the hidden check: what is asked in the sandbox, and how the answers are measured
``course``  the course's own models: lines to beat, and whose checkpoints must not come back
"""

from seqcourse.capstone.system import SystemCheck

__all__ = ["SystemCheck"]
