"""The gate: what it decides from given measurements, and what it says when it cannot run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import deque
from importlib.util import find_spec

import pytest

from gammabar.harness.cli import main, maintenance as command
from gammabar.harness.gate import checkouts, compare as comparing
from gammabar.harness.gate.compare import (
    Finding,
    Gated,
    Turn,
    agreed,
    compare,
    count,
    recurring,
    spread,
)
from gammabar.harness.gate.plan import named, plan
from gammabar.problems import ProblemError

TIME = Gated("bench_jst.Iteration.time_step")
PEAK = Gated("bench_jst.Memory.peakmem_run")
TRACK = Gated("bench_jst.Convergence.track_iterations", ("DualAcceleration", 0.9))


class FakePair:
    """Answers what it is told to: values of base and head, or seconds of base and head."""

    def __init__(self, base=1.0, head=1.0, opened=({"kind": ""}, {"kind": ""}), busy=1.0):
        self.values, self.opened, self.busy = (base, head), opened, busy
        self.asked = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def ask(self, **question):
        self.asked.append(question)
        if "open" in question:
            return self.opened
        return tuple(v if isinstance(v, dict) else {"value": v} for v in self.values)

    def turns(self, seconds, head_first):
        base, head = self.values
        # A busy machine slows the reference work of the head's turn down by the same factor.
        return {"time": base, "reference": 1.0}, {"time": head * self.busy, "reference": self.busy}


def rounds(*pairs):
    """Pairs one after the other, and what is left of them."""
    left = deque(pairs)
    return left.popleft, left


class TestCounts:
    @pytest.mark.parametrize(
        ("better", "base", "head", "verdict"),
        [
            ("lower", 100, 100, "same"),
            ("lower", 100, 101, "worse"),
            ("lower", 100, 99, "better"),
            ("higher", 50, 49, "worse"),
            ("higher", 50, 52, "better"),
            ("same", 29, 28, "worse"),
            ("same", 0.25, 0.25 + 1e-9, "worse"),
            ("lower", float("nan"), float("nan"), "same"),
            ("lower", 5.0, float("nan"), "worse"),
        ],
    )
    def test_are_compared_exactly(self, better, base, head, verdict):
        found = count(Gated("m.C.track_x", (), better), FakePair(base, head))
        assert found.verdict == verdict
        assert found.confidence == "exact"

    def test_one_pair_does_them_all(self):
        fresh, left = rounds(FakePair(), FakePair())
        assert [f.verdict for f in compare([TRACK] * 5, fresh)] == ["same"] * 5
        assert len(left) == 1

    def test_a_broken_pair_is_replaced(self):
        broken = FakePair(head={"error": "the process ended"})
        fresh, left = rounds(broken, FakePair())
        verdicts = [f.verdict for f in compare([TRACK] * 3, fresh)]
        assert verdicts == ["failed", "same", "same"]
        assert not left

    def test_an_error_of_the_base_says_so(self):
        found = count(TRACK, FakePair(base={"error": "ValueError: no"}))
        assert (found.verdict, found.confidence) == ("failed", "base: ValueError: no")


class TestOpening:
    def test_what_the_base_cannot_run_is_new(self):
        found = count(TRACK, FakePair(opened=({"skip": "no"}, {"kind": "track"})))
        assert found.verdict == "new"

    def test_what_only_the_base_can_run_is_gone(self):
        found = count(TRACK, FakePair(opened=({"kind": "track"}, {"skip": "not here"})))
        assert found.verdict == "failed"
        assert "gone" in found.confidence

    def test_what_neither_can_run_is_no_regression(self):
        found = recurring(TIME, lambda: FakePair(opened=({"skip": "no"}, {"skip": "no"})))
        assert found.verdict == "new"

    def test_an_error_of_the_head_fails(self):
        found = recurring(TIME, lambda: FakePair(opened=({"kind": "time"}, {"error": "boom"})))
        assert (found.verdict, found.confidence) == ("failed", "boom")


class TestTimes:
    def test_a_slowdown_that_recurs_is_a_regression(self):
        found = recurring(TIME, lambda: FakePair(1.0, 1.3))
        assert found.verdict == "worse"
        assert found.ratio == pytest.approx(1.3)
        assert found.rounds == pytest.approx([1.3] * comparing.ROUNDS)
        assert "worse in 3 of 3 rounds" in found.confidence

    def test_the_same_time_needs_one_round(self):
        fresh, left = rounds(FakePair(1.0, 1.02), FakePair())
        assert recurring(TIME, fresh).verdict == "same"
        assert len(left) == 1

    @pytest.mark.parametrize(
        ("slower", "verdict", "taken"),
        [
            ([1.5, 1.0, 1.0], "same", 3),
            ([1.5, 1.5, 1.0, 1.0], "same", 4),
            ([1.5, 1.0, 1.5, 1.5], "worse", 4),
            ([1.1, 1.3, 1.3, 1.3], "worse", 4),  # a first round in doubt does not acquit
            ([1.1, 1.1], "same", 2),
            ([1.5, 0.7], "same", 2),
            ([1.05], "same", 1),
        ],
    )
    def test_recurrence_is_the_signal(self, slower, verdict, taken):
        fresh, left = rounds(*(FakePair(1.0, s) for s in [*slower, 1.0]))
        found = recurring(TIME, fresh)
        assert found.verdict == verdict
        assert len(found.rounds) == taken
        assert len(left) == len(slower) + 1 - taken

    def test_a_busy_machine_is_no_regression(self):
        assert recurring(TIME, lambda: FakePair(1.0, 1.0, busy=2.0)).verdict == "same"

    def test_a_slowdown_on_a_machine_that_became_idle_is_no_regression_yet(self):
        turns = [Turn(1.0, 1.05, 1.0, 0.5)] * 5
        assert agreed(turns) == 1.05

    def test_faster_code_is_better_if_that_recurs(self):
        assert recurring(TIME, lambda: FakePair(1.3, 1.0)).verdict == "better"
        fresh, _ = rounds(*(FakePair(1.0 if n else 1.5, 1.0) for n in range(9)))
        assert recurring(TIME, fresh).verdict == "same"

    def test_views_that_disagree_show_nothing(self):
        assert agreed([Turn(1.0, 1.2, 1.0, 1.5)] * 5) == 1.0

    def test_some_slow_turns_are_noise(self):
        turns = [Turn(1.0, 1.0, 1.0, 1.0)] * 8 + [Turn(1.0, 9.0, 1.0, 1.0)] * 7
        assert agreed(turns) == 1.0

    def test_the_interval_holds_the_median_and_ignores_the_extremes(self):
        turns = [Turn(1.0, 1.0 + k / 100, 1.0, 1.0) for k in range(15)]
        assert spread(turns) == "1.03 to 1.11"
        assert spread(turns[:1]) == "1.00 to 1.00"

    def test_a_turn_that_fails_fails(self):
        pair = FakePair()
        pair.turns = lambda seconds, head_first: ({"time": 1.0}, {"error": "it died"})
        found = recurring(TIME, lambda: pair)
        assert (found.verdict, found.confidence) == ("failed", "it died")


class TestMemory:
    MIB = 1 << 20

    @pytest.mark.parametrize(
        ("base", "head", "verdict"),
        [
            (200, 201, "same"),
            (200, 230, "worse"),
            (230, 200, "better"),
            (10, 13, "same"),  # a third more, but three megabytes are nothing
            (1000, 1050, "same"),  # fifty megabytes, but a twentieth
        ],
    )
    def test_a_tenth_and_some_megabytes(self, base, head, verdict):
        found = recurring(PEAK, lambda: FakePair(base * self.MIB, head * self.MIB))
        assert found.verdict == verdict

    def test_must_recur(self):
        big, small = (200 * self.MIB, 300 * self.MIB), (200 * self.MIB, 200 * self.MIB)
        fresh, _ = rounds(FakePair(*big), FakePair(*small), FakePair(*small))
        assert recurring(PEAK, fresh).verdict == "same"

    def test_an_error_fails(self):
        assert recurring(PEAK, lambda: FakePair(head={"error": "boom"})).verdict == "failed"


class TestPlan:
    def test_kinds(self):
        everything = plan(checkouts.ROOT / "benchmarks")
        kinds = [g.kind for g in everything]
        assert list(dict.fromkeys(kinds)) == ["track", "peakmem", "time"]
        assert len(set(map(str, everything))) == len(everything) == 65
        counts = plan(checkouts.ROOT / "benchmarks", counts_only=True)
        assert counts == everything[: len(counts)]
        assert {g.kind for g in counts} == {"track"}
        assert sum("Tightness" in g.name for g in counts) == 4  # what the papers name

    def test_a_suite_is_read_and_not_imported(self, tmp_path):
        suite = tmp_path / "bench_mine.py"
        suite.write_text("raise SystemExit\nGATED = [('A.time_x', [[1, 2], ['a']], 'lower')]\n")
        assert [str(g) for g in plan(tmp_path)][-2:] == [
            "bench_mine.A.time_x(1, a)",
            "bench_mine.A.time_x(2, a)",
        ]
        for wrong in ("GATED = [f()]", "GATED = 3", "GATED = [1]", "GATED = [('a',)]"):
            suite.write_text(wrong)
            with pytest.raises(ProblemError, match="GATED is a literal"):
                named(suite)

    @pytest.mark.skipif(find_spec("asv_runner") is None, reason="asv is not installed")
    def test_every_benchmark_exists_with_its_parameters(self):
        # In a process of its own: asv's importer changes the path.
        code = (
            "import json, sys\nfrom itertools import product\n"
            "from asv_runner.discovery import get_benchmark_from_name\n"
            "from pathlib import Path\n"
            "from gammabar.harness.gate.plan import plan\n"
            "for g in plan(Path(sys.argv[1])):\n"
            "    b = get_benchmark_from_name(sys.argv[1], g.name)\n"
            "    assert not g.parameters or g.parameters in set(product(*b._params)), str(g)\n"
            "    assert b.version == '1', str(g)\n"
        )
        found = subprocess.run(
            [sys.executable, "-c", code, str(checkouts.ROOT / "benchmarks")],
            capture_output=True,
            text=True,
            cwd=checkouts.ROOT,
            check=False,
        )
        assert found.returncode == 0, found.stderr


class TestSides:
    @pytest.fixture
    def repository(self, tmp_path):
        """A small clone with a benchmark whose number is the project's."""
        (tmp_path / "benchmarks").mkdir()
        (tmp_path / "benchmarks" / "__init__.py").touch()
        (tmp_path / "benchmarks" / "bench_x.py").write_text(
            "def track_x():\n    import thing\n    return thing.NUMBER\n\n\n"
            "def time_x():\n    sum(range(1000))\n\n\n"
            "def peakmem_x():\n    bytearray(1 << 20)\n\n\n"
            "def track_dies():\n    import os\n    os._exit(3)\n"
        )
        (tmp_path / "thing.py").write_text("NUMBER = 1\n")
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
            subprocess.run(
                ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words],
                cwd=tmp_path,
                check=True,
            )
        (tmp_path / "thing.py").write_text("NUMBER = 2\n")
        return tmp_path

    def test_base_is_read_from_its_file(self, repository):
        head = checkouts.base_commit(repository, "HEAD")
        (repository / "benchmarks" / "BASE").write_text(f"# a comment\n\n{head}\n")
        assert checkouts.base_commit(repository, None) == head

    def test_no_base(self, repository):
        with pytest.raises(ProblemError, match="names no commit"):
            checkouts.base_commit(repository, None)

    def test_unknown_base(self, repository):
        with pytest.raises(ProblemError, match="'nonsense' is no commit"):
            checkouts.base_commit(repository, "nonsense")

    def test_no_clone(self, tmp_path):
        with pytest.raises(ProblemError, match="in a clone of the repository"):
            checkouts.base_commit(tmp_path, "HEAD")

    def test_the_files_of_a_commit_are_not_those_of_the_working_tree(self, repository):
        tree = checkouts.checkout(repository, checkouts.base_commit(repository, "HEAD"))
        assert (tree / "thing.py").read_text() == "NUMBER = 1\n"
        assert checkouts.checkout(repository, tree.name) == tree
        assert [p.name for p in tree.parent.iterdir()] == [tree.name]

    def test_locks(self, repository):
        other = repository / "other"
        other.mkdir()
        (repository / "requirements.lock").write_text("a==1\n")
        assert not checkouts.same_lock(repository, other)
        (other / "requirements.lock").write_text("a==1\n")
        assert checkouts.same_lock(repository, other)

    @pytest.mark.skipif(find_spec("asv_runner") is None, reason="asv is not installed")
    def test_each_side_runs_its_own_tree(self, repository):
        tree = checkouts.checkout(repository, checkouts.base_commit(repository, "HEAD"))

        def fresh():
            return checkouts.Pair(tree, repository, repository / "benchmarks")

        plan = [
            Gated("bench_x.track_dies"),
            Gated("bench_x.track_x"),
            Gated("bench_x.peakmem_x"),
            Gated("bench_x.track_none"),
        ]
        died, number, missing, memory = compare(plan, fresh)
        assert died.verdict == "failed"
        assert "exit code 3" in died.confidence
        assert (number.verdict, number.base, number.head) == ("worse", 1.0, 2.0)
        assert memory.verdict == "same"
        assert memory.base > 1 << 20
        assert missing.verdict == "failed"
        with fresh() as pair:
            pair.ask(open="bench_x.time_x", parameters=())
            for answer in pair.turns(0.001, head_first=True):
                assert answer["time"] > 0
                assert answer["reference"] > 0


