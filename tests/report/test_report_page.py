"""The report in a real browser: no complaints, filters work, no script is needed to read it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import MISSING, Chromium, Page, found
from results_for_tests import hostile, some

from gammabar.harness.report.model import gather
from gammabar.harness.report.page import page

pytestmark = pytest.mark.skipif(found() is None, reason=MISSING)
#: Statements that can be seen.
SHOWN = "[...document.querySelectorAll('details.statement')].filter(s => s.checkVisibility())"
COUNT = f"{SHOWN}.length"


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with Chromium() as started:
        yield started


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "index.html"
    path.write_text(page(gather(some())), encoding="utf-8")
    return path.as_uri()


def test_it_opens_from_disk_without_complaints(browser: Chromium, url: str):
    for more in ({}, {"width": 390}, {"prefers_color_scheme": "dark"}):
        shown = browser.open(url, **more)
        assert shown.evaluate("document.querySelector('h1').textContent").startswith("6 of 6")
        assert shown.evaluate(COUNT) == 5
        assert shown.complaints == []


def choose(shown: Page, name: str, value: str) -> None:
    shown.evaluate(
        f"(() => {{ const e = document.getElementById('filters').elements['{name}'];"
        f" e.value = '{value}'; e.dispatchEvent(new Event('input', {{bubbles: true}})); }})()"
    )


def test_filters(browser: Chromium, url: str):
    shown = browser.open(url)
    for name, value, count in (
        ("source", "jst", 2),
        ("standing", "refuted", 1),
        ("severity", "edge case", 1),
        ("severity", "misprint", 0),
    ):
        choose(shown, name, value)
        assert shown.evaluate(COUNT) == count, (name, value)
    assert shown.evaluate("document.getElementById('none').checkVisibility()")
    assert shown.evaluate("document.querySelector('output').textContent") == "0 of 5 statements"
    assert shown.complaints == []


def test_search_with_the_keyboard_alone(browser: Chromium, url: str):
    shown = browser.open(url)
    shown.press("/")
    assert shown.evaluate("document.activeElement.name") == "text"
    shown.write("theorem 4.1")
    assert shown.evaluate(f"{SHOWN}[0].querySelector('.body').id") == "tyurin.thm4.1"
    assert shown.evaluate(COUNT) == 1
    shown.press("Escape")
    assert shown.evaluate(COUNT) == 5


def test_a_link_opens_its_statement_whatever_is_filtered(browser: Chromium, url: str):
    shown = browser.open(f"{url}#jst.thm3.1.1")
    opened = "document.getElementById('{}').checkVisibility()"
    assert shown.evaluate(opened.format("jst.thm3.1.1"))
    choose(shown, "source", "jst")
    shown.evaluate("location.hash = '#tyurin.thm4.1'; 1")
    shown.evaluate("new Promise(done => setTimeout(done))")
    assert shown.evaluate(opened.format("tyurin.thm4.1"))


def test_a_phone_does_not_have_to_scroll_sideways(browser: Chromium, url: str):
    for width in (320, 390):
        shown = browser.open(f"{url}#jst.thm3.1.1", width=width, height=800)
        shown.evaluate("document.querySelector('[name=all]').click()")
        assert shown.evaluate("document.documentElement.scrollWidth") <= width


def test_it_is_readable_without_scripts(browser: Chromium, url: str):
    shown = browser.open(f"{url}#jst.thm3.1.1", scripts=False)
    assert shown.evaluate(COUNT) == 5
    assert shown.evaluate("document.getElementById('filters').checkVisibility()") is False
    # The browser opens what a link leads into.
    assert shown.evaluate("document.getElementById('jst.thm3.1.1').checkVisibility()")


def test_what_users_wrote_does_nothing(browser: Chromium, tmp_path: Path):
    path = tmp_path / "hostile.html"
    path.write_text(page(gather(hostile())), encoding="utf-8")
    shown = browser.open(path.as_uri())
    shown.evaluate("document.querySelector('[name=all]').click()")
    assert shown.evaluate("window.pwned") is None
    assert shown.complaints == []
