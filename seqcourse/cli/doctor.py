"""``seqcourse doctor``: what is here, what is missing, and what to do about it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from seqcourse.cli.install import NEWEST, OLDEST, VERSIONS
from seqcourse.errors import CourseError

GOOD = "ok"
ABSENT = "not here"  # something optional
BAD = "wrong"
STYLES = {GOOD: "green", ABSENT: "yellow", BAD: "bold red"}
GIB = 2**30


@dataclass(frozen=True)
class ReportLine:
    """One line of the report."""

    what: str
    state: str
    sentence: str


def check_installation() -> bool:
    """Print the report; True if nothing that the course needs is wrong."""
    findings = [finding for part in PARTS for finding in _guarded(part)]
    table = Table(title="seqcourse doctor", show_lines=False)
    table.add_column("what", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("found")
    for finding in findings:
        style = STYLES[finding.state]
        state = f"[{style}]{finding.state}[/{style}]"
        table.add_row(escape(finding.what), state, escape(finding.sentence))
    Console(highlight=False).print(table)
    bad = [finding for finding in findings if finding.state == BAD]
    print(
        f"{len(bad)} things are wrong: {', '.join(finding.what for finding in bad)}."
        if bad
        else "Everything that the course needs is here."
    )
    return not bad


def _guarded(part: Callable[[], Iterator[ReportLine]]) -> list[ReportLine]:
    """The findings of one part; if looking itself fails, that is a finding too."""
    try:
        return list(part())
    except CourseError as error:
        return [ReportLine(part.__name__, BAD, str(error))]


def version(name: str) -> str | None:
    """The installed version of a package, or None."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def python() -> Iterator[ReportLine]:
    here = platform.python_version()
    fits = OLDEST <= sys.version_info[:2] <= NEWEST
    told = f"{here} in {sys.prefix}" if fits else f"{here}, but {VERSIONS} is needed"
    yield ReportLine("Python", GOOD if fits else BAD, told)


def torch() -> Iterator[ReportLine]:
    if version("torch") is None:
        yield ReportLine("PyTorch", BAD, "not installed; give: pip install torch")
        return
    import torch as library

    from seqcourse.settings import device

    toolkit = library.version.cuda or library.version.hip
    build = f"GPU build ({toolkit})" if toolkit else "CPU build"
    told = f"{library.__version__}, {build}, {library.get_num_threads()} threads"
    yield ReportLine("PyTorch", GOOD, told)
    chosen = device()
    named = library.cuda.get_device_name(chosen) if chosen.type == "cuda" else "no GPU is used"
    yield ReportLine("device", GOOD, f"{chosen} ({named})")


def tools() -> Iterator[ReportLine]:
    for name, needed_for, extra in (
        ("jupyterlab", "seqcourse lab", None),
        ("nbgrader", "release and grade", "grading"),
        ("jupyter-book", "seqcourse book", "site"),
        ("pytest", "the tests", "dev"),
    ):
        found = version(name)
        if found:
            yield ReportLine(name, GOOD, f"{found}, for {needed_for}")
        elif extra:
            install = f"pip install 'seqcourse[{extra}]'"
            yield ReportLine(name, ABSENT, f"needed for {needed_for}; install it: {install}")
        else:
            yield ReportLine(name, BAD, f"needed for {needed_for}; install it: pip install {name}")
    yield from kernel()


def kernel() -> Iterator[ReportLine]:
    if version("jupyter_client") is None:
        return
    from jupyter_client.kernelspec import KernelSpecManager

    places = KernelSpecManager().find_kernel_specs()
    if "python3" in places:
        yield ReportLine("kernel python3", GOOD, places["python3"])
    else:
        install = f"{sys.executable} -m ipykernel install --sys-prefix"
        yield ReportLine("kernel python3", BAD, f"every notebook needs it; give: {install}")


def browser() -> Iterator[ReportLine]:
    from seqcourse.pages.browser import installed_browser

    found = installed_browser()
    if found:
        yield ReportLine("browser", GOOD, f"{found}, for the tests of the pages and the book as a PDF")
    else:
        told = "no Chromium for the tests of the pages; install one, or: playwright install chromium"
        yield ReportLine("browser", ABSENT, told)


def sandbox() -> Iterator[ReportLine]:
    """What keeps a student's code apart when it is graded."""
    if version("jupyter_client") is None:
        return
    from cellgrader.sandbox import calls, cgroup, refusal
    from cellgrader.sandbox.available import bubblewrap_version

    why_not = refusal()
    if why_not:
        told = f"only for grading. {why_not} Without it, grading asks for --unsafe-no-sandbox."
        yield ReportLine("sandbox", ABSENT, told)
        return
    number = ".".join(map(str, bubblewrap_version() or ()))
    yield ReportLine("sandbox", GOOD, f"bubblewrap {number}; one was started and works")
    kept = cgroup.controllers()
    names = {"memory": "memory", "pids": "number of processes"}
    by_groups = " and ".join(names[name] for name in kept)
    told = f"control groups keep {by_groups}; " if kept else "no control groups can be made here; "
    told += "the rest is watched ten times a second"
    if "memory" not in kept:
        told += (
            ". Not covered: a burst between two looks, and memory of the system for a student's code, "
            "such as buffers of sockets and pipes (up to about 400 MB). Run the grader where systemd "
            "delegates control groups, or as root"
        )
    yield ReportLine("limits", GOOD, told)
    if calls.library() is None:
        install = "install it (on Debian and Ubuntu: sudo apt-get install libseccomp2)"
        yield ReportLine("system calls", ABSENT, f"not filtered, as there is no libseccomp; {install}")
    else:
        yield ReportLine("system calls", GOOD, "those that no notebook needs are refused (libseccomp)")


