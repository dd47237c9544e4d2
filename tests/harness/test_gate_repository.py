"""The gate on a repository: two processes, suites of any kind, and input that cannot be used.

Exit code 1 means a regression, so nothing else may end with it: no suite, no BASE, no option. The
benchmarks bring a clock that counts work, so that no verdict depends on the machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from gammabar.harness.cli import main
from gammabar.harness.gate import checkouts
from gammabar.harness.gate.checkouts import HIDDEN
from gammabar.harness.gate.compare import _named as named, plan
from gammabar.harness.gate.worker import _number as number
from gammabar.problems import ProblemError

NO_ASV = pytest.mark.skipif(find_spec("asv_runner") is None, reason="asv is not installed")
SUITE = """
import __main__


class Clock:
    now = 0.0


def tick():
    Clock.now += 1e-3
    return Clock.now


__main__.perf_counter = tick  # the worker's, which runs this


class Sorting:
    params = [[10, 30], ["up"]]

    def setup(self, n, order):
        import sorter
        self.work = sorter.comparisons(n)

    def time_sort(self, n, order):
        Clock.now += self.work

    def track_comparisons(self, n, order):
        return self.work


class Cached:
    def setup_cache(self):
        return 7

    def track_cached(self, kept):
        return kept


def timeraw_import():
    return "import sorter"


def peakmem_sort():
    bytearray(1 << 20)


def track_words():
    import pack
    return pack.WORDS
"""
WORDS = "import os, sys, time\nimport pack\n\n\ndef track_words():\n    return pack.WORDS\n"
SORTER = "def comparisons(n):\n    return {}\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with packages in two folders, an asv suite and one commit."""
    root = tmp_path / "theirs"
    write(root / "asv.conf.json", '{\n    // where they are\n    "benchmark_dir": "perf",\n}\n')
    write(root / "src/sorter.py", SORTER.format("n"))
    write(root / "pack.py", "WORDS = 3\n")
    write(root / "perf/__init__.py", "")
    write(root / "perf/sorting.py", SUITE)
    git(root, "init", "-q")
    commit(root)
    return root


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def git(root: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    done = subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)
    return done.stdout.decode()


def commit(root: Path) -> None:
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")


@pytest.fixture
def gate(capsys: pytest.CaptureFixture[str], repository: Path):
    """Run the gate on it: (exit code, stdout, stderr); what is no JSON is no answer."""

    def run(*more: str):
        with pytest.raises(SystemExit) as left:
            main(["gate", "HEAD", "--repo", str(repository), "--json", *more])
        out, err = capsys.readouterr()
        return left.value.code, json.loads(out, parse_constant=pytest.fail) if out else None, err

    return run


@pytest.fixture
def words(gate, repository: Path):
    """Run the gate on a suite that counts words: (exit code, its result)."""

    def run(suite: str = WORDS):
        write(repository / "perf/sorting.py", suite)
        code, found, err = gate("--bench", "track_words")
        assert found, err
        return code, found["results"][0]

    return run


def refused(answer: tuple[int, object, str], *words: str) -> None:
    """One sentence on stderr with these words in it, and exit code 2."""
    code, out, err = answer
    assert (code, out) == (2, None)
    assert err.count("\n") == 1
    assert len(err) < 500
    for word in words:
        assert word in err


# --- verdicts ---


@NO_ASV
def test_it_is_quiet_where_nothing_changed(gate, repository: Path):
    assert [str(gated) for gated in plan(repository, repository / "perf")] == [
        "sorting.Sorting.track_comparisons(10, up)",
        "sorting.Sorting.track_comparisons(30, up)",
        "sorting.Cached.track_cached",
        "sorting.track_words",
        "sorting.peakmem_sort",
        "sorting.Sorting.time_sort(10, up)",
        "sorting.Sorting.time_sort(30, up)",
    ]
    code, found, _ = gate("--bench", "(30")
    assert (code, found["regressions"]) == (0, 0)
    assert [one["verdict"] for one in found["results"]] == ["same", "same"]
    left = git(repository, "status", "--porcelain", "-uall").splitlines()
    assert [line for line in left if "__pycache__" not in line] == []
    assert not (repository / ".asv").exists()


