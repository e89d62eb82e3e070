"""The rendered book, served from this machine, and a browser that looks at it."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from filelock import FileLock

from seqcourse.cli.site import build

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_build" / "html"
SOURCES = ("book", "cellgrader", "seqcourse", "_config.yml", "_toc.yml")
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}


def toc() -> dict:
    return yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))


def page_names() -> list[str]:
    """All pages of the book, such as "book/03_decoding"."""
    found = toc()
    chapters = [chapter for part in found["parts"] for chapter in part["chapters"]]
    pages = [page["file"] for chapter in chapters for page in (chapter, *chapter.get("sections", ()))]
    return [found["root"], *pages]


def chapter_names() -> list[str]:
    """The pages that are chapters: notebooks with a number."""
    names = [name for name in page_names() if (ROOT / f"{name}.ipynb").is_file()]
    return [name for name in names if Path(name).name[0].isdigit()]


def _is_fresh() -> bool:
    """Whether the pages are newer than everything they are made from."""
    index = SITE / "index.html"
    if not index.is_file():
        return False
    built = index.stat().st_mtime
    for name in SOURCES:
        top = ROOT / name
        for path in [top, *top.rglob("*")] if top.is_dir() else [top]:
            if "__pycache__" in path.parts or ".ipynb_checkpoints" in path.parts:
                continue
            if path.is_file() and path.stat().st_mtime > built:
                return False
    return True


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built book; built here if it is not there or older than its sources."""
    (ROOT / "_build").mkdir(exist_ok=True)
    with FileLock(ROOT / "_build" / ".tests.lock"):
        if not _is_fresh():
            build(ROOT, print)
    return SITE


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Where the book is served, such as http://127.0.0.1:4711."""
    handler = functools.partial(_Quiet, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@dataclass
class Visit:
    """One page in the browser, and what it asked for and complained about while it loaded."""

    page: object
    requests: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)

    def foreign(self) -> list[str]:
        """Requests that left this machine."""
        parts = [(url, urlsplit(url)) for url in self.requests]
        inside = ("data", "blob", "file", "about")
        return [url for url, part in parts if part.scheme not in inside and part.hostname != "127.0.0.1"]


def open_page(
    browser,
    address: str,
    viewport: dict = DESKTOP,
    dark: bool = False,
    scripts: bool = True,
) -> Visit:
    """Open an address in a window of its own and wait until its fonts are there.

    Without `scripts` no script file arrives; what the page itself holds still runs.
    """
    context = browser.new_context(
        viewport=viewport, color_scheme="dark" if dark else "light", reduced_motion="reduce"
    )
    if not scripts:
        context.route("**/*.js*", lambda route: route.abort())
    page = context.new_page()
    seen = Visit(page)
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("requestfailed", lambda request: seen.troubles.append(f"failed: {request.url}"))
    page.on("pageerror", lambda error: seen.troubles.append(f"script error: {error}"))
    page.on("console", lambda said: seen.troubles.append(said.text) if said.type == "error" else None)
    page.goto(address, wait_until="load")
    page.evaluate("() => document.fonts.ready.then(() => null)")
    return seen


@pytest.fixture
def visit(chrome, address) -> Iterator[Callable[..., Visit]]:
    """Open a page in a new window: visit("book/03_decoding", viewport=PHONE, dark=True)."""
    opened: list[Visit] = []

    def open_one(name: str, *, base: str = address, **options: object) -> Visit:
        opened.append(open_page(chrome, f"{base}/{name}.html", **options))
        return opened[-1]

    yield open_one
    for seen in opened:
        seen.page.context.close()


@pytest.fixture(scope="module")
def view(chrome, address) -> Iterator[Callable[[str], Visit]]:
    """A page in a wide window that several tests look at, and none changes."""
    opened: dict[str, Visit] = {}

    def look(name: str) -> Visit:
        if name not in opened:
            opened[name] = open_page(chrome, f"{address}/{name}.html")
        return opened[name]

    yield look
    for seen in opened.values():
        seen.page.context.close()