def settings() -> Iterator[ReportLine]:
    """The settings of the class that holds here, each with its value."""
    from cellgrader.class_settings import FILES, read_settings
    from cellgrader.course.address import shown
    from seqcourse.cli.root import find_root

    try:
        found = read_settings(find_root())
    except CourseError as error:
        if FILES[0] in str(error) or FILES[1] in str(error):
            yield ReportLine("course.toml", BAD, str(error))
        return  # the package alone, as a student may have it
    values = {**found.values}
    if values["gradebook"]:
        values["gradebook"] = shown(values["gradebook"])  # without its password
    local = [key for key, where in found.sources.items() if where.startswith(FILES[1])]
    told = ", ".join(f"{key} = {value}" for key, value in values.items() if value != "")
    told += f"; {', '.join(local)} from {FILES[1]}" if local else ""
    yield ReportLine("course.toml", GOOD, told)


def student() -> Iterator[ReportLine]:
    """Whether a student's folder has the notebooks of this version."""
    from seqcourse import __version__
    from seqcourse.cli.handout import version_of
    from seqcourse.cli.root import find_work, is_started

    try:
        folder = find_work()
    except CourseError:
        yield ReportLine(
            "folder", ABSENT, "none here with chapters; make one: seqcourse start my-course"
        )
        return
    if is_started(folder):
        found = version_of(folder)
        told = f"{folder}, version {found or '?'}"
        if found != __version__:
            told += f", but {__version__} is installed; give: seqcourse update"
        yield ReportLine("folder", GOOD if found == __version__ else ABSENT, told)


def privacy() -> Iterator[ReportLine]:
    """Whether other accounts of this machine can read the solutions."""
    from seqcourse.cli.root import find_root

    try:
        solutions = find_root() / "solutions"
    except CourseError:  # the package alone, as a student may have it
        return
    if others_may_enter(solutions):
        told = f"others on this machine can read your solutions; give: chmod go-rwx {solutions}"
        yield ReportLine("privacy", ABSENT, told)
    else:
        yield ReportLine("privacy", GOOD, "no other account can read solutions/")


def others_may_enter(folder: Path) -> bool:
    """Whether accounts that own neither a folder nor those above it may list or enter it."""
    folder = folder.resolve()
    if not folder.is_dir() or os.name == "nt":
        return False
    above = all(_others_may(place, 0o011) for place in folder.parents)
    return above and _others_may(folder, 0o055)


def _others_may(place: Path, bits: int) -> bool:
    """Whether accounts other than the owner have one of these rights.

    The group's rights do not count where nobody else is in it: many systems give each account a group.
    """
    import grp
    import pwd

    status = place.stat()
    owner, group = status.st_uid, status.st_gid
    try:
        shared = set(grp.getgrgid(group).gr_mem) - {pwd.getpwuid(owner).pw_name}
        shared = shared or any(o.pw_gid == group and o.pw_uid != owner for o in pwd.getpwall())
    except KeyError:
        shared = True  # the system does not know who is in the group
    return bool(status.st_mode & (bits if shared else bits & 0o007))


def database() -> Iterator[ReportLine]:
    """A server for the gradebook is optional: without one it is a file."""
    found = version("psycopg")
    if found:
        yield ReportLine("PostgreSQL", GOOD, f"psycopg {found}, for a gradebook on a server (optional)")
    else:
        told = "optional, for a gradebook on a server; install it: pip install 'seqcourse[postgres]'"
        yield ReportLine("PostgreSQL", ABSENT, told)


def data() -> Iterator[ReportLine]:
    from seqcourse.cli.data import data_sets

    for entry in data_sets():
        problems = entry.problems()
        told = "; ".join(problems) or f"{entry.size() / 1e6:.1f} MB, checksums agree"
        yield ReportLine(f"data: {entry.name}", BAD if problems else GOOD, told)


def checkpoints() -> Iterator[ReportLine]:
    if version("torch") is None:
        return
    from seqcourse import zoo

    for name in zoo.names():
        folder = zoo.FILES / name
        try:
            system = zoo.load(name)
        except CourseError as error:
            yield ReportLine(f"model: {name}", BAD, str(error))
            continue
        size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
        count = sum(parameter.numel() for parameter in system.model.parameters())
        told = f"{count / 1e6:.1f} M parameters, {size / 1e6:.1f} MB, loads"
        yield ReportLine(f"model: {name}", GOOD, told)


def published_models() -> Iterator[ReportLine]:
    """Weights that others published are extras: stored outputs stand in for them."""
    if version("torch") is None:
        return
    from seqcourse.zoo import published

    for name, package in published.PACKAGES.items():
        place = published.find(name)
        if place is None:
            told = f"optional, {package.about}; get it: seqcourse data fetch {name}"
            yield ReportLine(f"published: {name}", ABSENT, told)
        elif name == "smollm2" and version("gguf") is None:
            told = "found, but it needs the gguf library: pip install 'seqcourse[published]'"
            yield ReportLine(f"published: {name}", ABSENT, told)
        else:
            yield ReportLine(f"published: {name}", GOOD, f"{package.about}, in {place}")


def machine() -> Iterator[ReportLine]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    told = f"{cores} cores"
    names = getattr(os, "sysconf_names", {})
    state = GOOD
    if "SC_PHYS_PAGES" in names:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        told += f", {total / GIB:.0f} GiB of memory"
        if total < 3 * GIB:
            state, told = BAD, f"{told}; the chapters need 3 GiB"
    free = shutil.disk_usage(Path.cwd()).free
    told += f", {free / GIB:.0f} GiB free on this disk"
    yield ReportLine("machine", state, told)


PARTS = (
    *(python, torch, machine, tools, student, sandbox, settings, privacy, database, browser),
    *(data, checkpoints, published_models),
)
