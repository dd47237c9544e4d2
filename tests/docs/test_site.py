"""The site: every page has a place, and so has every statement and every solver."""

from __future__ import annotations

import pytest
from blocks import script

import gammabar
from gammabar.harness.registry import everything
from gammabar.harness.report.model import Report
from gammabar.solvers.base import SOLVERS


@pytest.fixture(scope="module")
def site():
    return script("docs/site/build.py")


def test_every_page_is_in_one_section(site):
    listed = [page for places in site.sections().values() for page in places]
    assert sorted(listed) == sorted(
        {*site.pages(), "statements/index", "solvers/index", "api", "tightness"}
    )


def test_a_page_for_each_statement_and_solver(site):
    statements, solvers = dict(site.statement_pages(Report(()))), dict(site.solver_pages())
    assert set(everything()) <= set(statements)
    assert set(SOLVERS) <= set(solvers)
    page = statements["jst.sec5.2.risk"]
    assert "<math" in page
    assert 'href="jst.sec5.2.risk.fixed.html"' in page  # the true form is a link away
    assert "The witness" in page
    assert "statements/jst.thm3.1.1.md" in solvers["dual-acceleration"]


def test_the_reference_has_every_public_name(site):
    page = site.api_page()
    for name in gammabar.__all__:
        if callable(getattr(gammabar, name)):
            assert f"gammabar.{name}\n" in page


def test_names_in_the_text_lead_to_their_pages(site):
    text = "\n".join(
        [
            "# `jst.thm3.1.1`",
            "`jst.thm3.1.1` and `winnow`, not `winnows`; [`gb.sharp`](x.md).",
            "```text",
            "`gb.sharp`",
            "```",
        ]
    )
    assert site.linked(text, "../").splitlines() == [
        "# `jst.thm3.1.1`",
        "[`jst.thm3.1.1`](../statements/jst.thm3.1.1.md) and [`winnow`](../solvers/winnow.md), "
        "not `winnows`; [`gb.sharp`](x.md).",
        "```text",
        "`gb.sharp`",
        "```",
    ]
