"""What the gate is given and cannot use: one sentence and exit code 2, or a benchmark that failed.

Exit code 1 means a regression, so nothing else may end with it: no suite, no BASE, no option.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from gammabar.harness.cli import main
from gammabar.harness.gate import checkouts
from gammabar.harness.gate.compare import Gated, count, recurring
from gammabar.harness.gate.plan import named
from gammabar.harness.gate.worker import number
from gammabar.problems import ProblemError

COUNTS = "import pack\n\n\ndef track_words():\n    return pack.WORDS\n"
NO_ASV = pytest.mark.skipif(find_spec("asv_runner") is None, reason="asv is not installed")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Somebody's repository: one module, one benchmark that counts, one commit."""
    root = tmp_path / "theirs"
    for name, text in {
        "asv.conf.json": '{"benchmark_dir": "perf"}',
        "pack.py": "WORDS = 3\n",
        "perf/__init__.py": "",
        "perf/counts.py": COUNTS,
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    return root


def git(root: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def gate(capsys: pytest.CaptureFixture[str], repository: Path):
    """Run the gate on it: (exit code, stdout, stderr); what is no JSON is no answer."""

    def run(*more: str, base: tuple[str, ...] = ("HEAD",)):
        with pytest.raises(SystemExit) as left:
            main(["gate", *base, "--repo", str(repository), "--json", *more])
        out, err = capsys.readouterr()
        return left.value.code, json.loads(out, parse_constant=pytest.fail) if out else None, err

    return run


def refused(answer: tuple[int, object, str], *words: str) -> None:
    """One sentence on stderr with these words in it, and exit code 2."""
    code, out, err = answer
    assert (code, out) == (2, None)
    assert err.count("\n") == 1
    for word in words:
        assert word in err


@NO_ASV
class TestBuild:
    @pytest.mark.parametrize(
        ("command", "words"),
        [
            ("a'b", "no closing quotation"),
            ("a\\", "no escaped character"),
            ("", "a program and its arguments are asked for"),
            (" # ", "cannot be run"),
            ("no-such-program-at-all -x", "No such file or directory"),
            (".", "Permission denied"),
            ("a\0b", "null"),
            ("\ud800", "surrogates not allowed"),
            ("sh -c 'printf \"one\\n\\377 two\" >&2; exit 3'", "exit code 3: \ufffd two"),
            ("sh -c 'printf \"\\377\"; exit 3'", "exit code 3: \ufffd"),
        ],
    )
    def test_what_is_no_command(self, gate, command: str, words: str):
        refused(gate("--build", command), "--build: ", words)

    def test_what_a_command_prints_is_its_own(self, gate):
        code, found, _ = gate("--build", "printf '\\377'")
        assert (code, found["regressions"]) == (0, 0)


class TestBase:
    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"# a comment\n\xff\n", "BASE, line 2: not text (byte 0xff is no UTF-8)"),
            (b"\xed\xa0\x80\n", "BASE, line 1: not text (byte 0xed is no UTF-8)"),
            (b"\n\nHE\0AD\n", r"perf/BASE, line 3: 'HE\x00AD' is no commit"),
            (b"nonsense\n", "perf/BASE, line 1: 'nonsense' is no commit"),
            (b"^HEAD\n", "'^HEAD' is no commit"),
            (b"# nothing\n", "BASE names no commit"),
        ],
    )
    def test_what_names_no_commit(self, repository: Path, content: bytes, words: str):
        (repository / "perf" / "BASE").write_bytes(content)
        with pytest.raises(ProblemError) as refusal:
            checkouts.base_commit(repository, None, repository / "perf")
        assert words in str(refusal.value)

    def test_comments_may_be_in_any_encoding(self, repository: Path):
        (repository / "perf" / "BASE").write_bytes(b"# caf\xe9\r\nHEAD\r\n")
        found = checkouts.base_commit(repository, None, repository / "perf")
        assert found == checkouts.base_commit(repository, "HEAD", repository / "perf")

    @pytest.mark.parametrize("named", ["", "^HEAD", "-h", "--all", "HEAD..", "a\0b", "\ud800", "é"])
    def test_on_the_command_line(self, repository: Path, named: str):
        with pytest.raises(ProblemError, match="is no commit of this repository"):
            checkouts.base_commit(repository, named, repository / "perf")

    def test_a_folder_that_cannot_be(self, repository: Path):
        (repository / "asv.conf.json").write_text('{"benchmark_dir": "a\0b"}')
        with pytest.raises(ProblemError, match="cannot be a folder"):
            checkouts.suites_of(repository)

    def test_a_commit_with_a_link_out_of_it(self, repository: Path):
        (repository / "far").symlink_to("/nowhere")
        git(repository, "add", ".")
        git(repository, "commit", "-qm", "a link")
        shelf = repository.parent / "shelf"
        with pytest.raises(ProblemError, match=r"cannot be laid out: .*far"):
            commit = checkouts.base_commit(repository, "HEAD", repository)
            checkouts.checkout(repository, commit, shelf)
        assert list(shelf.iterdir()) == []


