"""Formulas of statements, as MathML."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st

from gammabar.harness.registry import everything
from gammabar.harness.report.mathml import formula

CLAIMS = {statement.id: statement.claim for statement in everything().values()}


def spoken(latex: str) -> str:
    return "".join(ElementTree.fromstring(formula(latex)).itertext()).replace("\u00a0", " ")


@pytest.mark.parametrize("identifier", CLAIMS)
def test_every_formula_of_the_registry_is_rendered(identifier: str):
    shown = formula(CLAIMS[identifier])
    ElementTree.fromstring(shown)
    assert shown.startswith('<span class="formula">')
    assert "unknown" not in shown
    assert "\\" not in shown


@pytest.mark.parametrize(
    ("latex", "tree"),
    [
        (r"\frac{a}{2}", "<mfrac><mrow><mi>a</mi></mrow><mrow><mn>2</mn></mrow></mfrac>"),
        (r"\tfrac12", "<mfrac><mn>1</mn><mn>2</mn></mfrac>"),
        (r"x_t^2", "<msubsup><mi>x</mi><mrow><mi>t</mi></mrow><mrow><mn>2</mn></mrow></msubsup>"),
        (r"\sqrt{n}", "<msqrt><mrow><mi>n</mi></mrow></msqrt>"),
        (r"\mathbb{R}", "<mi>ℝ</mi>"),
        (r"\sum_j", "<munder><mo>∑</mo><mrow><mi>j</mi></mrow></munder>"),
    ],
)
def test_pieces(latex: str, tree: str):
    assert tree in formula(latex)


def test_a_long_formula_may_be_broken_before_relations_and_around_words():
    shown = formula(r"a \le b = c \text{ for all } t \ge 1")
    assert shown.count("<math") == 5
    assert "</math> for all <math" in shown


def test_an_accent_is_above_its_letter_and_indices_follow():
    assert re.search(r"<msub><mover><mi>γ</mi><mo[^>]*>¯</mo></mover>", formula(r"\bar\gamma_t"))


@pytest.mark.parametrize("latex", [r"\frac{a", "a}", r"\left( a", r"\text", "x^", r"\left x", "{"])
def test_what_is_no_formula_is_shown_as_it_is_written(latex: str):
    assert ElementTree.fromstring(formula(latex)).text == latex


def test_a_command_that_is_not_known_is_shown():
    assert spoken(r"\foo + 1") == r"\foo+1"


@given(
    st.text(
        st.characters(exclude_categories=["Cc", "Cs", "Cn", "Co"]) | st.sampled_from(r"\{}^_<>&'$")
    )
)
def test_no_text_is_taken_for_html(latex: str):
    shown = formula(latex)
    root = ElementTree.fromstring(shown)
    known = {"span", "code", "math", "mi", "mo", "mn", "mrow", "mtext", "mspace", "msub", "msup"}
    known |= {"msubsup", "mfrac", "msqrt", "mroot", "mover", "munder", "munderover", "mstyle"}
    assert {node.tag for node in root.iter()} <= known
    assert all(not name.startswith("on") for node in root.iter() for name in node.attrib)


def test_depth_has_no_limit_that_hurts():
    assert formula("{" * 5000 + "}" * 5000).startswith("<code")
