"""gammabar oracle --pairs: every pair, certificates that are accepted, and runs that go on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gammabar.harness import margins as work
from gammabar.harness.margins import _Pair as Pair
from gammabar.harness.run import pool
from gammabar.oracle import solve
from gammabar.problems import load
from gammabar.problems.files import label_fault, label_text


def test_every_pair_of_a_data_set(gammabar, tmp_path):
    code, out, _ = gammabar("margins", "iris", "--certificates", tmp_path, "--jobs", "1", "--json")
    found = json.loads(out)
    assert (code, found["format"], found["data"]) == (0, "gammabar-margins", ["iris"])
    assert found["summary"]["pairs"] == 3
    assert found["summary"]["not_separable"] == 1
    assert found["summary"]["accepted"] == 3
    for pair in found["pairs"]:
        truth = solve(load(f"iris:{','.join(pair['classes'])}"))
        assert pair["gamma"] == truth.digits()
        assert pair["separable"] is truth.separable
        certificate = tmp_path / pair["certificate"]
        assert gammabar("check", certificate)[0] == 0


def test_what_is_known_is_not_computed_again(gammabar, tmp_path, monkeypatch):
    gammabar("margins", "iris", "--certificates", tmp_path, "--jobs", "1", "--no-check")
    (tmp_path / "iris-0-2.result.json").unlink()
    (tmp_path / "iris-1-2.result.json").write_text("{half a doc")
    done = []

    def margin_of(pair, **more):
        done.append(pair[1])
        return original(pair, **more)

    original = work._margin_of
    monkeypatch.setattr(work, "_margin_of", margin_of)
    gammabar("margins", "iris", "--certificates", tmp_path, "--jobs", "1", "--no-check")
    assert done == [("0", "2"), ("1", "2")]
    before = (tmp_path / "iris-0-1.json").stat().st_mtime_ns
    code, out, _ = gammabar("margins", "iris", "--certificates", tmp_path, "--jobs", "1")
    assert (code, (tmp_path / "iris-0-1.json").stat().st_mtime_ns) == (0, before)  # only checked
    assert "3 certificates accepted" in out


def test_a_file_that_has_changed_is_computed_again(gammabar, tmp_path):
    data = tmp_path / "three.csv"
    data.write_text("c,x,z\na,1,0\nb,0,1\nd,-1,5\n")
    arguments = ["margins", data, "--certificates", tmp_path / "m", "--jobs", "1", "--json"]
    first = json.loads(gammabar(*arguments)[1])
    assert [p["classes"] for p in first["pairs"]] == [["a", "b"], ["a", "d"], ["b", "d"]]
    assert first["summary"]["accepted"] == 3
    data.write_text("c,x,z\na,1,0\nb,0,1\nd,-1,50\n")
    second = json.loads(gammabar(*arguments)[1])
    assert second["pairs"][1]["gamma"] != first["pairs"][1]["gamma"]
    assert second["pairs"][0]["gamma"] == first["pairs"][0]["gamma"]


def test_a_rejected_certificate_is_exit_code_1(gammabar, tmp_path, monkeypatch):
    monkeypatch.setattr(work, "_checked", lambda path, spec: (False, "no"))
    arguments = ["margins", "iris", "--certificates", tmp_path, "--jobs", "1"]
    code, out, _ = gammabar(*arguments)
    assert code == 1
    assert "3 REJECTED" in out


def test_picture_and_page(gammabar, tmp_path):
    pytest.importorskip("matplotlib")
    arguments = ["margins", "iris", "--certificates", tmp_path / "m", "--jobs", "1", "--no-check"]
    gammabar(*arguments, "--picture", tmp_path / "p.svg", "--page", tmp_path / "p.md")
    first = (tmp_path / "p.svg").read_bytes()
    assert first.startswith(b"<?xml")
    gammabar(*arguments, "--picture", tmp_path / "p.svg")
    assert (tmp_path / "p.svg").read_bytes() == first  # the same numbers, the same file
    page = (tmp_path / "p.md").read_text()
    assert "| 1 versicolor / 2 virginica | not separable |" in page
    assert "![" in page


def test_labels_and_names_are_text_on_the_page(gammabar, tmp_path, monkeypatch):
    """Nothing of them is HTML, a column of the table, code, or a formula of the picture."""
    pytest.importorskip("matplotlib")
    markdown = pytest.importorskip("markdown_it")
    monkeypatch.chdir(tmp_path)
    labels = ["<script>alert(1)</script>", "p|q", "`", "$\\frac$", "[a](b)", "![x](y)", "*b*"]
    rows = np.vstack([np.eye(len(labels)), -np.ones((1, len(labels)))])
    name = "<b>i`|x`` [l](u).npz"
    np.savez(name, X=rows, y=np.array([*labels, "z"]))
    arguments = ["--certificates", "m", "--jobs", "1", "--no-check", "--page", "p.md"]
    code, _, err = gammabar("margins", name, *arguments, "--picture", "a (b).svg")
    assert code == 0, err
    html = markdown.MarkdownIt("commonmark").enable("table").render(Path("p.md").read_text())
    seen: list[str] = []
    cells: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attributes):
            seen.append(tag)
            if tag == "img":
                assert unquote(dict(attributes)["src"]) == "a (b).svg"

        def handle_data(self, text):
            if seen and seen[-1] in ("h2", "code"):
                cells.append(text)

    Reader().feed(html)
    tags = {"h1", "h2", "p", "code", "img", "table", "thead", "tbody", "tr", "th", "td"}
    assert set(seen) == tags
    pairs = len(labels) * (len(labels) + 1) // 2
    assert seen.count("td") == 5 * pairs
    assert seen.count("img") == 1
    assert any(name in cell for cell in cells)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing-of-the-kind"], "no data set"),
        (["iris:0,1"], "without a colon"),
        (["iris", "--picture", "p.bmp"], ".svg"),
        (["iris", "--jobs", "0"], "--jobs"),
    ],
)
def test_bad_input_is_one_sentence(gammabar, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    code, out, err = gammabar("margins", *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert not list(tmp_path.iterdir())


@pytest.mark.full
@pytest.mark.parametrize("kind", ["pipe", "link", "device"])
def test_what_is_no_file_is_refused(tmp_path, kind):
    """It is not even opened: nobody writes into the pipe."""
    path = tmp_path / "f.csv"
    if kind == "device":
        path.symlink_to("/dev/null")
    else:
        os.mkfifo(path if kind == "pipe" else tmp_path / "pipe")
        if kind == "link":
            path.symlink_to(tmp_path / "pipe")
    command = [sys.executable, "-m", "gammabar"]
    for more in (["margins", "iris", "f.csv"], ["verify", "--problem", "f.csv"]):
        done = subprocess.run(
            [*command, *more], cwd=tmp_path, capture_output=True, text=True, timeout=60
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert "f.csv: data of a pipe or a device are read once" in done.stderr
        assert not (tmp_path / "margins").exists()


def test_a_process_that_is_killed_is_one_sentence(tmp_path, monkeypatch, gammabar):
    call = pool._Worker.call

    def killed(worker, *more):
        worker._process.kill()
        return call(worker, *more)

    monkeypatch.setattr(pool._Worker, "call", killed)
    code, out, err = gammabar("margins", "iris", "--certificates", tmp_path / "m", "--jobs", "2")
    assert (code, out) == (2, "")
    assert "its process was ended by SIGKILL" in err


#: Names of files and classes that a system, or we, may take for one another.
NAMES = st.sampled_from(["x", "X", "x-a", "x a", "é", "e\u0301", "٣", "3", "ﬁ", "fi"]) | st.text(
    st.characters(exclude_characters="/:,\0", exclude_categories=("Cc", "Cs")), min_size=1
).filter(lambda text: text == text.strip() and len(text.encode()) < 80 and text.strip("."))
CLASSES = (NAMES | st.sampled_from(["a", "A", "a-b", "a b", "-", "a.b", "b" * 400])).filter(
    lambda text: not label_fault(text)
)
SUFFIXES = st.sampled_from([".csv", ".npz", ".tsv"])


@settings(max_examples=300)
@given(
    st.lists(st.tuples(st.lists(NAMES, max_size=2), NAMES, SUFFIXES), min_size=2, max_size=4),
    st.lists(CLASSES, min_size=2, max_size=5),
)
def test_distinct_pairs_have_distinct_files(places, classes):
    """Of any data, with any classes; and the names fit into any folder."""
    data = {"/".join([*folders, name + suffix]) for folders, name, suffix in places}
    data = {os.path.abspath(one): one for one in sorted(data)}.values()
    names = list(dict.fromkeys(map(label_text, classes)))
    pairs = [Pair(one, (a, b), (a, b)) for one in (*data, "iris") for a in names for b in names]
    files = [pair.file.casefold() for pair in pairs if pair.classes[0] != pair.classes[1]]
    assert len(set(files)) == len(files)
    assert all("/" not in file and len(file.encode()) < 200 for file in files)


def test_one_file_under_two_names_is_taken_once(gammabar, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text("a,3,1\nb,-4,-1\n")
    arguments = ["--certificates", "m", "--jobs", "2", "--json"]
    names = ["x.csv", "./x.csv", str(tmp_path / "x.csv")]
    found = json.loads(gammabar("margins", *names, *arguments)[1])
    assert found["summary"]["pairs"] == 1
