"""What the gate decides from given measurements, and how it says so."""

from __future__ import annotations

import json
import re
from itertools import chain, repeat
from math import inf, nan

import pytest

from gammabar.harness.cli import main, maintenance as command
from gammabar.harness.gate import checkouts, compare as comparing
from gammabar.harness.gate.compare import (
    Finding,
    Gated,
    _agreed as agreed,
    _Turn as Turn,
    compare,
)

TIME, PEAK, TRACK = Gated("m.time_x"), Gated("m.peakmem_x"), Gated("m.track_x")
MIB = 1 << 20
RUNS = {"kind": ""}


class FakePair:
    """Answers what it is told to: values of base and head, or seconds of base and head."""

    def __init__(self, base=1.0, head=1.0, opened=(RUNS, RUNS), busy=1.0, cold=1.0):
        self.values, self.opened, self.busy, self.cold = (base, head), opened, busy, cold

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def ask(self, **question):
        if "open" in question:
            return self.opened
        return tuple(v if isinstance(v, dict) else {"value": v} for v in self.values)

    def turns(self, seconds, head_first):
        base, head = self.values
        if isinstance(head, dict):
            return {"time": base}, head
        head, self.cold = head * self.busy * self.cold, 1.0  # slower in the first turn
        # A busy machine slows the reference work of the head's turn down by the same factor.
        return {"time": base, "reference": 1.0}, {"time": head, "reference": self.busy}


def finding(gated: Gated, *pairs: FakePair) -> Finding:
    """What is found about one benchmark; the last pair is asked again and again."""
    given = chain(pairs, repeat(pairs[-1]))
    (found,) = compare([gated], given.__next__)
    return found


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
        ("same", 2**53 + 1, 2**53, "worse"),
        ("lower", nan, nan, "same"),
        ("lower", 5.0, nan, "worse"),
        ("lower", nan, 5.0, "worse"),
    ],
)
def test_counts_are_compared_exactly(better, base, head, verdict):
    found = finding(Gated("m.C.track_x", (), better), FakePair(base, head))
    assert (found.verdict, found.confidence) == (verdict, "exact")


def test_one_pair_does_all_counts_until_it_breaks():
    broken = FakePair(head={"error": "the process ended"})
    pairs = iter([broken, FakePair(), FakePair()])
    found = compare([TIME, *[TRACK] * 4], pairs.__next__)
    verdicts = [(f.kind, f.verdict) for f in found]
    assert verdicts == [("track", "failed"), *[("track", "same")] * 3, ("time", "same")]
    assert not list(pairs)


@pytest.mark.parametrize("gated", [TIME, TRACK])
@pytest.mark.parametrize(
    ("base", "head", "verdict", "said"),
    [
        ({"skip": "no"}, RUNS, "new", "the base cannot run it"),
        (RUNS, {"skip": "not here"}, "failed", "it is gone: not here"),
        ({"skip": "no"}, {"skip": "no"}, "new", "the base cannot run it"),
        (RUNS, {"error": "boom"}, "failed", "boom"),
    ],
)
def test_benchmarks_that_one_side_cannot_open(gated, base, head, verdict, said):
    found = finding(gated, FakePair(opened=(base, head)))
    assert (found.verdict, found.confidence) == (verdict, said)


@pytest.mark.parametrize(
    ("gated", "base", "head", "said"),
    [
        (TRACK, {"error": "ValueError: no"}, 1, "base: ValueError: no"),
        (PEAK, 1, {"error": "boom"}, "now: boom"),
        (TIME, 1, {"error": "it died"}, "it died"),
    ],
)
def test_benchmarks_that_fail(gated, base, head, said):
    found = finding(gated, FakePair(base, head))
    assert (found.verdict, found.confidence) == ("failed", said)


@pytest.mark.parametrize(
    ("slower", "verdict"),
    [
        ([1.3, 1.3, 1.3], "worse"),
        ([1.5, 1.0, 1.0], "same"),
        ([1.5, 1.5, 1.0, 1.0], "same"),
        ([1.5, 1.0, 1.5, 1.5], "worse"),
        ([1.1, 1.3, 1.3, 1.3], "worse"),  # a first round in doubt does not acquit
        ([1.1, 1.1], "same"),
        ([1.5, 0.7], "same"),
        ([1.06], "same"),
        ([0.94], "same"),
        ([0.8, 0.8, 0.8], "better"),
        ([0.6, 1.0, 1.0], "same"),
    ],
)
def test_a_change_of_time_must_recur(slower, verdict):
    pairs = iter([FakePair(1.0, s) for s in [*slower, 1.0]])
    (found,) = compare([TIME], pairs.__next__)
    assert (found.verdict, found.rounds) == (verdict, pytest.approx(slower))
    assert len(list(pairs)) == 1
    if verdict == "worse":
        assert "worse in 3 of " in found.confidence


