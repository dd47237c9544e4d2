"""The page, Markdown, badge and tables that are made of results."""

from __future__ import annotations

import csv
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from hypothesis import given, strategies as st
from results_for_tests import HOSTILE, hostile, result, some, store

from gammabar.harness.cli import cli
from gammabar.harness.report.model import Standing, gather, public
from gammabar.harness.report.page import badge, chart, drawing, page
from gammabar.harness.report.tables import markdown, plain, write_csv


class Seen(HTMLParser):
    """The elements of a page, their attributes and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((name, dict(attributes)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def ids(self) -> list[str]:
        return [of["id"] for _, of in self.tags if of.get("id")]


def test_every_statement_is_there_with_all_that_is_known_of_it():
    seen = Seen(page(gather(some())))
    assert {"jst.thm3.1.1", "jst.sec1.quarter", "tyurin.thm4.1"} <= set(seen.ids())
    assert len(seen.ids()) == len(set(seen.ids()))
    for text in (
        "Theorem 3.1(1)",
        "Fast Margin Maximization via Dual Acceleration",
        "Some w has only positive scores.",
        "dual-acceleration/",  # a mutant that it kills
        "papers/ji_srebro_telgarsky_2021/section3.py:",
        "False as printed: misprint",
        "gammabar check tyurin.thm4.1",
        "vacuous up to t = 4",
    ):
        assert text in seen.text, text
    names = [name for name, _ in seen.tags]
    assert names.count("polyline") == 2 * 3
    assert "math" in names
    assert any("planar" in (of.get("class") or "") for _, of in seen.tags)


def test_one_is_not_counted_in_the_plural():
    shown = Seen(page(gather([result("jst.thm3.1.1")]))).text
    assert "1 of 1 verdict as expected" in shown
    assert not re.search(r"\b1 \w+s\b", shown.partition("Statements ×")[0])


def test_links_of_the_page_lead_somewhere():
    seen = Seen(page(gather([*some(), result("jst.sec1.quarter.fixed")])))
    targets = {str(of["href"]) for name, of in seen.tags if name == "a"}
    assert "#jst.sec1.quarter.fixed" in targets
    assert targets <= {f"#{one}" for one in seen.ids()}


def test_the_page_needs_nothing_else():
    text = page(gather(some()))
    seen = Seen(text)
    assert not [of for _, of in seen.tags if {"src", "srcset", "action"} & set(of)]
    assert {name for name, _ in seen.tags}.isdisjoint({"link", "img", "iframe", "object", "base"})
    assert not re.search(r"@import|url\((?!#)", text)
    assert any("default-src 'none'" in (of.get("content") or "") for _, of in seen.tags)


def test_nothing_of_the_data_is_taken_for_html():
    text = page(gather(hostile()))
    seen = Seen(text)
    assert [name for name, _ in seen.tags].count("script") == 1
    assert [name for name, _ in seen.tags].count("img") == 0
    assert not [of for _, of in seen.tags if any(name.startswith("on") for name in of)]
    assert HOSTILE in seen.text


def test_nothing_of_the_data_is_taken_for_markdown():
    lines = markdown(gather(hostile())).splitlines()
    table = [line for line in lines if line.startswith("| ")]
    assert not any("<" in line.replace("<sub>", "").replace("</sub>", "") for line in lines)
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table[-4:]}) == 1
    assert not [line for line in lines if line.startswith("# ")]


@given(st.text())
def test_plain_text_has_nothing_that_markdown_obeys(text: str):
    shown = plain(text)
    assert "\n" not in shown
    assert "<" not in shown
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]|#]", shown)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("trajectory:/home/ada/w.npy:step=1", "trajectory:w.npy:step=1"),
        ("'/home/ada/secret project/points.csv' --label kind", "'points.csv' --label kind"),
        ("/home/ada/my.py:Mine:step=0.5", "my.py:Mine:step=0.5"),
        ("crashed in /home/ada/x/my.py, line 3", "crashed in my.py, line 3"),
        (r"C:\Users\ada\data.csv", "data.csv"),
        ("~ada/data/points.csv", "points.csv"),
        ("data/points.csv", "data/points.csv"),
        ("γ ≥ 1/2 and 3/4/5", "γ ≥ 1/2 and 3/4/5"),
        ("planted:n=200,d=10", "planted:n=200,d=10"),
        ("gammabar verify --solver-file /home/me/b.py:C", "gammabar verify --solver-file b.py:C"),
    ],
)
def test_folders_are_nobodys_business(text: str, shown: str):
    assert public(text) == shown


def test_no_folder_is_on_the_page():
    one = result(
        problem="/home/ada/points.csv",
        solver="/home/ada/mine/my.py:Mine",
        verdict="undecided",
        reason="ValueError in /home/ada/mine/my.py, line 7",
        failure="crashed",
    )
    report = gather([one], [{"machine": "Linux"}], {"/home/ada/points.csv": "c0ffee"})
    for text in (page(report), markdown(report)):
        assert "ada" not in re.sub("lambda|Ramdas|radar|adap|ada[b-z]", "", text)
        assert "points.csv" in text
        assert "my.py" in text


def test_a_mistake_is_told_once():
    names = ("jst.lem3.4.primal", "jst.lemC.3", "jst.lemC.11")
    wrong = [
        result(name, "refuted", solver="my.py:mine", hint="no momentum", worst_t=1)
        for name in names
    ]
    report = gather(wrong)
    assert (markdown(report).count("no momentum"), markdown(report).count("as above")) == (1, 2)
    shown = Seen(page(report)).text
    failed = shown[shown.index("Failed") : shown.index("Statements ×")]
    assert failed.count("no momentum") == 1
    assert "2 more are refuted: jst.lemC.3 (t = 1), jst.lemC.11 (t = 1)" in failed


def test_of_a_run_that_was_made_twice_the_later_one_counts():
    report = gather([result(verdict="refuted"), result()])
    assert [r.verdict.verdict for r in report.results] == ["holds"]


def test_what_a_statement_amounts_to():
    cases = {
        Standing.UNEXPECTED: [result(), result(verdict="refuted", problem="wine:0,1")],
        Standing.HOLDS: [result(), result(problem="wine:0,1", informative=0)],
        Standing.VACUOUS: [result(informative=0, vacuous_to=168)],
        Standing.REFUTED: [
            result(verdict="refuted", expected="refuted"),
            result(problem="wine:0,1", expected="either"),
        ],
    }
    for standing, results in cases.items():
        assert gather(results).findings[0].standing is standing


@given(
    st.lists(
        st.tuples(
            st.integers(0, 10**9),
            st.floats(allow_nan=False, allow_infinity=False),
            st.floats(allow_nan=False, allow_infinity=False),
        ),
        min_size=2,
        unique_by=lambda point: point[0],
    ).map(sorted)
)
def test_any_curve_is_drawn_within_its_frame(points: list[tuple[int, float, float]]):
    root = ElementTree.fromstring(chart(points, points[-1][0], "<a>", points[0][0]))
    drawn = [node.attrib["points"] for node in root.iter("polyline")]
    numbers = [float(n) for line in drawn for pair in line.split() for n in pair.split(",")]
    assert all(0 <= n <= 420 for n in numbers)
    assert root.attrib["aria-label"] == "<a>"


def test_witnesses_are_drawn_where_they_are_planar():
    shown = ElementTree.fromstring(drawing({"rows": [["1", "-1"], ["1/2", "4"]], "w": ["0", "1"]}))
    assert [t.text for t in shown.iter("text")] == ["w", "a₁ = (1, −1)", "a₂ = (0.5, 4)"]
    for data in ({}, {"rows": [["1"]]}, {"rows": [["1", "x"]]}, {"rows": "ab"}, {"x": []}):
        assert drawing(data) == ""


def test_the_badge_says_it_in_a_line():
    shown = ElementTree.fromstring(badge(gather(some())))
    assert shown[0].text == "gammabar: 1 hold, 2 false as printed"
    shown = ElementTree.fromstring(badge(gather(hostile())))
    assert shown[0].text == "gammabar: 3 failed"


def test_a_table_for_programs(tmp_path: Path):
    write_csv([result(), result(reason="=1+1")], tmp_path / "r.csv")
    with (tmp_path / "r.csv").open(encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)
    assert (first["statement"], first["tightness"], first["checked"]) == (
        "jst.thm3.1.1",
        "0.25",
        "16",
    )
    assert second["reason"] == "'=1+1"


def test_control_characters_of_a_solver_are_escaped_on_every_way_out(tmp_path: Path):
    said = "\x1b[2Jboo\x9b31m\x07"
    found = [result(f"my.{said}", "undecided", reason=said, what=said, where=said, problem=said)]
    write_csv(found, tmp_path / "r.csv")
    texts = [page(gather(found)), markdown(gather(found)), badge(gather(found))]
    for text in (*texts, (tmp_path / "r.csv").read_text("utf-8")):
        assert not [c for c in text if not c.isprintable() and c not in "\n\r\u200b"]
    assert all(r"\x1b" in text.replace(r"\\", "\\") for text in texts[:2])


def test_a_table_with_types(tmp_path: Path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: gammabar[parquet]")
    kept = store(tmp_path / "s.db", some())
    done = CliRunner().invoke(cli, ["export", str(kept), "--parquet", str(tmp_path / "r.parquet")])
    assert done.exit_code == 0, done.output
    table = parquet.read_table(tmp_path / "r.parquet")
    assert table.num_rows == len(some())
    found = dict(zip(*(table.column(c).to_pylist() for c in ("problem", "tightness")), strict=True))
    assert found["digits:3,8"] == 0.5
    types = {name: str(table.schema.field(name).type) for name in ("worst_t", "reference")}
    assert types == {"worst_t": "int64", "reference": "double"}


def test_the_commands(tmp_path: Path):
    kept = store(tmp_path / "s.db", some())
    run = CliRunner().invoke
    assert run(cli, ["report", str(kept)]).exit_code == 0
    text = (tmp_path / "s.db.html").read_text(encoding="utf-8")
    assert "1.2.3" in text
    assert "c0ffee" in text
    assert run(cli, ["report", str(kept), "--markdown"]).output.startswith("### ✅ gammabar")
    assert run(cli, ["report", str(kept), "--badge"]).output.startswith("<svg")
    out = tmp_path / "b.svg"
    assert run(cli, ["report", str(kept), "--badge", "--out", str(out)]).exit_code == 0
    assert out.read_text(encoding="utf-8").startswith("<svg")
    done = run(cli, ["export", str(kept), "--csv", str(tmp_path / "r.csv")])
    assert "6 rows" in done.output
    assert run(cli, ["export", str(kept)]).exit_code == 2
    assert run(cli, ["report", str(tmp_path / "none.db")]).exit_code == 2
    assert not (tmp_path / "none.db").exists()


def test_verify_writes_a_report(tmp_path: Path):
    arguments = ["verify", "--statement", "jst.thm3.1.1", "--problem", "iris:0,1"]
    arguments += ["--iterations", "20", "--jobs", "1", "--report", str(tmp_path / "r")]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    names = sorted(path.name for path in (tmp_path / "r").iterdir())
    assert names == ["badge.svg", "index.html", "report.md", "results.db"]
    seen = Seen((tmp_path / "r" / "index.html").read_text(encoding="utf-8"))
    assert "CPython" in seen.text
    assert re.search(r"iris:0,1\s*\d+\s*[0-9a-f]{64}", seen.text)
    assert "polyline" in [name for name, _ in seen.tags]
