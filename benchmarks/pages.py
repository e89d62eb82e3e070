"""What does a page of the book cost its reader before the first touch, and what does Lighthouse say?

    seqcourse bench pages
    python benchmarks/pages.py --lighthouse    (needs node; fetches Lighthouse from npm)

Serves the built book with gzip, as hosts do, and opens every page in a browser with an empty cache:
bytes and requests before anything is touched or scrolled, and after reading to the end; and for how
long the page would not answer on a phone whose processor is four times slower (the processor time of
every task above 50 ms, which a busy machine does not change). Lighthouse looks at every page as on a
phone. Writes benchmarks/results/pages.json.

About 5 minutes on two idle cores. With Lighthouse it takes 8 more.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from tests import browser  # noqa: E402  (a program, so that its folder is the path)

SITE = ROOT / "_build" / "html"
RESULT = ROOT / "benchmarks" / "results" / "pages.json"
TEXT = (".html", ".css", ".js", ".svg", ".json")
LIGHTHOUSE = "lighthouse@12"
SLOWER = 4  # times: a phone beside this machine
TO_THE_END = """async () => {
    for (let y = 0; y < document.body.scrollHeight; y += 400) {
        window.scrollTo(0, y);
        await new Promise(done => setTimeout(done, 30)); }}"""


class Gzipping(http.server.SimpleHTTPRequestHandler):
    """Files of a folder; text is sent as gzip."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send the file."""
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        content = path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        if path.suffix in TEXT:
            content = gzip.compress(content)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "max-age=600")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(site: Path) -> Iterator[str]:
    """The address of a folder while it is served."""
    handler = functools.partial(Gzipping, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def weigh(chromium: object, address: str) -> dict[str, int]:
    """Bytes of bodies and headers, and requests, of one page with an empty cache."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    wire = context.new_cdp_session(page)
    wire.send("Network.enable")
    sizes: list[float] = []
    wire.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.goto(address, wait_until="networkidle")
    before, requests = round(sum(sizes)), len(sizes)
    page.evaluate(TO_THE_END)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(300)
    context.close()
    return {"bytes": before, "requests": requests, "bytes_to_the_end": round(sum(sizes))}


def blocking(chromium: object, address: str) -> int:
    """Milliseconds of the page's own thread beyond 50 in each task while it loads, four times slower."""
    context = chromium.new_context(viewport={"width": 412, "height": 823}, is_mobile=True)
    page = context.new_page()
    wire = context.new_cdp_session(page)
    events: list[dict] = []
    ended: list[bool] = []
    wire.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    wire.on("Tracing.tracingComplete", lambda _: ended.append(True))
    categories = {"includedCategories": ["devtools.timeline", "toplevel"]}
    wire.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": categories})
    page.goto(address, wait_until="networkidle")
    page.wait_for_timeout(1000)
    wire.send("Tracing.end")
    while not ended:
        page.wait_for_timeout(50)
    context.close()
    threads = {  # the browser parses pages of its own, too
        (one["pid"], one["tid"])
        for one in events
        if one["name"] == "ParseHTML" and one["args"].get("beginData", {}).get("url") == address
    }
    tasks = [
        one.get("tdur", 0) / 1000
        for one in events
        if (one["pid"], one["tid"]) in threads and one["name"] == "ThreadControllerImpl::RunTask"
    ]
    return round(sum(max(0, SLOWER * task - 50) for task in tasks))


def lighthouse(address: str, chromium: str) -> dict[str, int]:
    """The four scores of a page on a phone."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = ["npx", "--yes", LIGHTHOUSE, address, "--quiet", "--output=json"]
        command += [
            f"--output-path={report}",
            f"--chrome-flags=--headless=new {' '.join(browser.flags())}",
        ]
        subprocess.run(command, check=True, env={**os.environ, "CHROME_PATH": chromium}, timeout=300)
        found = json.loads(report.read_text(encoding="utf-8"))["categories"]
    return {name: round(100 * category["score"]) for name, category in found.items()}


def main() -> None:
    """Measure, print, and write the result."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", type=Path, default=SITE, help="the built book")
    parser.add_argument("--lighthouse", action="store_true", help="run Lighthouse, too")
    parser.add_argument("--result", type=Path, default=RESULT, help="the file to write")
    chosen = parser.parse_args()
    program = browser.find_chromium()
    if program is None:
        sys.exit(browser.WHY_NOT)
    if not (chosen.site / "book" / "index.html").is_file():
        sys.exit(f"The built book should be in {chosen.site}: run `seqcourse book` first.")
    rows = []
    with served(chosen.site) as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=browser.flags())
        for path in sorted((chosen.site / "book").glob("*.html")):
            row = {"page": path.stem, **weigh(chromium, f"{address}/book/{path.name}")}
            row["blocking_ms"] = blocking(chromium, f"{address}/book/{path.name}")
            if chosen.lighthouse:
                row["lighthouse"] = lighthouse(f"{address}/book/{path.name}", program)
            rows.append(row)
            print(
                f"{row['bytes'] / 1000:7.0f} KB {row['requests']:3d} requests "
                f"{row['bytes_to_the_end'] / 1000:7.0f} KB to the end "
                f"{row['blocking_ms']:5d} ms blocked  {path.stem} "
                f"{row.get('lighthouse', '')}",
                flush=True,
            )
        machine = {"cores": os.cpu_count(), "browser": f"Chromium {chromium.version}"}
        chromium.close()
    result = json.dumps({"machine": machine, "rows": rows}, indent=1)
    chosen.result.write_text(f"{result}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
