"""Builds the rendered book: runs its notebooks, then lets Jupyter Book make the pages."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from seqcourse.cli.execute import ANSI, Report, kernel_environment, run_notebooks
from seqcourse.errors import CourseError

BUILD = "_build"
LOG = "book.log"
CELL_SECONDS = 300
# What pages are dressed in. While no text has changed, Sphinx copies no style sheet and no script.
DRESS = ("book/_static", "book/_templates", "seqcourse/pages", "seqcourse/live/runtime")
# Jupyter Book has no `python -m`; this is what its command does.
JUPYTER_BOOK = "from jupyter_book.cli.main import main; main()"
PROBLEM = re.compile(r"\b(WARNING|ERROR|CRITICAL):|Extension error|Exception occurred")


def build(root: Path, report: Report) -> Path:
    """Execute and render the whole book; returns the path of its first page.

    The notebooks run first (see `seqcourse.cli.execute`), so that each can be reported and a
    failure names notebook, cell and error. Then Jupyter Book renders the pages from the cache
    with warnings as errors. A second build runs and renders only what has changed.

    Raises CourseError: a page of the contents is missing, a notebook failed, a page has an
    error (an unknown label, citation or link).
    """
    from filelock import FileLock

    root = root.resolve()
    output = root / BUILD
    output.mkdir(exist_ok=True)
    with FileLock(output / ".book.lock"):
        pages = contents(root)
        notebooks = [page for page in pages if page.suffix == ".ipynb"]
        cache = output / ".jupyter_cache"
        ran = run_notebooks(root, notebooks, cache, report, _cell_seconds(root))
        return _render(root, output, report, fresh=ran > 0 or _dressed_anew(root, output))


def _dressed_anew(root: Path, output: Path) -> bool:
    """Whether anything of `DRESS` is newer than the pages."""
    index = output / "html" / "index.html"
    files = (path for name in DRESS for path in (root / name).rglob("*") if path.suffix != ".pyc")
    return index.is_file() and any(
        path.is_file() and path.stat().st_mtime > index.stat().st_mtime for path in files
    )


def build_one(root: Path, page: Path, report: Report) -> Path:
    """Execute and render one page alone, into a folder of its own; returns its HTML file.

    For authors. Warnings are shown, not raised: links to other chapters lead nowhere here.
    """
    root, page = root.resolve(), page.resolve()
    if not page.is_file():
        raise CourseError(f"There should be a page {page}, but there is none.")
    folder = Path(tempfile.gettempdir()) / f"seqcourse-page-{page.stem}"
    output = folder / BUILD
    output.mkdir(parents=True, exist_ok=True)
    name = page.relative_to(root).with_suffix("").as_posix()
    toc = folder / "_toc.yml"
    toc.write_text(
        "format: jb-book\nroot: book/references\n"
        f"parts:\n  - caption: One page\n    numbered: 2\n    chapters:\n      - file: {name}\n"
    )
    if page.suffix == ".ipynb":
        run_notebooks(root, [page], output / ".jupyter_cache", report, _cell_seconds(root))
    _render(root, output, report, fresh=True, toc=toc, strict=False)
    return output / "html" / f"{name}.html"


def contents(root: Path) -> list[Path]:
    """The source files of all pages, in the order of _toc.yml; a chapter may have further pages."""
    import yaml

    toc = root / "_toc.yml"
    if not toc.is_file():
        raise CourseError(
            f"The book's contents should be in {toc}, but there is no such file. "
            "Run the command from the root of the course's repository."
        )
    found = yaml.safe_load(toc.read_text(encoding="utf-8"))
    names = [found["root"]]
    for part in found["parts"]:
        for chapter in part["chapters"]:
            names += [page["file"] for page in (chapter, *chapter.get("sections", ()))]
    pages = []
    for name in names:
        files = [root / f"{name}{suffix}" for suffix in (".md", ".ipynb")]
        present = [path for path in files if path.is_file()]
        if not present:
            raise CourseError(
                f"The contents (_toc.yml) name the page {name}, but there is neither "
                f"{name}.ipynb nor {name}.md. Add the file, or take it out of the contents."
            )
        pages.append(present[0])
    return pages


def _render(
    root: Path,
    output: Path,
    report: Report,
    *,
    fresh: bool,
    toc: Path | None = None,
    strict: bool = True,
) -> Path:
    report("rendering the pages")
    started = time.perf_counter()
    command = [sys.executable, "-c", JUPYTER_BOOK, "build", str(root), "-q"]
    command += ["--path-output", str(output.parent)]
    if strict:
        command += ["-W", "--keep-going"]
    if fresh:
        command += ["--all"]
    if toc:
        command += ["--toc", str(toc)]
    environment = kernel_environment(root)
    environment["PYTHONIOENCODING"] = "utf-8"
    result = subprocess.run(
        command,
        cwd=root,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    log = output / LOG
    text = ANSI.sub("", result.stdout)
    log.write_text(text, encoding="utf-8")
    problems = [line for line in text.splitlines() if PROBLEM.search(line)]
    if result.returncode:
        # Sphinx would not read the faulty page again, and so pass the next time.
        shutil.rmtree(output / "html", ignore_errors=True)
        shown = "\n".join(line.replace(f"{root}{os.sep}", "") for line in problems[:20])
        shown = shown or "\n".join(text.splitlines()[-15:])
        raise CourseError(f"The book has pages with errors (all of it: {log}):\n{shown}")
    for line in problems:
        report(line.replace(f"{root}{os.sep}", ""))
    report(f"rendered in {time.perf_counter() - started:.0f} s")
    return output / "html" / "index.html"


def _cell_seconds(root: Path) -> int:
    import yaml

    config = root / "_config.yml"
    if not config.is_file():
        raise CourseError(
            f"The book's settings should be in {config}, but there is no such file. "
            "Run the command from the root of the course's repository."
        )
    settings = yaml.safe_load(config.read_text(encoding="utf-8"))
    return int(settings.get("execute", {}).get("timeout", CELL_SECONDS))


def main(arguments: list[str] | None = None) -> int:
    """`python -m seqcourse.cli.site [--only book/03_decoding.ipynb]`, for authors of pages."""
    parser = argparse.ArgumentParser(prog="python -m seqcourse.cli.site", description=__doc__)
    parser.add_argument("--only", type=Path, help="one page, built alone in a folder of its own")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.only:
            page = build_one(Path.cwd(), chosen.only, print)
        else:
            page = build(Path.cwd(), print)
    except CourseError as error:
        print(error, file=sys.stderr)
        return 2
    print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
