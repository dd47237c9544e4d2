"""The site in a real browser: phone, dark, paper; no complaints.

It is built once, which takes a minute or two: all of this is slow.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from chromium import MISSING, Chromium, found
from results_for_tests import some

from gammabar.harness.report.model import gather

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow
browsing = pytest.mark.skipif(found() is None, reason=MISSING)
#: One of each kind, and those with the widest tables and formulas.
PAGES = [
    "index",
    "api",
    "search",
    "tightness",
    "docs/errata",
    "docs/benchmarks",
    "docs/soundness",
    "papers/COVERAGE",
    "papers/gammabar/PROOFS",
    "oracle/CERTIFICATE",
    "statements/index",
    "statements/jst.lemC.12.sum.fixed",
    "statements/rp.winnow",
    "solvers/dual-acceleration",
]
#: What sticks out and cannot be scrolled to: neither it nor what it is in can be moved.
OUT = """
(() => {
    const wide = document.documentElement.clientWidth, found = [];
    const moves = e => e && (["auto", "scroll", "hidden"].includes(getComputedStyle(e).overflowX)
        || moves(e.parentElement));
    for (const e of document.querySelectorAll("article *, main *")) {
        const box = e.getBoundingClientRect();
        if (box.width && box.right > wide + 1 && !moves(e)) found.push(e.outerHTML.slice(0, 120));
    }
    return found;
})()
"""


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    spec = spec_from_file_location("site_to_see", ROOT / "docs" / "site" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    site = module_from_spec(spec)
    spec.loader.exec_module(site)
    site.BUILD = tmp_path_factory.mktemp("site")
    site.read = lambda store: gather(some())
    assert site.main([]) == 0, "a warning of Sphinx is an error: see above"
    return site.BUILD / "html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with Chromium() as started:
        yield started


def test_it_builds_without_a_warning_and_needs_no_network(html: Path):
    text = (html / "statements" / "jst.thm3.1.1.html").read_text(encoding="utf-8")
    assert "http://" not in text.replace("http://www.w3.org", "")


@browsing
@pytest.mark.parametrize("page", PAGES)
def test_a_phone_does_not_have_to_scroll_sideways(browser: Chromium, html: Path, page: str):
    shown = browser.open((html / f"{page}.html").as_uri(), width=390, height=800)
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390
    assert shown.evaluate(OUT) == []
    assert shown.complaints == []


@browsing
@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_cut_off_on_paper(browser: Chromium, html: Path, page: str):
    """A4 without its margins; there, what can be scrolled is lost."""
    shown = browser.open((html / f"{page}.html").as_uri(), width=718)
    shown.ask("Emulation.setEmulatedMedia", media="print", features=[])
    cut = """
        [...document.querySelectorAll("article *")].filter(e => {
            const box = e.getBoundingClientRect(), way = getComputedStyle(e).overflowX;
            return e.checkVisibility({contentVisibilityAuto: true}) && (box.right > 718 + 1
                || (way !== "visible" && e.clientWidth && e.scrollWidth > e.clientWidth + 2));
        }).map(e => e.outerHTML.slice(0, 120)).slice(0, 5)
    """
    assert shown.evaluate(cut) == []
