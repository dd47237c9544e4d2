"""The gate on a repository of somebody else.

Its benchmarks bring a clock that counts work, so that the whole way is walked (git, two processes,
asv's runner, rounds) and no verdict depends on the machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest

from gammabar.harness.cli import main
from gammabar.harness.gate.checkouts import Side
from gammabar.harness.gate.plan import foreign

pytestmark = pytest.mark.skipif(find_spec("asv_runner") is None, reason="asv is not installed")

CLOCK = """
import __main__


class Clock:
    now = 0.0


def tick():
    Clock.now += 1e-3
    return Clock.now


__main__.perf_counter = tick  # the worker's, which runs this
"""
SUITE = """
from .clock import Clock


class Sorting:
    params = [[10, 30], ["up"]]
    param_names = ["n", "order"]

    def setup(self, n, order):
        import sorter
        self.work = sorter.comparisons(n)

    def time_sort(self, n, order):
        Clock.now += self.work

    def track_comparisons(self, n, order):
        return self.work


def timeraw_import():
    return "import sorter"


def peakmem_sort():
    bytearray(1 << 20)
"""
SORTER = "def comparisons(n):\n    return {}\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Somebody's repository: a package in src/, an asv suite, one commit."""
    root = tmp_path / "theirs"
    for name, text in {
        "asv.conf.json": '{\n    // where they are\n    "benchmark_dir": "perf",\n}\n',
        "src/sorter.py": SORTER.format("n"),
        "perf/__init__.py": "",
        "perf/clock.py": CLOCK,
        "perf/sorting.py": SUITE,
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    return root


def git(root: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    done = subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)
    return done.stdout.decode()


@pytest.fixture
def gate(capsys: pytest.CaptureFixture[str], repository: Path):
    """Run the gate on it: (exit code, document, what was complained about)."""

    def run(*more: str):
        with pytest.raises(SystemExit) as left:
            main(["gate", "HEAD", "--repo", str(repository), "--json", *more])
        out, err = capsys.readouterr()
        return left.value.code, json.loads(out) if out else None, err

    return run


def test_every_benchmark_of_asv_is_found_with_its_parameters(repository: Path):
    with closing(Side(repository, repository / "perf")) as side:
        found = foreign(repository / "perf", side)
    assert [str(gated) for gated in found] == [
        "sorting.Sorting.track_comparisons(10, up)",
        "sorting.Sorting.track_comparisons(30, up)",
        "sorting.peakmem_sort",
        "sorting.Sorting.time_sort(10, up)",
        "sorting.Sorting.time_sort(30, up)",
    ]


def test_it_is_quiet_where_nothing_changed(gate, repository: Path):
    code, found, _ = gate("--bench", "(30")
    assert (code, found["regressions"]) == (0, 0)
    assert [one["verdict"] for one in found["results"]] == ["same", "same"]
    left = git(repository, "status", "--porcelain", "-uall").splitlines()
    assert [line for line in left if "__pycache__" not in line] == []
    assert not (repository / ".asv").exists()


def test_a_seeded_slowdown_closes_it(gate, repository: Path):
    (repository / "src" / "sorter.py").write_text(SORTER.format("n if n < 20 else 1.3 * n"))
    code, found, _ = gate("--bench", "time_sort")
    assert code == 1
    verdicts = {one["name"].partition("(")[2]: one for one in found["results"]}
    assert verdicts["10, up)"]["verdict"] == "same"
    slow = verdicts["30, up)"]
    assert slow["verdict"] == "worse"
    assert slow["ratio"] == pytest.approx(1.3, abs=1e-3)
    assert len(slow["rounds"]) == 3


@pytest.mark.slow
def test_what_is_faster_does_not(gate, repository: Path):
    (repository / "src" / "sorter.py").write_text(SORTER.format("n / 2"))
    code, found, _ = gate("--bench", "(30, up)")
    assert code == 0
    assert {one["verdict"] for one in found["results"]} == {"better"}


def test_the_suites_may_name_what_counts(gate, repository: Path):
    suite = repository / "perf" / "sorting.py"
    suite.write_text(SUITE + 'GATED = [("Sorting.track_comparisons", [[10], ["up"]], "same")]\n')
    (repository / "src" / "sorter.py").write_text(SORTER.format("n - 1"))
    code, found, _ = gate()
    assert code == 1
    [one] = found["results"]
    assert (one["verdict"], one["base"], one["head"]) == ("worse", 10.0, 9.0)


def test_what_has_to_be_built_is_built_on_both_sides(gate, repository: Path):
    (repository / "make.py").write_text(
        "from pathlib import Path\n"
        "Path('src/sorter.py').write_text(Path('src/sorter.py.in').read_text())\n"
    )
    git(repository, "mv", "src/sorter.py", "src/sorter.py.in")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "two")
    code, found, _ = gate("--counts-only")
    assert code == 1
    assert "No module named 'sorter'" in found["results"][0]["confidence"]
    code, found, _ = gate("--counts-only", "--build", "python3 make.py")
    assert code == 0
    assert len(found["results"]) == 2
    code, _, err = gate("--build", "python3 nothing.py")
    assert code == 2
    assert "--build" in err


def test_bad_requests(gate, repository: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    assert "'nonsense'" in gate("--bench", "nonsense")[2]
    assert "no such folder of benchmarks" in gate("--benchmarks", str(repository / "none"))[2]
    (repository / "perf" / "sorting.py").write_text("import nothing_of_this_name\n")
    code, _, err = gate()
    assert code == 2
    assert "nothing_of_this_name" in err
    for arguments in (["--repo", str(tmp_path)], ["--benchmarks", "x"]):
        with pytest.raises(SystemExit) as left:
            main(["gate", "HEAD", *arguments])
        assert left.value.code == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_a_package_that_the_base_lacks_is_not_taken_from_the_other_tree(tmp_path: Path):
    """As with an editable installation: the working tree is on the path of both sides."""
    import gammabar.harness.gate.checkouts
    from gammabar.harness.gate.checkouts import HIDDEN

    head, base = tmp_path / "head", tmp_path / "base"
    (head / "only_here").mkdir(parents=True)
    (head / "only_here" / "__init__.py").write_text("")
    base.mkdir()
    worker = Path(gammabar.harness.gate.checkouts.__file__).with_name("worker.py")
    code = (
        f"import sys; sys.path.append({str(head)!r}); import runpy\n"
        f"worker = runpy.run_path({str(worker)!r}); worker['_hide_the_other_tree']()\n"
        "import only_here"
    )
    found = {
        hidden: subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {HIDDEN: hidden},
            capture_output=True,
            cwd=base,
        ).returncode
        for hidden in ("", str(head))
    }
    assert found == {"": 0, str(head): 1}