class TestSuites:
    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"x = 1\ndef (:\n", ", line 2: the suite is no Python: invalid syntax"),
            (b"\xff", ", line 1: the suite is no Python: "),
            (b"x = 1\0\n", ": the suite is no Python: "),
            (b"# -*- coding: nonsense -*-\n", ": the suite is no Python: unknown encoding"),
            (b"x = a" + b".a" * 100_000, ": the suite is no Python: it is nested too deeply"),
            (b"x = " + b"-" * 100_000 + b"1", ": the suite is no Python: "),
        ],
    )
    def test_what_is_no_python(self, tmp_path: Path, content: bytes, words: str):
        suite = tmp_path / "bench_x.py"
        suite.write_bytes(content)
        with pytest.raises(ProblemError) as refusal:
            named(suite)
        assert str(refusal.value).startswith(f"{suite}{words}")

    @pytest.mark.parametrize(
        "content",
        [
            b"# -*- coding: latin-1 -*-\ncaf\xe9 = 1\n",
            b"\xef\xbb\xbf",  # as some editors begin a text
            b"import re\nNUMBER = re.compile('\\d')\n",  # Python warns of the escape
        ],
    )
    def test_what_python_reads_is_read(self, tmp_path: Path, content: bytes):
        suite = tmp_path / "bench_x.py"
        suite.write_bytes(content + b"GATED: list = [('track_x', [])]\n")
        assert named(suite) == [Gated("bench_x.track_x")]

    @pytest.mark.parametrize(
        ("entry", "words"),
        [
            ("('foo_x', [])", "GATED has 'foo_x', whose kind is unknown: a name begins with"),
            ("('A.time', [])", None),  # asv will not find it, and says so
            ("('time_x.foo', [])", "track_, mem_, peakmem_, time_"),
            ("('', [])", "GATED has ''"),
            ("(3, [])", "GATED is a literal"),
            ("('track_x', [], 'bad')", "'bad' as a direction: it is one of lower, higher, same"),
            ("('track_x', [], [])", "[] as a direction"),
            ("('track_x', [], None)", "None as a direction"),
            ("('track_x', [], 'lower', 3)", "GATED is a literal"),
            ("('track_x', [], 'lower')", None),
            ("('track_x', [3])", "GATED is a literal"),
            ("('track_x', ['up'])", "GATED is a literal"),  # not the values "u" and "p"
            ("('track_x', 'up')", "GATED is a literal"),
            ("('track_x', [{1, 2}])", "GATED is a literal"),
            ("('track_x', [[]])", "GATED is a literal"),  # not a benchmark that is not run
            ("('track_x', [[b'x']])", "GATED is a literal"),
            ("('track_x', [[1j]])", "GATED is a literal"),
            ("('track_x', [[...]])", "GATED is a literal"),
            ("('track_x', [[0x1" + "0" * 5000 + "]])", "GATED is a literal"),
            ("('track_x', [[(1, 2), None, 'a', 1e999, -1, True]])", None),
            ("'ab'", "GATED is a literal"),
            ("{'track_x': [], 2: 3}", "GATED is a literal"),
            ("*others", "GATED is a literal"),
        ],
    )
    def test_entries_of_gated(self, tmp_path: Path, entry: str, words: str | None):
        suite = tmp_path / "bench_x.py"
        suite.write_text(f"GATED = [\n    ('track_y', []),\n    {entry},\n]\n")
        if words is None:
            assert len(named(suite)) > 1
            return
        with pytest.raises(ProblemError) as refusal:
            named(suite)
        assert str(refusal.value).startswith(f"{suite}, line 3: GATED ")
        assert words in str(refusal.value)

    @NO_ASV
    def test_they_are_refused_before_anything_runs(self, gate, repository: Path):
        suite = repository / "perf" / "counts.py"
        suite.write_text(COUNTS + "GATED = [('track_words', [], 'bad')]\n")  # the numbers agree
        refused(gate(), f"{suite}, line 6: ", "'bad' as a direction")
        suite.write_bytes(b"\xff")
        refused(gate(), f"{suite}, line 1: ", "no Python")

    @NO_ASV
    def test_what_only_looks_like_a_suite(self, gate, repository: Path):
        suite = repository / "perf" / "counts.py"
        suite.write_text(COUNTS + "GATED = [('track_words', [])]\n")
        (repository / "perf" / "folder.py").mkdir()
        (repository / "perf" / ".#counts.py").symlink_to("somebody@here.1")  # an editor's
        assert gate()[0] == 0

    @NO_ASV
    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("raise SystemExit(3)", "SystemExit: 3"),
            (r"raise ValueError('one\ntwo' + 9999 * 'x')", "ValueError: one two"),
        ],
    )
    def test_one_that_cannot_be_imported(self, gate, repository: Path, line: str, said: str):
        (repository / "perf" / "counts.py").write_text(f"import pack\n{line}\n")
        answer = gate()
        refused(answer, "the benchmarks cannot be read: perf/counts.py, line 2: ", said)
        assert len(answer[2]) < 500


