"""Who hands in together: groups that course.toml names, or that each member's own file names.

partners.txt has one name a line, of an account or an e-mail address; commas and spaces separate names,
too, and case does not matter. Whoever names only themselves hands in alone. It counts where
``group_size`` allows it, and groups in course.toml come before files. Nobody speaks for another: a file
that names somebody whose own file says something else holds up its student alone, and a sentence says
what to do. Where partners hand in different work, nobody of them is graded.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from cellgrader import bounds
from cellgrader.course.address import sqlite_file
from cellgrader.course.folders import Course
from cellgrader.course.gradebook import opened
from cellgrader.course.records import unfit_name
from cellgrader.notebook.parse import NotGradable, plain_text, read_bytes, shown
from cellgrader.submission.collected import Submission

if TYPE_CHECKING:
    from cellgrader.course.snapshot import Snapshot

FILE = "partners.txt"
# Learning platforms number a file that is handed in again.
NAMED = re.compile(r"partners(?:-\d+| ?\(\d+\))?\.txt", re.IGNORECASE)
# The most bytes of such a file.
LONGEST = 1_000
# Around a name: signs of lists, quotes.
AROUND = " \t,;:.\"'*-"


@dataclass(frozen=True)
class Submissions:
    """Who handed in together, and questions for the instructor about names in course.toml.

    known: student -> submission, where it is not that of the student alone.
    """

    known: Mapping[str, Submission] = field(default_factory=dict)
    questions: tuple[str, ...] = ()

    def of(self, student: str) -> Submission:
        """The submission that a student has a part in; no file of it was read."""
        return self.known.get(student, Submission((student,)))

    def whole(self, students: Iterable[str]) -> list[str]:
        """These students and their partners, each once."""
        return list(dict.fromkeys(who for student in students for who in self.of(student).members))

    def each(self, students: Iterable[str]) -> list[Submission]:
        """The submissions of these students, each once."""
        return list({each.first: each for each in map(self.of, students)}.values())


@dataclass(frozen=True)
class Claim:
    """What a file says: with whom its student works, or in a sentence why that cannot be told."""

    group: frozenset[str] = frozenset()
    problem: str = ""


def find_submissions(course: Course, name: str) -> Submissions:
    """Who hands in together: groups from course.toml, then from the files beside the notebooks."""
    settings = course.settings
    listed, where = settings.own(name, "partners")
    size, _ = settings.own(name, "group_size")
    if not listed and size == 1:
        return Submissions()
    people = _People(course)
    fixed, questions = _fixed(people, listed, where)
    claims = {}
    for student in course.students(name) if size > 1 else ():
        if student not in fixed and people.fits(student):
            claim = _claim(course.submitted / student / name, student, people, size)
            if claim and not claim.problem:
                claim = _with_fixed(claim, student, fixed, where)
            if claim:
                claims[student] = claim
    return Submissions(fixed | _from_claims(claims), tuple(questions))


def handing_in(course: Course, name: str) -> list[str]:
    """The students who handed in, and their partners."""
    return sorted(find_submissions(course, name).whole(course.students(name)))


class _People:
    """The names of a class: what is in the gradebook, and, if that is no list, the folders."""

    def __init__(self, course: Course) -> None:

        self.emails: dict[str, str] = {}
        self.listed = False
        file = sqlite_file(course.gradebook_url)
        if file is None or file.exists():
            with opened(course, as_it_is=True) as gradebook:
                for student in gradebook.students:
                    self.emails[student.id] = student.email or ""
                    self.listed |= bool(student.first_name or student.last_name or student.email)
        names = {*self.emails}
        if not self.listed and course.submitted.is_dir():
            names |= {path.name for path in course.submitted.iterdir() if path.is_dir()}
        self.names = {name for name in names if not unfit_name(name)}
        self.called: dict[str, set[str]] = {}
        for name in self.names:
            for word in filter(None, (name, self.emails.get(name, ""))):
                self.called.setdefault(_plain(word), set()).add(name)

    def fits(self, student: str) -> bool:
        """Whether a student of this name may be in a group."""
        return student in self.names or not self.listed and not unfit_name(student)

    def named(self, text: str) -> str:
        """The student whom a text names; "" for nobody, or several."""
        if text in self.names:
            return text
        found = self.called.get(_plain(text), ())
        return next(iter(found)) if len(found) == 1 else ""


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip()).casefold()


def _fixed(people: _People, listed: list, where: str) -> tuple[dict[str, Submission], list[str]]:
    """The groups of course.toml, without whom the class does not know."""
    found, questions = {}, []
    for group in listed:
        members = tuple(sorted(name for name in group if people.fits(name)))
        for name in sorted({*group} - {*members}):
            questions.append(
                f"Who is {shown(name)}? {where}: partners has this name, but the gradebook has no such "
                f"student, so nothing was graded for it. Correct the name, take it out, or add the "
                f"student: nbgrader db student add {shown(name)}"
            )
        found |= {name: Submission(members) for name in members}
    return found, questions


def names_files(names: Iterable[str]) -> list[str]:
    """Which of these files of a folder name partners: partners.txt, or what a platform made of it."""
    alike = sorted(name for name in names if NAMED.fullmatch(name))
    exact = [name for name in alike if name.lower() == FILE]
    return exact or alike


def _claim(folder: Path, student: str, people: _People, size: int) -> Claim | None:
    """What a student's file says; None without a file."""
    files = []
    if not folder.is_symlink() and not folder.parent.is_symlink():
        with suppress(OSError), os.scandir(folder) as entries:
            files = names_files(entry.name for entry in islice(entries, bounds.SEARCHED))
    if not files:
        return None
    again = "Write the partners' account names into it, one a line, and hand it in again."
    its = f"{FILE} of {shown(student)}"
    if len(files) > 1:
        return Claim(problem=f"{its} should be one file, but there are {', '.join(files)}. {again}")
    try:
        content = read_bytes(folder / files[0], LONGEST)
    except NotGradable:
        said = f"{its} should be an ordinary file of at most {LONGEST:,} bytes, but is not. {again}"
        return Claim(problem=said)
    names, unknown = read_names(content, people.named)
    if unknown:
        said = ", ".join(shown(word) for word in unknown[:3])
        return Claim(problem=f"{its} names {said}, which is no student of this class. {again}")
    if not names:
        return None
    group = frozenset({student, *names})
    if len(group) > size:
        return Claim(
            problem=f"{its} names a group of {len(group)}, but at most {size} may hand in together "
            f"(group_size in course.toml). {again}"
        )
    return Claim(group)