def test_the_first_turn_of_a_round_is_not_measured():
    found = finding(TIME, FakePair(1.0, 1.0, cold=9.0))
    assert (found.verdict, found.ratio, found.rounds) == ("same", 1.0, [1.0])
    found = finding(TIME, *(FakePair(1.0, 1.5, cold=1 / 1.5) for _ in range(3)))
    assert (found.verdict, found.ratio, found.head) == ("worse", 1.5, 1.5)


@pytest.mark.parametrize(
    ("turns", "factor"),
    [
        ([Turn(1.0, 2.0, 1.0, 2.0)] * 5, 1.0),  # a busy machine
        ([Turn(1.0, 1.05, 1.0, 0.5)] * 5, 1.05),  # a machine that became idle
        ([Turn(1.0, 1.2, 1.0, 1.5)] * 5, 1.0),  # views that disagree
        ([Turn(1.0, 1.0, 1.0, 1.0)] * 8 + [Turn(1.0, 9.0, 1.0, 1.0)] * 7, 1.0),  # slow turns
        ([Turn(1.0, 1.3, 1.0, 1.0)] * 5, 1.3),
        ([Turn(1.0, 0.5, 1.0, 0.8)] * 5, 0.625),
    ],
)
def test_a_change_counts_as_far_as_all_views_of_a_round_agree(turns, factor):
    assert agreed(turns) == pytest.approx(factor)


def test_the_interval_holds_the_median_and_ignores_the_extremes():
    turns = [Turn(1.0, 1.0 + k / 100, 1.0, 1.0) for k in range(15)]
    assert comparing._spread(turns) == "1.03 to 1.11"
    assert comparing._spread(turns[:1]) == "1.00 to 1.00"


@pytest.mark.parametrize(
    ("base", "head", "verdict"),
    [
        (200, 201, "same"),
        (200, 230, "worse"),
        (230, 200, "better"),
        (10, 13, "same"),  # a third more, but three megabytes are nothing
        (10, 14, "worse"),
        (1000, 1050, "same"),  # fifty megabytes, but a twentieth
        (0, 0, "same"),
        (0, 1, "same"),
        (0, 1 << 10, "worse"),
        (1 << 10, 0, "better"),
    ],
)
def test_memory_grows_by_a_tenth_and_some_megabytes(base, head, verdict):
    assert finding(PEAK, FakePair(base * MIB, head * MIB)).verdict == verdict


def test_memory_must_recur():
    pairs = (FakePair(200 * MIB, head * MIB) for head in (300, 200, 200))
    assert finding(PEAK, *pairs).verdict == "same"


# the command, with findings that are given


@pytest.fixture
def gate(capsys, monkeypatch, tmp_path):
    def run(*arguments, findings=(), asv=True):
        monkeypatch.setattr(checkouts, "base_commit", lambda root, named, suites: "0" * 40)
        monkeypatch.setattr(checkouts, "checkout", lambda root, commit: tmp_path)
        monkeypatch.setattr(comparing, "compare", lambda plan, pairs: iter(findings))
        monkeypatch.setattr(command, "find_spec", lambda name: name if asv else None)
        with pytest.raises(SystemExit) as left:
            main(["gate", *arguments])
        return left.value.code, *capsys.readouterr()

    return run


@pytest.mark.parametrize(
    ("verdict", "code", "said"),
    [
        ("same", 0, "0 regressions in 2 benchmarks (2 same)"),
        ("worse", 1, "1 regression in 2 benchmarks"),
        ("failed", 1, "1 regression in 2 benchmarks"),
    ],
)
def test_exit_codes(gate, verdict, code, said):
    findings = [Finding("a", "track"), Finding("slow", "time", verdict, 1e-3, 2e-3, 2.0, "sure")]
    left, out, err = gate(findings=findings)
    assert left == code
    for word in (said, "slow", "1.000 ms"):
        assert word in out
    assert "comparing with 0000000000" in err


def test_a_count_that_changed_is_printed_with_the_digits_that_differ(gate):
    changed = Finding("steps", "track", "worse", 332834000.0, 332834001.0, 332834001 / 332834000)
    _, out, _ = gate(findings=[changed])
    assert re.search(r"steps +worse +332834000 +332834001 +1\.000000003", out), out


def test_json(gate):
    one = Finding("m", "peakmem", "worse", 1.0, inf, 2.0, "in 3 rounds", [2.0] * 3)
    code, out, _ = gate("--json", findings=[one])
    found = json.loads(out)
    assert (code, found["base"], found["regressions"]) == (1, "0" * 40, 1)
    assert found["results"] == [vars(one) | {"head": None}]


@pytest.mark.parametrize(
    ("options", "asv", "said"),
    [
        ((), True, "nothing was compared"),
        (("--bench", "nonsense"), True, "'nonsense'"),
        ((), False, "needs asv"),
    ],
)
def test_what_cannot_be_compared(gate, options, asv, said):
    code, _, err = gate(*options, findings=[Finding("a", "time", "new")], asv=asv)
    assert code == 2
    assert said in err