@NO_ASV
class TestConversation:
    """What benchmarks print, ask for and leave behind is not part of it."""

    @pytest.mark.parametrize(
        "line",
        [
            "os.system('echo raw')",
            "os.write(1, b'\\xff\\n')",
            "print('{}', file=sys.__stdout__, flush=True)",
            "os.close(1)",
            "sys.stdin.readline()",
            "os.system('cat')",
            "os.fork() or (time.sleep(9), os._exit(0))",
        ],
    )
    def test_it_is_not_disturbed(self, gate, repository: Path, line: str):
        text = COUNTS.replace("return", f"{line}\n    return")
        (repository / "perf" / "counts.py").write_text(f"import os, sys, time\n{text}")
        code, found, _ = gate()
        assert code == 0
        assert [one["verdict"] for one in found["results"]] == ["same"]

    def test_nor_while_suites_are_imported(self, gate, repository: Path):
        (repository / "perf" / "counts.py").write_text(f"import os\nos.system('echo')\n{COUNTS}")
        assert gate()[0] == 0

    def test_what_is_no_answer_is_an_error(self, tmp_path: Path, monkeypatch):
        worker = tmp_path / "worker.py"
        worker.write_text("import os\nos.write(1, b'\\xff\\n3\\n')\n")
        monkeypatch.setattr(checkouts, "WORKER", worker)
        side = checkouts.Side(tmp_path, tmp_path)
        try:
            assert side.answer() == {"error": "the process said '\ufffd', which is no answer"}
            assert side.answer() == {"error": "the process said '3', which is no answer"}
            assert side.answer() == {"error": "its process ended with exit code 0"}
            side.tell(value="nobody reads this")
        finally:
            side.close()

    def test_a_pipe_that_a_child_holds_is_not_waited_for(self, tmp_path: Path, monkeypatch):
        worker = tmp_path / "worker.py"
        late = tmp_path / "late"
        worker.write_text(
            "import os, time\nchild = os.fork()\nif child:\n"
            "    print('{\"child\":', child, '}', flush=True)\n"
            f"time.sleep(9)\nopen({str(late)!r}, 'w')\n"
        )
        monkeypatch.setattr(checkouts, "WORKER", worker)
        side = checkouts.Side(tmp_path, tmp_path)
        child = side.answer()["child"]
        try:
            side.close()
            assert not late.exists()
        finally:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)


class TestNumbers:
    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("None", "None"),
            ("'text'", "'text'"),
            ("'3'", "'3'"),
            ("b'3'", "b'3'"),
            ("[3]", "[3]"),
            ("1j", "1j"),
            ("10**400", "100000"),
        ],
    )
    @NO_ASV
    def test_what_is_none_has_failed(self, gate, repository: Path, text: str, shown: str):
        (repository / "pack.py").write_text(f"WORDS = {text}\n")
        code, found, _ = gate()
        [one] = found["results"]
        assert (code, one["verdict"]) == (1, "failed")
        assert one["confidence"].startswith(f"now: it returned {shown}")
        assert one["confidence"].endswith(", which is no number")

    @NO_ASV
    def test_on_both_sides(self, gate, repository: Path):
        (repository / "pack.py").write_text("WORDS = None\n")
        git(repository, "commit", "-qam", "none")
        code, found, _ = gate()
        assert (code, [one["verdict"] for one in found["results"]]) == (1, ["failed"])

    @NO_ASV
    @pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
    def test_what_is_not_finite_is_null(self, gate, repository: Path, value: str):
        (repository / "pack.py").write_text(f"WORDS = float('{value}')\n")
        code, found, _ = gate()
        [one] = found["results"]
        assert (one["base"], one["head"]) == (3, None)
        assert one["confidence"] == "exact"
        assert (code, one["verdict"]) == ((0, "better") if value == "-inf" else (1, "worse"))

    def test_integers_are_not_rounded(self):
        import numpy as np

        assert number(2**53 + 1) == 2**53 + 1
        assert number(np.int64(2**53 + 1)) == 2**53 + 1
        assert (number(True), number(np.bool_(True)), number(np.float32(0.5))) == (1, 1.0, 0.5)

        class Pair:
            def ask(self, **question):
                values = ({"value": 2**53 + 1}, {"value": 2**53})
                return ({"kind": ""}, {"kind": ""}) if "open" in question else values

        assert count(Gated("m.track_x", (), "same"), Pair()).verdict == "worse"  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("base", "head", "verdict"),
        [(0, 0, "same"), (0, 1, "same"), (0, 1 << 30, "worse"), (1 << 30, 0, "better")],
    )
    def test_an_object_that_takes_no_memory(self, base: int, head: int, verdict: str):
        class Pair:
            __enter__ = __exit__ = lambda self, *_: self

            def ask(self, **question):
                values = ({"value": base}, {"value": head})
                return ({"kind": ""}, {"kind": ""}) if "open" in question else values

        assert recurring(Gated("m.mem_x"), Pair).verdict == verdict  # type: ignore[arg-type]
