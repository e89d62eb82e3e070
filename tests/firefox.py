"""A Firefox without a window, driven by WebDriver BiDi: opens pages, runs scripts, clicks and types."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

from websocket import create_connection

PROGRAMS = ("firefox-esr", "firefox")
WHY_NOT = "Firefox should look at the pages, but none was found. Run `sh tests/ensure_tools.sh firefox`."
LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
PATIENCE = 120  # seconds, for a busy machine
# Nothing is asked for in the background.
SETTINGS = """user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("app.normandy.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
"""


def find_firefox() -> str | None:
    """The path of a Firefox, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Firefox:
    """One browser with one page, as a context manager.

    Attributes:
        troubles: what the page's console complained about, and what it asked for elsewhere.
    """

    def __init__(self, program: str, folder: Path) -> None:
        self.troubles: list[str] = []
        (folder / "user.js").write_text(SETTINGS)
        self._log = folder / "log"
        command = [program, "--headless", "--no-remote", "--remote-debugging-port", "0"]
        with self._log.open("w") as log:
            self._process = subprocess.Popen([*command, "--profile", str(folder)], stderr=log)
        self._number = 0

    def __enter__(self) -> Firefox:
        until = time.monotonic() + PATIENCE
        while not (found := LISTENS.search(self._log.read_text())):
            assert self._process.poll() is None and time.monotonic() < until, self._log.read_text()
            time.sleep(0.1)
        self._socket = create_connection(f"{found[1]}/session", timeout=PATIENCE, suppress_origin=True)
        self._ask("session.new", capabilities={})
        self._ask("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        self._page = self._ask("browsingContext.getTree")["contexts"][0]["context"]
        return self

    def __exit__(self, *problem: object) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE)
        self._socket.close()

    def open(self, address: str) -> None:
        """Open a page and wait until it is loaded."""
        self._ask("browsingContext.navigate", context=self._page, url=address, wait="complete")

    def run(self, function: str, *given: Any) -> Any:
        """What a function of the page returns, or promises."""
        asks = f"async given => JSON.stringify(await ({function})(...JSON.parse(given)) ?? null)"
        given_text = {"type": "string", "value": json.dumps(given)}
        told = self._ask(
            "script.callFunction",
            functionDeclaration=asks,
            arguments=[given_text],
            awaitPromise=True,
            target={"context": self._page},
        )
        assert told["type"] == "success", told["exceptionDetails"]["text"]
        return json.loads(told["result"]["value"])

    def click(self, selector: str) -> None:
        """Click into the middle of the first element that a selector finds and that can be seen."""
        middle = """selector => {
            const found = [...document.querySelectorAll(selector)];
            const node = found.find(each => each.getClientRects().length);
            node.scrollIntoView({ block: "center", behavior: "instant" });
            const box = node.getBoundingClientRect();
            return [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)]; }"""
        x, y = self.run(middle, selector)
        button = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self._do("pointer", [{"type": "pointerMove", "x": x, "y": y}, *button])

    def type(self, text: str) -> None:
        """Type into what has the focus; "\\ue007" is Enter."""
        self._do("key", [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")])

    def wait(self, condition: str, *given: Any) -> None:
        """Wait until a function of the page returns something true."""
        until = time.monotonic() + PATIENCE
        while not self.run(condition, *given):
            assert time.monotonic() < until, f"{condition} {given}"
            time.sleep(0.1)

    def _do(self, kind: str, actions: list[dict]) -> None:
        source = {"type": kind, "id": kind, "actions": actions}
        self._ask("input.performActions", context=self._page, actions=[source])

    def _ask(self, method: str, **params: Any) -> Any:
        """Send a command and return its result; takes note of the events that come before."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": params}))
        while True:
            told = json.loads(self._socket.recv())
            if told.get("type") == "event":
                self._note(told["method"], told["params"])
            elif told.get("id") == self._number:
                assert told["type"] == "success", f"{method}: {told}"
                return told["result"]

    def _note(self, event: str, told: dict) -> None:
        if event == "log.entryAdded" and told["level"] in ("error", "warn"):
            self.troubles.append(f"{told['level']}: {told['text']}")
        elif event == "network.beforeRequestSent":
            url = told["request"]["url"]
            if not url.startswith(("file:", "data:", "blob:", "about:", "http://127.0.0.1")):
                self.troubles.append(f"asked for {url}")
