"""Every claim is a formula that can be typeset."""

from __future__ import annotations

import re

import pytest
from matplotlib.mathtext import MathTextParser

from gammabar.harness.registry import load_statements

#: What LaTeX has and Matplotlib calls otherwise.
OTHERWISE = {
    r"\tfrac": r"\frac",
    r"\le": r"\leq",
    r"\ge": r"\geq",
    r"\ne": r"\neq",
    r"\implies": r"\Rightarrow",
    r"\iff": r"\Leftrightarrow",
}
CLAIMS = {s.id: s.claim for s in load_statements().values()}


def rendered(claim: str) -> None:
    """Typeset a formula; raises ValueError if that cannot be done."""
    command = re.compile(r"\\[A-Za-z]+")
    text = command.sub(lambda found: OTHERWISE.get(found[0], found[0]), claim)
    # LaTeX takes single characters and commands for arguments.
    text = re.sub(r"\\(frac|sqrt) ?(\w)(?=[^\w]|$|{)", r"\\\1{\2}", text)
    text = re.sub(r"\\frac(\w)(\w)", r"\\frac{\1}{\2}", text)
    text = re.sub(r"(\\frac{\w})(\\[A-Za-z]+)", r"\1{\2}", text)
    text = re.sub(r"\\sqrt(\w|\\[A-Za-z]+)", r"\\sqrt{\1}", text)
    MathTextParser("path").parse(f"${text}$")


@pytest.mark.full
@pytest.mark.parametrize("identifier", CLAIMS)
def test_every_claim_is_a_formula(identifier: str) -> None:
    rendered(CLAIMS[identifier])


@pytest.mark.parametrize("broken", [r"a \geL b", r"a \Rightarrowd b", r"\frac{a}{b", r"\left( a"])
def test_what_is_none_is_noticed(broken: str) -> None:
    with pytest.raises(ValueError, match="\n"):
        rendered(broken)
