"""The arrows between packages: problems → oracle, solvers → harness → papers."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
#: Package → what it may import of the others. The harness finds papers, and never names one.
ARROWS = {
    "problems": set(),
    "oracle": {"problems"},
    "solvers": {"problems"},
    "harness": {"problems", "oracle", "solvers"},
    "papers": {"problems", "oracle", "solvers", "harness"},
}
#: The one place that looks papers up; and the checkers of witnesses, which are no papers.
SHELF = "harness/registry.py"
CHECKERS = ("gammabar.papers.witness", "gammabar.papers.rerun")
#: They verify what the rest claims, with Python's standard library alone.
INDEPENDENT = [
    "oracle/check.py",
    "oracle/check_kernels.py",
    "oracle/check_readers.py",
    "papers/witness.py",
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "papers").glob("*/refuters.py"))),
]


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports anywhere, by its full name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = ".".join(("gammabar", *path.relative_to(ROOT).parts[: -node.level or None]))
            yield f"{package}.{node.module or ''}" if node.level else node.module or ""
            if node.module == "gammabar":
                yield from (f"gammabar.{alias.name}" for alias in node.names)


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("package", ARROWS)
def test_imports_follow_the_arrows(package: str):
    wrong = [
        (str(path.relative_to(ROOT)), name)
        for path in modules(package)
        for name in imports(path)
        if name.startswith("gammabar.")
        and (target := name.split(".")[1]) != package
        and target in ARROWS
        and target not in ARROWS[package]
        and (target != "papers" or (str(path.relative_to(ROOT)) != SHELF and name not in CHECKERS))
    ]
    assert wrong == []


@pytest.mark.parametrize("package", ARROWS)
def test_nothing_is_imported_by_a_generic_name(package: str):
    wrong = [
        (str(path.relative_to(ROOT)), name)
        for path in modules(package)
        for name in imports(path)
        if name.split(".")[0] in {*ARROWS, "tests", "benchmarks"}
    ]
    assert wrong == []


def test_papers_do_not_import_each_other_but_ours_may():
    """A paper stands by itself; the project's own results are about the others."""
    for path in modules("papers"):
        parts = path.relative_to(ROOT).parts
        if len(parts) < 3 or parts[1] == "gammabar":
            continue
        for name in imports(path):
            other = name.split(".")[2:3] if name.startswith("gammabar.papers.") else []
            assert not other or other[0] in (parts[1], "witness", "claims"), (path, name)


def test_statements_share_no_code_with_the_solvers_that_they_check():
    """They know what an iterate is, and the class by which a weak learner is recognised; and what
    all solvers have in common. Figures have no verdicts."""
    allowed = {"gammabar.solvers": {"Iterate"}, "gammabar.solvers.boosting": {"BestStump"}}
    for path in (*modules("papers"), *modules("harness/verify")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import) and path.name != "figures.py":
                assert not any(alias.name.startswith("gammabar.solvers") for alias in node.names)
            module = getattr(node, "module", None) or ""
            if module.startswith("gammabar.solvers") and path.name != "figures.py":
                taken = {alias.name for alias in node.names}
                assert module == "gammabar.solvers.base" or taken <= allowed[module], path


@pytest.mark.parametrize("path", INDEPENDENT)
def test_checkers_use_the_standard_library_alone(path: str):
    allowed = {"gammabar.papers.witness"}
    if path.startswith("oracle/"):
        allowed = {"gammabar.oracle.check_kernels", "gammabar.oracle.check_readers"}
    for name in imports(ROOT / path):
        assert name.split(".")[0] in sys.stdlib_module_names or name in allowed, name


#: The rooms of the harness: room → what it may import of the others.
ROOMS = {
    "verify": {"screen"},  # what it says to people is made visible there
    "paper": set(),
    "registry": {"verify", "paper", "run"},
    "certificates": {"registry", "run"},
    "run": {"verify", "paper", "registry", "certificates", "screen"},
    "show": {"verify", "registry", "run", "screen"},
    "power": {"verify", "registry", "run"},
    "reproduce": {"paper", "run"},
    "falsify": {"verify", "certificates", "registry", "paper", "run"},
    "gate": {"registry", "run", "screen"},
    "report": {"verify", "paper", "registry", "run", "screen", "show"},
    "margins": {"certificates", "report", "reproduce", "run", "screen"},
    "classifier": set(),  # the oracle in another dress
}
ROOMS["cli"] = {*ROOMS, "screen"}


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_of_the_harness(room: str):
    found = sorted((ROOT / "harness" / room).rglob("*.py"))
    found += (ROOT / "harness").glob(f"{room}.py")
    assert found
    wrong = [
        (str(path.relative_to(ROOT)), name)
        for path in found
        for name in imports(path)
        if name.startswith("gammabar.harness.") and name.split(".")[2] not in {room, *ROOMS[room]}
    ]
    assert wrong == []


def test_only_doors_stand_outside_the_rooms():
    """The command and the plugin of pytest: installed metadata name them, so they do not move."""
    loose = {path.stem for path in (ROOT / "harness").glob("*.py")} - set(ROOMS)
    assert loose == {"__init__", "pytest_plugin", "screen"}
    assert {path.parent.name for path in (ROOT / "harness").glob("*/__init__.py")} <= set(ROOMS)


def test_links_lead_to_the_folders_beside():
    for name in ARROWS:
        link = ROOT / "gammabar" / name
        assert link.is_symlink()
        assert link.resolve() == ROOT / name


def test_no_two_test_files_have_one_name():
    """pytest imports them by their names."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