@NO_ASV
def test_a_slowdown_closes_it(gate, repository: Path):
    write(repository / "src/sorter.py", SORTER.format("n if n < 20 else 1.3 * n"))
    code, found, _ = gate("--bench", "time_sort")
    few, many = found["results"]
    assert (code, few["verdict"], many["verdict"]) == (1, "same", "worse")
    assert many["ratio"] == pytest.approx(1.3, abs=1e-3)
    assert len(many["rounds"]) == 3


@NO_ASV
def test_the_suites_may_name_what_counts(gate, repository: Path):
    gated = 'GATED = [("Sorting.track_comparisons", [[10], ["up"]], "same")]\n'
    write(repository / "perf/sorting.py", SUITE + gated)
    write(repository / "src/sorter.py", SORTER.format("n - 1"))
    (repository / "perf/folder.py").mkdir()
    (repository / "perf/.#counts.py").symlink_to("somebody@here.1")  # an editor's
    code, found, _ = gate()
    [one] = found["results"]
    assert (code, one["verdict"], one["base"], one["head"]) == (1, "worse", 10.0, 9.0)


@pytest.mark.full
@NO_ASV
def test_what_has_to_be_built_is_built_on_both_sides(gate, repository: Path):
    program = "from pathlib import Path\nPath('pack.py').write_text(Path('pack.in').read_text())\n"
    write(repository / "make.py", program)
    git(repository, "mv", "pack.py", "pack.in")
    commit(repository)
    code, found, _ = gate("--bench", "words")
    assert code == 1
    assert "No module named 'pack'" in found["results"][0]["confidence"]
    code, found, _ = gate("--bench", "words", "--build", "python3 make.py")
    assert (code, len(found["results"])) == (0, 1)
    assert gate("--bench", "words", "--build", "printf '\\377'")[0] == 0  # it may print anything


def test_a_package_that_the_base_lacks_is_not_taken_from_the_other_tree(tmp_path: Path):
    """As with an editable installation: the working tree is on the path of both sides."""
    head = tmp_path / "head"
    write(head / "only_here/__init__.py", "")
    worker = Path(checkouts.__file__).with_name("worker.py")
    code = (
        f"import sys; sys.path.append({str(head)!r}); import runpy\n"
        f"worker = runpy.run_path({str(worker)!r}); worker['_hide_the_other_tree']()\n"
        "import only_here"
    )
    for hidden, left in {"": 0, str(head): 1}.items():
        environment = os.environ | {HIDDEN: hidden}
        line = [sys.executable, "-c", code]
        done = subprocess.run(line, env=environment, capture_output=True, cwd=tmp_path, check=False)
        assert done.returncode == left


# --- the base ---


def test_the_files_of_a_commit_are_not_those_of_the_working_tree(repository: Path):
    head = checkouts.base_commit(repository, "HEAD", repository)
    (repository / "perf/BASE").write_bytes(b"# caf\xe9\r\n\r\n" + head.encode() + b"\r\n")
    assert checkouts.base_commit(repository, None, repository / "perf") == head
    write(repository / "pack.py", "WORDS = 4\n")
    tree = checkouts.checkout(repository, head)
    assert (tree / "pack.py").read_text() == "WORDS = 3\n"
    assert checkouts.checkout(repository, tree.name) == tree
    write(repository / "requirements.lock", "a==1\n")
    assert not checkouts.same_lock(repository, tree)
    write(tree / "requirements.lock", "a==1\n")
    assert checkouts.same_lock(repository, tree)