class TestCommand:
    @pytest.fixture
    def gammabar(self, capsys, monkeypatch, tmp_path):
        """Run ``gammabar gate`` with findings that are given; (exit code, stdout, stderr)."""

        def run(*arguments, findings=()):
            monkeypatch.setattr(checkouts, "base_commit", lambda root, named: "0" * 40)
            monkeypatch.setattr(checkouts, "checkout", lambda root, commit: tmp_path)
            monkeypatch.setattr(comparing, "compare", lambda plan, pairs: iter(findings))
            monkeypatch.setattr(command, "find_spec", lambda name: name)
            return leave(capsys, "gate", *arguments)

        return run

    def test_no_regression(self, gammabar):
        findings = [Finding("a", "time", "same", 1e-3, 1e-3, 1.0, "sure"), Finding("b", "track")]
        code, out, err = gammabar(findings=findings)
        assert code == 0
        assert "no regressions in 2 benchmarks (2 same)" in out
        assert "1.000 ms" in out
        assert "comparing with 0000000000" in err

    @pytest.mark.parametrize("verdict", ["worse", "failed"])
    def test_a_regression_is_exit_code_1(self, gammabar, verdict):
        findings = [Finding("a", "track"), Finding("slow", "track", verdict, 5.0, 6.0, 1.2)]
        code, out, _ = gammabar(findings=findings)
        assert code == 1
        assert "1 regression in 2 benchmarks" in out
        assert "slow" in out

    def test_json(self, gammabar):
        findings = [Finding("m", "peakmem", "worse", 1.0, 2.0, 2.0, "in 3 rounds", [2.0] * 3)]
        code, out, _ = gammabar("--json", findings=findings)
        assert code == 1
        answer = json.loads(out)
        assert answer["base"] == "0" * 40
        assert answer["regressions"] == 1
        assert answer["results"] == [
            {
                "name": "m",
                "kind": "peakmem",
                "verdict": "worse",
                "base": 1.0,
                "head": 2.0,
                "ratio": 2.0,
                "confidence": "in 3 rounds",
                "rounds": [2.0, 2.0, 2.0],
            }
        ]

    def test_nothing_compared_is_an_error(self, gammabar):
        code, _, err = gammabar(findings=[Finding("a", "time", "new")])
        assert code == 2
        assert "nothing was compared" in err

    def test_no_such_benchmark(self, gammabar):
        code, _, err = gammabar("--bench", "nonsense")
        assert code == 2
        assert "'nonsense'" in err

    def test_without_asv(self, capsys, monkeypatch):
        monkeypatch.setattr(checkouts, "base_commit", lambda root, named: "0" * 40)
        monkeypatch.setattr(command, "find_spec", lambda name: None)
        code, out, err = leave(capsys, "gate")
        assert (code, out) == (2, "")
        assert err.count("\n") == 1
        assert "needs asv" in err

    def test_outside_a_clone(self, capsys, monkeypatch, tmp_path):
        monkeypatch.setattr(checkouts, "ROOT", tmp_path)
        code, out, err = leave(capsys, "gate")
        assert (code, out) == (2, "")
        assert err.startswith("gammabar: the gate runs in a clone")

    def test_help(self, capsys):
        code, out, _ = leave(capsys, "gate", "--help")
        assert code == 0
        assert out.startswith("Usage: gammabar gate")

    def test_unknown_base(self, capsys):
        code, _, err = leave(capsys, "gate", "no-such-commit")
        assert code == 2
        assert "'no-such-commit' is no commit of this repository" in err


def leave(capsys, *arguments):
    """Run a command in this process."""
    with pytest.raises(SystemExit) as left:
        main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return left.value.code, out, err
