"""A part is computed again when source code changes that it depends on, and only then."""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gammabar
from gammabar.harness import stamp
from gammabar.harness.registry import artefacts
from gammabar.harness.run.provenance import path_of

ROOT = Path(gammabar.__file__).resolve().parent.parent
FOLDERS = ("problems", "oracle", "solvers", "harness", "papers")


def part(name: str, word: str) -> Callable[[], Any]:
    """A part of an artefact, with full settings, whose name has a word."""
    return next(make for text, make in artefacts()[name].parts(False).items() if word in text)


PARTS = {
    "margins": part("jst.fig1", "dual-acceleration"),
    "γ̄": part("jst.fig1", "γ̄"),
    "network": part("jst.fig3", "batch"),
    "training": part("jst.fig4", "seed 100"),
    "counts": part("tyurin.table1", "worst"),
    "boosting": part("lec.fig1", "AdaBoost"),
}


@pytest.mark.parametrize(
    ("module", "differ"),
    [
        ("gammabar.solvers.ji_srebro_telgarsky", {"margins", "network", "boosting"}),
        ("gammabar.solvers.ji_srebro_telgarsky", {"margins", "network", "training", "boosting"}),
        ("gammabar.solvers.base", {"margins", "network", "boosting"}),
        ("gammabar.oracle.proof", {"γ̄", "training"}),
        ("gammabar.oracle.check", set()),
        ("gammabar.problems.specs", {"margins", "γ̄", "network", "boosting"}),
        ("gammabar.problems.compiled", {"margins", "γ̄", "network", "training", "boosting"}),
        ("gammabar.harness.reproduce", {"margins", "network", "boosting"}),
        ("gammabar.harness.reproduce", set()),
        ("gammabar.harness.verify.run_checks", set()),
        ("gammabar.harness.registry", set()),
        ("gammabar.papers.ji_srebro_telgarsky_2021.figures_network", {"training"}),
        ("gammabar.papers.ji_srebro_telgarsky_2021.section3", set()),
        ("gammabar.papers", set()),
    ],
)
def test_a_part_depends_on_the_modules_that_it_reaches_and_on_no_others(
    module: str, differ: set[str]
):
    assert {name for name, make in PARTS.items() if module in stamp.texts(make)} == differ


def test_another_text_of_a_module_is_another_stamp(monkeypatch):
    before = {name: stamp.source_of(make) for name, make in PARTS.items()}
    plain = stamp._Modules.text
    module = "gammabar.papers.ji_srebro_telgarsky_2021.figures_network"
    changed = lambda self, name: plain(self, name) + "\nX = 1\n" * (name == module)  # noqa: E731
    monkeypatch.setattr(stamp._Modules, "text", changed)
    monkeypatch.setattr(stamp, "_modules", cache(lambda *_: stamp._Modules({"gammabar"})))
    after = {name: stamp.source_of(make) for name, make in PARTS.items()}
    assert {name for name in PARTS if before[name] != after[name]} == {"training"}


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        ('axes.set(xlabel="kernel"', 'axes.set(xlabel="epoch"', False),
        ("seeds=(100, 13579, ", "seeds=(100, 13579, 7, ", False),
        ("SAME = 0.01", "SAME = 0.02", False),
        ("np.add.at(beta, (i, wrong), -share)", "np.add.at(beta, (i, wrong), share)", True),
        ("return self.epochs if seed in PAPER", "return self.epochs if seed", True),
        ("PAPER = (100, 13579)", "PAPER = (100, 0)", True),
        ("import AdaptiveSampling", "import AdaptiveSampling, ADDED", True),
    ],
)
def test_of_its_own_module_only_what_a_part_reaches_counts(old, new, differs, monkeypatch):
    """Neither the picture nor how many seeds there are makes a network be trained again."""
    make = PARTS["training"]
    own = make.func.__module__  # type: ignore[attr-defined]
    text = Path(str(path_of(own))).read_text(encoding="utf-8")
    assert old in text
    modules = stamp._Modules({"gammabar"})
    before = stamp._reached(modules, own, "_seed")
    monkeypatch.setattr(modules, "text", lambda _: text.replace(old, new))
    assert (stamp._reached(modules, own, "_seed") != before) is differs


def ran(make: Callable[[], Any]) -> set[str]:
    """The modules of the project of which some function runs while a part is made."""
    make()  # imports first: what runs while modules are read is not the part
    files: set[str] = set()

    def seen(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name not in ("__getattr__", "<module>"):
            files.add(frame.f_code.co_filename)

    sys.setprofile(seen)
    try:
        make()
    finally:
        sys.setprofile(None)
    inside = (Path(file).resolve() for file in files if not file.startswith("<"))
    local = (path.relative_to(ROOT) for path in inside if path.is_relative_to(ROOT))
    return {
        ".".join(("gammabar", *path.with_suffix("").parts))
        for path in local
        if path.parts[0] in FOLDERS
    }


@pytest.mark.parametrize(
    "name",
    [
        *["jst.fig3", "tyurin.fig1", "tyurin.table1", "rp.rates", "gb.rates"],
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("jst.fig1", "lec.fig1")),
    ],
)
def test_whatever_runs_while_a_part_is_made_counts(name: str):
    """The stamp is found by reading; that it misses nothing is seen by running."""
    for make in list(artefacts()[name].parts(True).values())[:2]:
        reached = {text.partition(":")[0] for text in stamp.texts(make)}
        reached |= {text.removesuffix(".__init__") for text in reached}
        missed = {one.removesuffix(".__init__") for one in ran(make)} - reached
        assert not missed


def test_names_that_packages_hand_on_lead_to_their_modules():
    modules = stamp._Modules({"gammabar"})
    assert modules.homes(("gammabar.problems", "load")) == ("gammabar.problems.specs",)
    assert modules.homes(("gammabar", "solve")) == ("gammabar.oracle.maximum_margin",)
    assert modules.homes(("gammabar.harness.paper", "Shown")) == ("gammabar.harness.paper",)
    assert modules.homes(("numpy", "ndarray")) == ()
    assert "gammabar.oracle.maximum_margin" in modules.homes(("gammabar.oracle", None))


def test_definitions_that_register_themselves_count():
    text = "@register\ndef one(): ...\n\n@cache\ndef two(): ...\n\ndef three(): ...\n"
    found = [stamp._registers(node) for node in ast.parse(text).body]
    assert found == [True, False, False]


def test_functions_among_the_arguments_count():
    def inner() -> int:
        return 1

    def outer(function: Callable[[], int], n: int) -> int:
        return function() + n

    names = [one.__name__ for one in stamp._functions(partial(outer, partial(inner), n=3))]
    assert names == ["outer", "inner"]


@pytest.mark.parametrize("make", [partial(math.sqrt, 2.0), partial(max, [1, 2], key=np.negative)])
def test_functions_of_others_are_no_source_of_the_project(make: Callable[[], Any]):
    assert set(stamp.texts(make).values()) == {""}
    assert stamp.source_of(make) == stamp.source_of(make)
