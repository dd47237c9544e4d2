"""Chromium without a window, driven over a pipe by its own protocol; nothing else is needed.

with Chromium() as browser:
    page = browser.open("file:///…", width=390)
    page.evaluate("document.title")
    page.complaints     # what its console said, and what it wanted from the network
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from select import select
from time import monotonic
from typing import Any, Self

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MISSING = "no Chromium on this machine: `make browser` installs it (Debian and Ubuntu)"
PATIENCE = 120.0
#: The browser reads from 3 and writes to 4.
_START = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for end, place in zip(ends, (3, 4)):
    os.dup2(end, place)
os.execv(sys.argv[3], sys.argv[3:])
"""


def found() -> str | None:
    """The path of a browser, if there is one."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


class Chromium:
    """A browser that is ended with the block."""

    def __init__(self) -> None:
        command = found()
        assert command is not None, MISSING
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        ours, theirs = os.pipe(), os.pipe()  # to the browser, and from it
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                _START,
                str(ours[0]),
                str(theirs[1]),
                command,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--remote-debugging-pipe",
                f"--user-data-dir={self._profile.name}",
            ],
            pass_fds=(ours[0], theirs[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(ours[0])
        os.close(theirs[1])
        self._to, self._from = ours[1], theirs[0]
        self._number, self._rest = 0, b""
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._profile.cleanup()

    def ask(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its answer; what happens in between are events."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return dict(answer["result"])
            self.events.append(answer)

    def wait(self, method: str, session: str) -> None:
        """Until an event has happened."""
        while not any(
            e.get("method") == method and e.get("sessionId") == session for e in self.events
        ):
            self.events.append(self._next())

    def _next(self) -> dict[str, Any]:
        deadline = monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select([self._from], [], [], max(0.0, deadline - monotonic()))
            assert ready, "the browser does not answer"
            block = os.read(self._from, 1 << 20)
            assert block, "the browser has ended"
            self._rest += block
        message, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(message))

    def open(
        self,
        url: str,
        *,
        width: int = 1280,
        height: int = 900,
        scripts: bool = True,
        **features: str,
    ) -> Page:
        """Load a page; features are those of media queries: prefers_color_scheme="dark"."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.ask(f"{domain}.enable")
        page.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        media = [{"name": k.replace("_", "-"), "value": v} for k, v in features.items()]
        page.ask("Emulation.setEmulatedMedia", features=media)
        page.ask("Emulation.setScriptExecutionDisabled", value=not scripts)
        page.ask("Page.navigate", url=url)
        self.wait("Page.loadEventFired", session)
        page.ask("Emulation.setScriptExecutionDisabled", value=False)  # for `evaluate`
        return page


class Page:
    """A page in the browser."""

    def __init__(self, browser: Chromium, session: str) -> None:
        self._browser, self._session = browser, session

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A command about this page."""
        return self._browser.ask(method, self._session, **parameters)

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """A key, as a person would."""
        text = key if len(key) == 1 else ""
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, text=text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key)

    def write(self, text: str) -> None:
        """Text into what has the focus."""
        self.ask("Input.insertText", text=text)

    def picture(self, path: Path, whole: bool = False) -> None:
        """A PNG of what is seen, or of the whole page."""
        found = self.ask("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))

    @property
    def complaints(self) -> list[str]:
        """Errors, warnings, and requests to the network."""
        self.evaluate("1")  # so that all that was said before is there
        said = []
        for event in self._browser.events:
            if event.get("sessionId") != self._session:
                continue
            method, what = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                said.append(json.dumps(what["exceptionDetails"]))
            elif method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning"):
                said.append(json.dumps(what["args"]))
            elif method == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
                said.append(what["entry"]["text"])
            elif method == "Network.requestWillBeSent":
                url = what["request"]["url"]
                if not url.startswith(("file:", "data:")):
                    said.append(f"asks for {url}")
        return said
