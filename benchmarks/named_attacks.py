"""The attacks on what is outside the sandbox, one by one: what each did once, and what it does now.

    python benchmarks/named_attacks.py

One class: a submission for each attack and one honest student, through `seqcourse grade`, `similar` and
`feedback`. "before" is what was found at commit 2f814f3. Writes benchmarks/results/named_attacks.json:
for each attack its status, the seconds of its examination, whether it was compared with the others and
what was kept of it; for each command its largest process outside the sandbox.

About 5 minutes on two idle cores.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the corpus belongs to the tests

from benchmarks import attacks as corpus  # noqa: E402
from benchmarks.grading import make_class  # noqa: E402
from cellgrader.course.folders import Course, remove  # noqa: E402
from cellgrader.course.records import read_record  # noqa: E402
from cellgrader.notebook import document as notebooks  # noqa: E402
from tests.attacks import hostile  # noqa: E402
from tests.attacks.hostile import NAME  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "named_attacks.json"
ODD = "\x1b[2J\x1b]0;owned\x07\u202e\n=1+1"
RAISES = f"raise type({ODD!r}, (Exception,), {{}})"
# Changes a solved notebook, or the folder in which it is.
Build = Callable[[dict, Path], None]


def adds(source: str, kind: str = "code") -> Build:
    """One more cell."""

    def build(book: dict, folder: Path) -> None:
        extra = {"outputs": [], "execution_count": None} if kind == "code" else {}
        cell = {"cell_type": kind, "id": "own", "metadata": {}, "source": source, **extra}
        book["cells"].append(cell)

    return build


def has(name: str, content: str = "raise SystemExit") -> Build:
    """One more file."""
    return lambda book, folder: notebooks.write_text(folder / name, content) and None


def from_corpus(number: int) -> Build:
    """The cells of a page of tests/attacks/corpus, behind the right answers."""
    (page,) = (attack for attack in hostile.load() if attack.name.startswith(f"{number}_"))
    return adds("\n".join(source for place, source in page.cells if not place.startswith("answer")))


def nest(book: dict, folder: Path) -> None:
    here = os.getcwd()
    os.chdir(folder)
    for _ in range(1_500):
        os.mkdir("d")
        os.chdir("d")
    os.chdir(here)


def pipe(name: bytes) -> Build:
    def build(book: dict, folder: Path) -> None:
        (folder / os.fsdecode(name)).unlink(missing_ok=True)
        os.mkfifo(os.fsencode(folder) + b"/" + name)

    return build


def link(book: dict, folder: Path) -> None:
    (folder / f"{NAME}.ipynb").symlink_to("/dev/zero")


def metadata(value: object) -> Build:
    return lambda book, folder: [cell.update(metadata=value) for cell in book["cells"]] and None


def source(value: object) -> Build:
    return lambda book, folder: [cell.update(source=value) for cell in book["cells"]] and None


def page_folder(book: dict, folder: Path) -> None:
    (folder / f"{NAME}.html").mkdir()


# name -> (number in the list, what happened before, how it is made)
CASES: dict[str, tuple[int, str, Build]] = {
    "a lone surrogate printed": (1, "UnicodeEncodeError ended the run", adds("print('\\ud800')")),
    "1,500 nested folders": (1, "RecursionError ended the run", nest),
    "a FIFO that is not UTF-8": (1, "ended the run", pipe(b"p\xffpe")),
    "a timestamp of 300 letters": (1, "OSError", has("timestamp.txt", "2026-01-02 03:04 " + "x" * 300)),
    "a timestamp in the zone ../x": (1, "OSError", has("timestamp.txt", "2026-01-02 03:04 ../x")),
    "a folder J\udcf6rg": (1, "workers are gone", lambda book, folder: None),
    "print('x' * 200_000)": (2, "45 s", adds("print('x' * 200_000)")),
    "9 kB of a?": (2, "14 s", adds("a?\n" * 3_000)),
    "1 MB of a?": (2, "27 min, extrapolated", adds("a?\n" * 333_333)),
    "14,000 assignments": (2, "3 GB", adds("".join(f"a{k} = {k}\n" for k in range(14_000)))),
    "many wide text arrays": (2, "1.7 GB", from_corpus(111)),
    "a timestamp of 600 kB": (2, "55 s in the main process", has("timestamp.txt", "1 " * 300_000)),
    "\\begin{a} 14,000 times": (2, "13 s", adds("\\begin{a}" * 14_000, "markdown")),
    "1,000,000 empty files": (2, "1 to 2 GB of the kernel's memory", from_corpus(109)),
    "buffers of sockets": (2, "1 to 2 GB of the kernel's memory", from_corpus(110)),
    "null metadata": (3, "similar crashed", metadata(None)),
    "integers as sources": (3, "similar crashed", source(7)),
    "JSON nested 100,000 deep": (3, "similar crashed", lambda book, folder: None),
    "a FIFO as notebook": (3, "similar hung", pipe(f"{NAME}.ipynb".encode())),
    "a link to /dev/zero": (3, "similar hung", link),
    f"a folder {NAME}.html": (3, "ended feedback for all after it", page_folder),
    "the name of an exception": (5, "codes reached the terminal", adds(RAISES)),
    "the name of a file": (5, "codes reached the terminal", pipe(b"p\x1b[2J\x1b]0;owned\x07\n")),
    "torch.py, sitecustomize.py": (8, "copied to autograded/ and feedback/", has("torch.py")),
}  # fmt: skip


def hand_in(course: Course) -> dict[str, str]:
    """Everybody's work; returns the folder's name of each case."""
    (honest,) = course.students(NAME)
    solved = notebooks.read(course.submitted / honest / NAME / f"{NAME}.ipynb")
    names = {}
    for number, (case, (_, _, build)) in enumerate(CASES.items()):
        student = names[case] = "J\udcf6rg" if "J\udcf6rg" in case else f"case{number:02}"
        folder = course.submitted / student / NAME
        folder.mkdir(parents=True)
        book = json.loads(json.dumps(solved))
        build(book, folder)
        path = folder / f"{NAME}.ipynb"
        if "nested 100,000" in case:
            path.write_text('{"cells": ' + "[" * 100_000)
        elif not os.path.lexists(path):
            notebooks.write(book, path)
    notebooks.write_text(course.submitted / names["torch.py, sitecustomize.py"] / NAME / "x.pth", "")
    return names


def processes(pid: int) -> Iterator[psutil.Process]:
    """A process and what it started, but for what is in a sandbox."""
    ours = os.readlink("/proc/self/ns/pid")
    for process in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]:
        try:
            if os.readlink(f"/proc/{process.pid}/ns/pid") == ours:
                yield process
        except (OSError, psutil.Error):
            continue


def command(course: Course, *words: str) -> dict:
    """Run a command of the course: seconds, exit code, what it printed, its largest process."""
    started, largest = time.perf_counter(), 0
    options = {"cwd": course.root, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen([sys.executable, "-m", "seqcourse.cli", *words], **options) as running:
        said: list[bytes] = []
        reader = threading.Thread(target=lambda: said.append(running.stdout.read()))
        reader.start()
        while running.poll() is None:
            for process in processes(running.pid):
                try:
                    largest = max(largest, process.memory_info().rss)
                except psutil.Error:
                    continue
            time.sleep(0.1)
        reader.join()
    text = said[0].decode(errors="replace")
    return {
        "command": f"seqcourse {' '.join(words)}",
        "seconds": round(time.perf_counter() - started, 1),
        "exit code": running.returncode,
        "largest process, MiB": largest >> 20,
        "escape codes": len(re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)),
    } | {"text": text}


def measure(folder: Path) -> dict:
    """Grade, compare, give feedback; the case's own figures and those of the three commands."""
    course = make_class(folder / "class", 1)
    names = hand_in(course)
    try:
        runs = [command(course, word, NAME) for word in ("grade", "similar", "feedback")]
        not_compared = runs[1]["text"]
        cases = {}
        for case, student in names.items():
            number, before, _ = CASES[case]
            record = read_record(course, NAME, student)
            cases[case.replace("\udcf6", "?")] = {
                "attack": number,
                "before": before,
                "now": record.status,
                "seconds": record.seconds,
                "said": record.sentence[:160],
                "compared": f"{student.replace(chr(0xDCF6), '?')}: " not in not_compared,
                "kept": sorted(path.name for path in (course.autograded / student / NAME).glob("*")),
            }
        for run in runs:
            print(run.pop("text")[-3000:])
        return {"machine": corpus.machine(), "runs": runs, "cases": cases}
    finally:
        remove(course.submitted)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="named-") as folder:
        measured = measure(Path(folder))
    RESULT.write_text(json.dumps(measured, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps(measured, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