def read_names(content: bytes, named: Callable[[str], str]) -> tuple[list[str], list[str]]:
    """The students whom the text of a file names, and what in it is no student.

    Args:
        named: a text -> the student whom it names, or "".
    """
    found, unknown = [], []
    for line in plain_text(content).splitlines():
        # A name may have spaces: the longest piece that names somebody counts.
        for piece in [line] if named(line.strip(AROUND)) else re.split(r"[,;]", line):
            piece = piece.strip(AROUND)
            words = [piece] if named(piece) else [word.strip(AROUND) for word in piece.split()]
            for word in filter(None, words):
                (found if named(word) else unknown).append(named(word) or word)
    return list(dict.fromkeys(found)), list(dict.fromkeys(unknown))


def naming(course: Course) -> Callable[[bytes], tuple[list[str], list[str]]]:
    """A function that reads names out of a file's content, by the names of the class."""
    people = _People(course)
    return lambda content: read_names(content, people.named)


def _with_fixed(claim: Claim, student: str, fixed: Mapping[str, Submission], where: str) -> Claim:
    """A claim on somebody whom course.toml has in a group is none."""
    taken = sorted(claim.group & fixed.keys())
    if not taken:
        return claim
    return Claim(
        problem=f"{FILE} of {shown(student)} names {shown(taken[0])}, whom {where} has in another "
        f"group. Take the name out of the file, or change course.toml."
    )


def _from_claims(claims: Mapping[str, Claim]) -> dict[str, Submission]:
    """The groups that the files of all their members name; any other claim holds up who makes it."""
    found = {}
    for who, claim in claims.items():
        against = [each for each in sorted(claim.group) if claims.get(each) != claim]
        members = (who,) if claim.problem or against else tuple(sorted(claim.group))
        unclear = _one_sided(claim, who, against[0], claims.get(against[0])) if against else ""
        found[who] = Submission(members, unclear=claim.problem or unclear)
    return found


def _one_sided(claim: Claim, student: str, other: str, its: Claim | None) -> str:
    """A sentence for whoever names somebody whose own file does not say the same."""
    ours, theirs = (_names(claim.group - {student}), _names((its or Claim()).group - {other}))
    where = f"whose own {FILE} names {theirs}" if theirs else f"who has no {FILE} that says so"
    return (
        f"{FILE} of {shown(student)} names {ours}, but it takes every partner's own file: among them is "
        f"{shown(other)}, {where}. Let each partner hand in a {FILE} with the same group, or take the "
        f"name out and hand in again."
    )


def _names(group: frozenset[str]) -> str:
    return " and ".join(map(shown, sorted(group)))


def without_names(snapshot: Snapshot) -> Snapshot:
    """A submission without the file that names partners: it is no part of the work."""
    files = names_files(path for path in snapshot.files if "/" not in path)
    return replace(snapshot, files={k: v for k, v in snapshot.files.items() if k not in files})
