"""Open the page of ``asv publish`` in a browser without a window, and see that it shows everything.

    python benchmarks/check_page.py [--html .asv/html] [--libraries FOLDER] [--pictures FOLDER]

Needs Chromium or Chrome. asv's page loads its libraries from the network; where there is none, put
files of the same names into a folder (jquery-3.3.1.min.js, jquery.flot.min.js, …) and name it.
Exit code 1 if a benchmark is not shown, a plot is not drawn, or a script fails.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
REMOTE = re.compile(r'"https://[^"]*/([^"/]+\.(?:js|css))"(?: integrity="[^"]*")?')


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and does not talk about it."""

    def log_message(self, format: str, *args: object) -> None:
        pass


def local_copy(html: Path, libraries: Path, folder: Path) -> Path:
    """The page with its libraries beside it."""
    copied = shutil.copytree(html, folder / "html")
    shutil.copytree(libraries, copied / "libraries")
    index = copied / "index.html"
    index.write_text(REMOTE.sub(r'"libraries/\1"', index.read_text("utf-8")), "utf-8")
    return copied


def look(browser: str, url: str, picture: Path | None) -> tuple[str, list[str]]:
    """What a browser makes of a page: its elements, and the errors of its scripts."""
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--window-size=1500,1100",
        "--virtual-time-budget=30000",
        "--enable-logging=stderr",
    ]
    with tempfile.TemporaryDirectory() as profile:
        command.append(f"--user-data-dir={profile}")
        done = subprocess.run(
            [*command, "--dump-dom", url], capture_output=True, text=True, timeout=300, check=True
        )
        if picture is not None:
            shot = [*command, f"--screenshot={picture}", url]
            subprocess.run(shot, capture_output=True, timeout=300, check=True)
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, [line for line in said if re.search("error|failed", line, re.IGNORECASE)]


def check(browser: str, html: Path, pictures: Path | None) -> list[str]:
    """Everything that is wrong with a published page."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(html)))
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    names = list(json.loads((html / "index.json").read_text("utf-8"))["benchmarks"])
    wrong: list[str] = []
    plot = next((name for name in names if "track_iterations" in name), names[0])
    pages = {"grid": "/", "list": "summarylist", "plot": plot, "regressions": "regressions"}
    for title, place in pages.items():
        picture = pictures / f"{title}.png" if pictures else None
        shown, errors = look(browser, f"{address}#{place}", picture)
        wrong += [f"{title}: {line}" for line in errors]
        if title == "grid":
            wrong += [f"grid: {name} is not shown" for name in names if f"#{name}" not in shown]
        if title == "plot" and "flot-base" not in shown:
            wrong.append(f"plot: {plot} is not drawn")
        print(f"{title}: {len(shown)} characters", flush=True)
    server.shutdown()
    print(f"{len(names)} benchmarks")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--html", type=Path, default=Path(".asv/html"))
    parser.add_argument("--libraries", type=Path)
    parser.add_argument("--pictures", type=Path)
    options = parser.parse_args()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"no browser found; install one of {', '.join(BROWSERS)}")
    if not (options.html / "index.json").is_file():
        sys.exit(f"{options.html} has no page: run `asv publish` first")
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        html = options.html
        if options.libraries:
            html = local_copy(html, options.libraries, Path(folder))
        wrong = check(browser, html, options.pictures)
    print("\n".join(wrong) or "the page is in order")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
