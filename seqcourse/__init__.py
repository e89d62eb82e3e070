"""seqcourse: the helper package of a course on sequence models."""

from seqcourse import profile
from seqcourse.errors import CourseError
from seqcourse.settings import budget, device, is_static, seed_everything

__version__ = "0.1.0"
__all__ = ["CourseError", "budget", "device", "is_static", "seed_everything"]
profile.make_known(__version__)