def test_commits_and_folders_that_cannot_be(repository: Path, tmp_path: Path):
    base, perf = repository / "perf/BASE", repository / "perf"
    for name in ("", "^HEAD", "--all", "HEAD..", "a\0b", "\ud800", "nonsense"):
        with pytest.raises(ProblemError, match="is no commit of this repository"):
            checkouts.base_commit(repository, name, perf)
    for content in (b"\xff\n", b"HE\0AD\n", b"^HEAD\n", b"nonsense\n"):
        base.write_bytes(b"# a comment\n" + content)
        with pytest.raises(ProblemError, match=r"perf/BASE, line 2: .* is no commit"):
            checkouts.base_commit(repository, None, perf)
    base.write_bytes(b"# nothing\n")
    with pytest.raises(ProblemError, match="BASE names no commit"):
        checkouts.base_commit(repository, None, perf)
    with pytest.raises(ProblemError, match="in a clone of the repository"):
        checkouts.base_commit(tmp_path, "HEAD", perf)
    (repository / "far").symlink_to("/nowhere")
    commit(repository)
    head = checkouts.base_commit(repository, "HEAD", repository)
    with pytest.raises(ProblemError, match=r"cannot be laid out: .*far"):
        checkouts.checkout(repository, head)
    assert list((repository / ".git/gammabar-gate").iterdir()) == []
    write(repository / "asv.conf.json", '{"benchmark_dir": "a\0b"}')
    with pytest.raises(ProblemError, match="cannot be a folder"):
        checkouts.suites_of(repository)


# --- suites ---


def test_what_the_gate_runs():
    everything = plan(checkouts.ROOT, checkouts.ROOT / "benchmarks")
    assert list(dict.fromkeys(g.kind for g in everything)) == ["track", "peakmem", "time"]
    assert len(set(map(str, everything))) == len(everything) == 65
    counts = plan(checkouts.ROOT, checkouts.ROOT / "benchmarks", counts_only=True)
    assert counts == everything[: len(counts)]
    assert {g.kind for g in counts} == {"track"}
    assert sum("Tightness" in g.name for g in counts) == 4  # what the papers name


@pytest.mark.full
@NO_ASV
def test_every_benchmark_exists_with_its_parameters():
    # In a process of its own: asv's importer changes the path.
    code = (
        "import sys\nfrom itertools import product\nfrom pathlib import Path\n"
        "from asv_runner.discovery import get_benchmark_from_name\n"
        "from gammabar.harness.gate.compare import plan\n"
        "for g in plan(Path(sys.argv[1]).parent, Path(sys.argv[1])):\n"
        "    b = get_benchmark_from_name(sys.argv[1], g.name)\n"
        "    assert not g.parameters or g.parameters in set(product(*b._params)), str(g)\n"
        "    assert b.version == '1', str(g)\n"
    )
    line = [sys.executable, "-c", code, str(checkouts.ROOT / "benchmarks")]
    subprocess.run(line, cwd=checkouts.ROOT, check=True)


@pytest.mark.parametrize(
    ("content", "right"),
    [
        (b"x = 1\ndef (:\n", False),
        (b"\xff", False),
        (b"x = 1\0\n", False),
        (b"# -*- coding: nonsense -*-\n", False),
        (b"x = a" + b".a" * 100_000, False),
        (b"# -*- coding: latin-1 -*-\ncaf\xe9 = 1\n", True),
        (b"import re\nNUMBER = re.compile('\\d')\n", True),  # Python warns of the escape
        (b"raise SystemExit\n", True),  # it is read and not imported
    ],
)
def test_suites_are_python(tmp_path: Path, content: bytes, right: bool):
    suite = tmp_path / "bench_x.py"
    suite.write_bytes(content + b"GATED: list = [('time_x', [[1, 2], ['a']])]\n" * right)
    if right:
        assert list(map(str, named(suite, tmp_path))) == [
            "bench_x.time_x(1, a)",
            "bench_x.time_x(2, a)",
        ]
        return
    with pytest.raises(ProblemError, match=r"the suite is not Python: ."):
        named(suite, tmp_path)


