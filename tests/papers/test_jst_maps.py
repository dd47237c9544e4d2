"""Appendix B for other mirror maps, and the displays of Appendix E."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gammabar.harness.registry import load_statements
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.run_checks import check_statement
from gammabar.papers.ji_srebro_telgarsky_2021 import appendix_ab
from gammabar.papers.ji_srebro_telgarsky_2021.appendix_ab import World, dot, runs

OURS = [
    s
    for s in load_statements().values()
    if s.id.endswith(".maps") or s.id in ("jst.eqB.5", "jst.eqB.8")
]
BY_ID = {s.id: s for s in OURS}


@pytest.fixture
def anew():
    """Runs are made anew, before a test and after it."""
    runs.cache_clear()
    yield
    runs.cache_clear()


@pytest.mark.parametrize("statement", OURS, ids=lambda s: s.id)
def test_other_mirror_maps(statement):
    found = check_statement(statement, Case())
    assert found.verdict == "holds"
    assert found.checked > 50


def test_clipping_is_the_gradient_of_the_conjugate():
    """⟨p, q⟩ − ω(q) is largest at ∇ω*(p), among the corners and points on the way to them."""
    p = [Fraction(1, 3), -Fraction(5, 7)]
    for world in appendix_ab.WORLDS:
        best = world.back(p)
        for corner in world.points():
            for part in (Fraction(1, 100), Fraction(1)):
                q = appendix_ab.mixed(part, best, corner)
                assert dot(p, q) - world.omega(q) <= dot(p, best) - world.omega(best)


@pytest.mark.parametrize(
    ("name", "wrong", "refuted"),
    [
        # Twice the gradient is not that of a 1-smooth f, nor of f at all.
        ("slope", lambda self, q: [2 * v for v in SLOPE(self, q)], "jst.eqB.7.maps"),
        ("slope", lambda self, q: [2 * v for v in SLOPE(self, q)], "jst.eqB.5"),
        ("slope", lambda self, q: [-v for v in SLOPE(self, q)], "jst.eqB.9.maps"),
        ("slope", lambda self, q: [-v for v in SLOPE(self, q)], "jst.lemB.3.maps"),
        ("slope", lambda self, q: [-v for v in SLOPE(self, q)], "jst.thmB.12.maps"),
        ("slope", lambda self, q: [-v for v in SLOPE(self, q)], "jst.eqB.8"),
        ("omega", None, "jst.eqB.6.maps"),
    ],
)
def test_what_is_wrong_is_refuted(monkeypatch, anew, name, wrong, refuted):
    if name == "omega":  # distances of another ω: those of eq. (B.2) no longer
        monkeypatch.setattr(
            World, "distance", lambda self, q, to, p: self.omega(q) - self.omega(to)
        )
    else:
        monkeypatch.setattr(World, name, wrong)
    assert check_statement(BY_ID[refuted], Case()).verdict == "refuted"


SLOPE = World.slope
