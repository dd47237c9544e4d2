"""What is shown on a terminal is shown, and never obeyed."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st
from rich.cells import cell_len

from gammabar.harness import screen as output
from gammabar.harness.cli import main
from gammabar.harness.registry import find_statements
from gammabar.harness.screen import bar
from gammabar.harness.verify.verdict import Verdict, explain

#: Every kind of character, and the sequences that terminals obey.
NASTY = st.text(
    st.characters(codec=None) | st.sampled_from("\x1b\x9b\x07\x08\r\n\x00\u202e\u2028\ud800é🙂"),
    max_size=30,
) | st.sampled_from(["\x1b[2J\x1b[H", "\x1b]0;title\x07", "a\r\nb", "\x9b31m", "[red]x[/red]", ""])


def obeyed(text: str) -> set[str]:
    return {c for c in text if not c.isprintable() and c != "\n"}


def captured(write) -> str:
    """What a function writes to stdout, as the bytes of a terminal that knows UTF-8."""
    before, sys.stdout = sys.stdout, io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n")
    try:
        output.prepare_terminal()
        write()
        sys.stdout.flush()
        return sys.stdout.buffer.getvalue().decode("utf-8")
    finally:
        sys.stdout = before


@settings(max_examples=300, deadline=None)
@given(NASTY, NASTY)
def test_lines_tables_and_documents(text, other):
    assert output.visible(text).isprintable()
    line = captured(lambda: output.say(text))
    assert not obeyed(line)
    assert line.count("\n") == 1
    table = captured(lambda: output.print_table((text, "b"), [(other, text)], title=other))
    assert not obeyed(table)
    shown = captured(lambda: output.print_json({"x": [text], other: 1}))
    assert not obeyed(shown)
    assert json.loads(shown) == {"x": [text], other: 1}


#: Documents with numbers that JSON has not, anywhere in them.
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(DOCUMENTS)
def test_what_is_printed_as_json_is_json(document):
    shown = captured(lambda: output.print_json(document))
    found = json.loads(shown, parse_constant=pytest.fail)
    # The same as before, but for what JSON cannot say.
    assert found == json.loads(json.dumps(document), parse_constant=lambda word: None)


def test_what_is_harmless_is_left_alone():
    for text in ("γ̄ ≤ 1", "Größe é 🙂", "[bold]x[/bold]", "a\\b"):
        assert output.visible(text) == text
        assert text in captured(lambda text=text: output.say(text))
        assert text in captured(lambda text=text: output.print_table(("a",), [(text,)]))


@settings(max_examples=200, deadline=None)
@given(NASTY, NASTY, NASTY)
def test_explanations(words, reason, problem):
    """No text within an explanation can look like a line of ours."""
    statement = replace(find_statements(["gb.sharp"])[0], words=words, reference=f"§ {reason}")
    more = {"what": words, "where": problem, "failure": "crashed"}
    verdict = Verdict("gb.sharp", "undecided", reason=reason, **more)
    lines = explain(statement, verdict, problem=problem, solver=words).split("\n")
    assert all(line.isprintable() for line in lines)
    plain = Verdict("a.b", "undecided", reason="r", what="w", where="w", failure="crashed")
    assert len(lines) <= len(explain(statement, plain, problem="p", solver="s").split("\n"))


@pytest.mark.full
@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_every_encoding(encoding):
    for arguments in (["list", "statements", "--json"], ["oracle", "no\x1bsuch"]):
        done = subprocess.run(
            [sys.executable, "-m", "gammabar", *arguments],
            env=os.environ | {"PYTHONIOENCODING": f"{encoding}:strict", "PYTHONUTF8": "0"},
            capture_output=True,
            check=False,
        )
        assert b"Traceback" not in done.stderr, done.stderr.decode(encoding)
        for stream in (done.stdout, done.stderr):
            assert not obeyed(stream.decode(encoding))
        if "--json" in arguments:
            assert any("γ" in entry["words"] for entry in json.loads(done.stdout.decode(encoding)))


NAMES = ["", ".", "..", "/", "a\0b", "\0", "no/such/folder/x", "\x1b[2J", "x" * 300, "-", "~", " "]
PLACES = [
    lambda name: ["oracle", name],
    lambda name: ["check", name],
    lambda name: ["check", name, name],
    lambda name: ["verify", "--statement", "gb.sharp", "--problem", name],
    lambda name: ["verify", "--statement", "gb.sharp", "--solver-file", f"{name}:Mine"],
    lambda name: ["verify", "--statement", "gb.sharp", "--solver-file", f"{name}.py:Mine:a=b"],
    lambda name: ["verify", "--statement", "gb.sharp", "--solver", name, "--problem", "iris:0,1"],
    lambda name: ["verify", "--paper", name, "--statement", "gb.sharp"],
    lambda name: ["verify", "--statement", name],
    lambda name: ["verify", "--source", name],
    lambda name: ["verify", "--store", name, "--statement", "gb.shrap"],
    lambda name: ["verify", "--store", "s", "--depends", name, "--statement", "gb.shrap"],
    lambda name: ["verify", "--junit", name, "--statement", "gb.shrap"],
    lambda name: ["oracle", "iris:0,1", "--certificate", name],
    lambda name: ["data", "export", "iris:0,1", name],
]


@pytest.mark.parametrize("place", range(len(PLACES)))
@pytest.mark.parametrize("name", NAMES)
def test_odd_names_end_in_one_sentence(name, place, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(SystemExit) as left:
        main(PLACES[place](name))
    said = capsys.readouterr().err
    assert left.value.code in (0, 1, 2)
    if left.value.code == 2:
        lines = [line for line in said.splitlines() if line.startswith("gammabar: ")]
        assert len(lines) == 1
    assert not obeyed(said)
    assert "Traceback" not in said


# --- narrow terminals --------------------------------------------------------------------


WORD = st.text("abcγ≤ij", min_size=1, max_size=9) | st.sampled_from(["γ̄", "‖w̄‖"])
WORDS = st.lists(WORD, min_size=1, max_size=12).map(" ".join)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=4), st.integers(30, 120))
def test_no_word_of_a_table_is_broken_or_lost(rows, width):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        names = [str(place) for place in range(len(rows))]
        table = [(name, *row) for name, row in zip(names, rows, strict=True)]
        shown = captured(lambda: output.print_table(("id", "one", "two", "three"), table))
    printed = shown.split()
    for row in rows:
        for word in " ".join(row).split():
            assert word in printed
    assert all(cell_len(line) <= width for line in shown.splitlines())


def test_in_a_pipe_progress_is_a_line_now_and_then(capsys, monkeypatch):
    clock = iter([0.0, 1.0, 2.5, 3.0, 8.0])
    monkeypatch.setattr(output, "monotonic", lambda: next(clock))
    with output.stages() as stage:
        for text in ("reading", "candidate", "γ̄ in [0, 1]", "\x1b[2Jproof"):
            stage(text)
    assert capsys.readouterr().err == "2 s: candidate\n8 s: \\x1b[2Jproof\n"


def test_a_bar_in_a_pipe_counts(capsys, monkeypatch):
    monkeypatch.setattr(output, "_FIRST", 0.0)
    monkeypatch.setattr(output, "_PAUSE", 0.0)
    with bar(2, "pairs") as advance:
        advance("0,1")
        advance("0,2")
    assert capsys.readouterr().err == "0 s: 1 of 2 pairs: 0,1\n0 s: 2 of 2 pairs: 0,2\n"
    with bar(2, "pairs", quiet=True) as advance:
        advance("0,1")
    assert capsys.readouterr().err == ""
