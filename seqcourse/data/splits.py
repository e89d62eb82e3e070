"""Which split an item belongs to: decided by a hash of its key, so it never changes."""

from __future__ import annotations

import hashlib

from seqcourse.errors import CourseError

SPLITS = ("train", "valid", "test")
_TEST_SHARE = 0.05
_VALID_SHARE = 0.03


def fraction_of(key: str, salt: str = "") -> float:
    """A number in [0, 1) that depends only on the key and the salt."""
    digest = hashlib.sha256(f"{salt}\n{key}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def split_of(key: str, salt: str = "") -> str:
    """The split of an item: "train" (92 %), "valid" (3 %) or "test" (5 %).

    The answer is the same on every machine and depends on no other item.
    """
    fraction = fraction_of(key, salt)
    if fraction < _TEST_SHARE:
        return "test"
    if fraction < _TEST_SHARE + _VALID_SHARE:
        return "valid"
    return "train"


def check_split(split: str, allowed: tuple[str, ...] = SPLITS) -> None:
    """Raise a CourseError unless ``split`` is one of the allowed names."""
    if split not in allowed:
        names = ", ".join(repr(name) for name in allowed)
        raise CourseError(f"There is no split {split!r}; expected one of {names}.")