RIGHT = """
('A.time', [])
('track_x', [], 'lower')
('track_x', [[(1, 2), None, 'a', 1e999, -1, True]])
"""
WRONG = """
('foo_x', [])
('time_x.foo', [])
('', [])
('track_x', [], 'bad')
('track_x', [], [])
('track_x', [], 'lower', 3)
(3, [])
('track_x', [3])
('track_x', ['up'])
('track_x', 'up')
('track_x', [{1, 2}])
('track_x', [[]])
('track_x', [[b'x']])
('track_x', [[...]])
('a',)
f()
*others
{'track_x': [], 2: 3}
"""


@pytest.mark.parametrize("entry", (RIGHT + WRONG).split("\n"))
def test_entries_of_gated(tmp_path: Path, entry: str):
    suite = tmp_path / "bench_x.py"
    suite.write_text(f"GATED = [\n    ('track_y', []),\n    {entry},\n]\n" if entry else "")
    if entry in RIGHT:
        assert len(named(suite, tmp_path)) > 1 or not entry
        return
    with pytest.raises(ProblemError) as refusal:
        named(suite, tmp_path)
    assert str(refusal.value).startswith(f"{suite}, line 3: GATED is a literal list")


# --- one sentence and exit code 2 ---


@NO_ASV
@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("a'b", "No closing quotation"),
        (" # ", "cannot be run"),
        ("", "no program is named"),
        ("no-such-program-at-all -x", "No such file or directory"),
        ("a\0b", "null"),
        ("sh -c 'printf \"one\\n\\377 two\" >&2; exit 3'", "exit code 3: \ufffd two"),
    ],
)
def test_what_is_no_build_command(gate, command: str, words: str):
    refused(gate("--build", command), "--build: ", words)


@NO_ASV
def test_requests_that_cannot_be_met(gate, repository: Path, tmp_path: Path):
    refused(gate("--benchmarks", str(repository / "none")), "no such folder of benchmarks")
    refused(gate("--repo", str(tmp_path)), "is no git repository")
    suite = repository / "perf/sorting.py"
    for text, words in {
        WORDS + "GATED = [('track_words', [], 'bad')]\n": "line 7: GATED is a literal list",
        "def (:\n": f"{suite}, line 1: the suite is not Python",
        "import pack\nraise SystemExit(3)\n": "perf/sorting.py, line 2: SystemExit: 3",
        "\nraise ValueError('one\\ntwo' + 9999 * 'x')\n": "line 2: ValueError: one two",
    }.items():
        write(suite, text)
        refused(gate(), words)


# --- what benchmarks print, ask for, leave behind and return ---


@NO_ASV
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
def test_benchmarks_do_not_disturb_the_conversation(words, line: str):
    text = WORDS.replace("return", f"{line}\n    return")
    assert words(text.replace("import pack", "import pack\nos.system('echo')"))[0] == 0


def test_what_is_no_answer_is_an_error(tmp_path: Path, monkeypatch):
    worker = tmp_path / "worker.py"
    worker.write_text("import os\nos.write(1, b'\\xff\\n3\\n')\n")
    monkeypatch.setattr(checkouts, "WORKER", worker)
    with closing(checkouts.Side(tmp_path, tmp_path)) as side:
        assert side.answer() == {"error": "the process said '\ufffd', which is no answer"}
        assert side.answer() == {"error": "the process said '3', which is no answer"}
        assert side.answer() == {"error": "its process ended with exit code 0"}
        side.tell(value="nobody reads this")


@NO_ASV
def test_what_is_no_number_has_failed(words, repository: Path):
    for value in (None, "3", b"3", bytearray(b"3"), [3], 1j, 10**400):
        assert number(value) is None
    write(repository / "pack.py", "WORDS = '3'\n")
    expected = (1, "failed", "now: it returned '3', which is no number")
    code, one = words()
    assert (code, one["verdict"], one["confidence"]) == expected
    commit(repository)
    code, one = words()
    assert (code, one["verdict"], one["confidence"]) == expected


def test_integers_are_not_rounded():
    assert number(2**53 + 1) == number(np.int64(2**53 + 1)) == 2**53 + 1
    assert (number(True), number(np.bool_(True)), number(np.float32(0.5))) == (1, 1.0, 0.5)
