"""docs/schemas.json: what `--json` prints, for every command that has it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gammabar.harness.cli import main
from tests.every_command import every_command

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = json.loads((ROOT / "docs" / "schemas.json").read_text(encoding="utf-8"))["$defs"]
SMALL = "planted:n=12,d=3,gamma=0.2,seed=0"
MUTANT = "dual-acceleration/no-momentum"
NOT = "inseparable:n=12,d=3,seed=0"
CALLS = {
    "oracle": [
        ("oracle", SMALL),
        ("oracle", SMALL, "--intercept", "--explain", "--certificate", "c.json"),
        ("oracle", SMALL, "--norm", "l1"),
        ("oracle", SMALL, "--kernel", "rbf:gamma=1"),
        ("oracle", "iris", "--multiclass", "--explain", "--export", "w.npz"),
        ("oracle", NOT, "--explain"),
        ("oracle", NOT, "--signed"),
        ("oracle", NOT, "--time-limit", "1e-9"),
    ],
    "separation": [("separation", SMALL), ("separation", NOT, "--intercept")],
    "verify": [("verify", "--statement", "gb.sharp", "--problem", SMALL, "--jobs", "1")],
    "show": [
        ("show", name) for name in ("rp.winnow", "winnow", "planted", SMALL, "jst.fig1", MUTANT)
    ],
    "falsify": [
        ("falsify", "rp.winnow", "--budget", "0.5"),
        ("falsify", "gb.sharp", "--budget", "0.5"),
    ],
    "reproduce": [("reproduce", "rp.sec2.2", "--quick")],
    "list statements": [("list", "statements"), ("list", "statements", "--status", "refuted")],
    **{f"list {kind}": [("list", kind)] for kind in ("solvers", "problems", "mutants", "papers")},
    "list artefacts": [("list", "artefacts")],
    "margins": [("margins", "iris", "--no-check", "--jobs", "1")],
    "data list": [("data", "list")],
    "data check": [("data", "check", "iris")],
}
#: They need a file, a repository or minutes: tests below have their documents.
ELSEWHERE = ("check", "bench", "gate")
KINDS: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
}


def faults(value: Any, schema: dict[str, Any], where: str = "$") -> Iterator[str]:
    """What is wrong with a document; of JSON Schema, the words that our schemas use."""
    known = {"type", "required", "properties", "items", "enum", "const"}
    assert set(schema) <= known, f"this test does not know {set(schema) - known}"
    if "const" in schema and value != schema["const"]:
        yield f"{where} is {value!r}, not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where} is {value!r}, none of {schema['enum']}"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    truth = isinstance(value, bool) and "boolean" not in kinds  # to Python it is a number
    if kinds and (truth or not any(isinstance(value, KINDS[kind]) for kind in kinds)):
        yield f"{where} is {value!r}, not {' or '.join(kinds)}"
        return
    if isinstance(value, dict):
        for name in schema.get("required", []):
            if name not in value:
                yield f"{where} has no {name}"
        for name, of_it in schema.get("properties", {}).items():
            if name in value:
                yield from faults(value[name], of_it, f"{where}.{name}")
    if isinstance(value, list) and "items" in schema:
        for place, one in enumerate(value):
            yield from faults(one, schema["items"], f"{where}[{place}]")


def undescribed(value: Any, schema: dict[str, Any], where: str = "$") -> Iterator[str]:
    """Fields of a document that its schema does not know, where it knows any beside them."""
    if isinstance(value, dict) and "properties" in schema:
        for name, one in value.items():
            if name in schema["properties"]:
                yield from undescribed(one, schema["properties"][name], f"{where}.{name}")
            else:
                yield f"{where}.{name}"
    if isinstance(value, list) and "items" in schema:
        for one in value:
            yield from undescribed(one, schema["items"], f"{where}[]")


def test_every_command_with_json_has_a_schema_and_a_test():
    commands = every_command().items()
    for name in (n for n, one in commands if any("--json" in p.opts for p in one.params)):
        of_it = [known for known in SCHEMAS if known == name or known.startswith(f"{name} ")]
        assert of_it, name
        assert all(known in CALLS or known in ELSEWHERE for known in of_it), name
    assert set(SCHEMAS) == {*CALLS, *ELSEWHERE}


def printed(capsys, *words: str) -> Any:
    with pytest.raises(SystemExit):
        main([*words, "--json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.full
@pytest.mark.parametrize("name", CALLS)
def test_documents_are_as_their_schema_says(name, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files beside
    for words in CALLS[name]:
        document = printed(capsys, *words)
        assert document
        assert list(faults(document, SCHEMAS[name])) == [], words
        assert set(undescribed(document, SCHEMAS[name])) == set(), words
        if SCHEMAS[name]["type"] == "object":
            assert list(document)[:2] == ["format", "version"]


def test_a_certificate_that_is_checked(capsys, tmp_path):
    file = str(tmp_path / "c.json")
    printed(capsys, "oracle", SMALL, "--certificate", file)
    assert list(faults(printed(capsys, "check", file), SCHEMAS["check"])) == []


def test_the_benchmarks_of_the_page():
    document = json.loads((ROOT / "docs" / "benchmarks.json").read_text(encoding="utf-8"))
    assert list(faults(document, SCHEMAS["bench"])) == []
    assert set(undescribed(document, SCHEMAS["bench"])) == set()


def test_the_gate(capsys, tmp_path):
    pytest.importorskip("asv_runner")
    suite = "import work\n\n\ndef track_steps():\n    return work.STEPS\n"
    files = {"asv.conf.json": '{"benchmark_dir": "perf"}', "perf/suite.py": suite}
    (tmp_path / "perf").mkdir()
    for name, text in {**files, "perf/__init__.py": "", "work.py": "STEPS = 3\n"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    who = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "three steps"]):
        subprocess.run([*who, *words], cwd=tmp_path, check=True)
    (tmp_path / "work.py").write_text("STEPS = 4\n", encoding="utf-8")
    document = printed(capsys, "gate", "HEAD", "--repo", str(tmp_path))
    assert document["regressions"] == 1
    assert list(document)[:2] == ["format", "version"]
    assert list(faults(document, SCHEMAS["gate"])) == []
    assert set(undescribed(document, SCHEMAS["gate"])) == set()
