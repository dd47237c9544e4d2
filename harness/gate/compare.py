"""What the gate runs, and deciding from measurements whether something got worse.

A suite ``benchmarks/bench_*.py`` says what of it the gate runs in a literal ``GATED``: name of the
benchmark, a list of values for each of its parameters (all combinations are run), and, where a
number may not fall, or not change at all, "higher" or "same". A paper names statements whose
tightness must not change (`gammabar.harness.registry.Paper`). So a new suite or paper is gated
without a line elsewhere.
"""

from __future__ import annotations

import ast
import json
import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from gammabar.harness.gate.checkouts import ROOT, Pair, Side
from gammabar.harness.registry import papers
from gammabar.problems import ProblemError

#: A change of speed below this factor is not distinguished from noise.
SLOWER = 1.15
#: Peak memory may grow by this factor, and must grow by this many bytes to count.
MEMORY, BYTES = 1.10, 4 << 20
#: A change counts if so many rounds of fresh processes show it, before as many others do not.
ROUNDS, DOUBTS = 3, 2
#: A first round without a change by this factor ends the matter.
CLEAR = 1.07
#: Turns of each side in a round, and seconds of a turn.
TURNS, TURN = 21, 0.03

#: Which change of a number is no regression.
BETTER = ("lower", "higher", "same")

Pairs = Callable[[], Pair]


@dataclass(frozen=True)
class Gated:
    """A benchmark that the gate runs."""

    name: str  #: asv's name: "bench_jst.Iteration.time_step"
    parameters: tuple[Any, ...] = ()
    #: For numbers that do not depend on the clock: which change is no regression.
    better: str = "lower"
    #: The place of the parameters among their combinations, if they are texts only.
    number: int | None = None

    @property
    def kind(self) -> str:
        """ "time", "mem", "peakmem" or "track"."""
        return self.name.rpartition(".")[2].partition("_")[0].lower()

    def __str__(self) -> str:
        shown = ", ".join(str(value).strip("()") for value in self.parameters)
        return f"{self.name}({shown})" if shown else self.name


@dataclass
class Finding:
    """What the gate found about one benchmark."""

    name: str
    kind: str
    verdict: str = "same"  #: same, better, worse, new or failed; worse and failed close the gate
    base: float | None = None  #: seconds, bytes, or a count
    head: float | None = None
    ratio: float | None = None  #: head over base; for times the median over neighbouring turns
    confidence: str = ""
    rounds: list[float] = field(default_factory=list)  #: the ratio in each round


class _Turn(NamedTuple):
    """Seconds per call of both sides in neighbouring turns, and of the reference work in each."""

    base: float
    head: float
    base_reference: float
    head_reference: float

    @property
    def ratio(self) -> float:
        """Head over base, by the clock."""
        return self.head / self.base

    @property
    def beside(self) -> float:
        """Head over base, each in units of the reference work beside it."""
        return self.ratio * self.base_reference / self.head_reference


class _Incomparable(Exception):
    """A benchmark that cannot be compared: the verdict, and why."""


def compare(plan: Sequence[Gated], pairs: Pairs) -> Iterator[Finding]:
    """Run every benchmark on both sides, each as often as it takes to be sure.

    `pairs` starts a fresh pair of processes.
    """
    counts = [gated for gated in plan if gated.kind == "track"]
    while counts:  # one pair does them all, unless it breaks
        with pairs() as pair:
            while counts:
                finding = _found(_count, counts.pop(0), pair)
                yield finding
                if finding.verdict == "failed":
                    break
    for gated in plan:
        if gated.kind != "track":
            yield _found(_recurring, gated, pairs)


def _found(compared: Callable[..., None], gated: Gated, given: Any) -> Finding:
    finding = Finding(str(gated), gated.kind)
    try:
        compared(gated, given, finding)
    except _Incomparable as reason:
        finding.verdict, finding.confidence = reason.args
    return finding


def _count(gated: Gated, pair: Pair, finding: Finding) -> None:
    """Compare numbers that do not depend on the clock."""
    _open(gated, pair)
    base, head = _values(pair, finding)
    finding.confidence = "exact"
    if head == base or (math.isnan(head) and math.isnan(base)):
        return
    improved = head < base if gated.better == "lower" else head > base
    finding.verdict = "better" if improved and gated.better != "same" else "worse"


def _recurring(gated: Gated, pairs: Pairs, finding: Finding) -> None:
    """Compare times or peak memory; a change counts if it recurs."""
    examine, limit = (_time, SLOWER) if gated.kind == "time" else (_memory, MEMORY)
    turns: list[_Turn] = []
    worse = better = doubts = 0
    while max(worse, better) < ROUNDS and doubts < DOUBTS and not (worse and better):
        with pairs() as pair:
            _open(gated, pair)
            change = examine(pair, finding, turns)
        worse, better = worse + (change > limit), better + (change < 1 / limit)
        doubts += 1 / limit <= change <= limit
        if worse == better == 0 and 1 / CLEAR < change < CLEAR:
            break
    finding.verdict = "worse" if worse == ROUNDS else "better" if better == ROUNDS else "same"
    interval = f"{_spread(turns)} (95 %), " if turns else ""
    number, most = len(finding.rounds), max(worse, better)
    word = "better" if better > worse else "worse"
    finding.confidence = interval + (
        f"{word} in {most} of {number} rounds" if number > 1 else "1 round"
    )


def _open(gated: Gated, pair: Pair) -> None:
    """Set a benchmark up on both sides."""
    place = {} if gated.number is None else {"number": gated.number}
    base, head = pair.ask(open=gated.name, parameters=gated.parameters, **place)
    if "error" in head or ("skip" in head and "kind" in base):
        raise _Incomparable("failed", head.get("error") or "it is gone: " + head["skip"])
    if "kind" not in base or "kind" not in head:
        raise _Incomparable("new", "the base cannot run it")


def _values(pair: Pair, finding: Finding) -> tuple[float, float]:
    """Run a benchmark that yields a number, on both sides."""
    base, head = pair.ask(value=True)
    for side, answer in (("now", head), ("base", base)):
        if "error" in answer:
            raise _Incomparable("failed", f"{side}: {answer['error']}")
    finding.base, finding.head = base["value"], head["value"]
    finding.ratio = finding.head / finding.base if finding.base else None
    return finding.base, finding.head


def _memory(pair: Pair, finding: Finding, turns: list[_Turn]) -> float:
    """One round of a peakmem benchmark: by which factor memory grew, 1 if by next to nothing."""
    base, head = _values(pair, finding)
    # What took nothing before grows beyond every factor.
    grown = head / base if base else 1.0 if head == base else math.inf
    finding.rounds.append(grown)
    return grown if abs(head - base) >= BYTES else 1.0


def _time(pair: Pair, finding: Finding, turns: list[_Turn]) -> float:
    """One round of a time benchmark, which adds its turns to those of earlier rounds."""
    now = []
    for number in range(TURNS + 1):
        base, head = pair.turns(TURN, head_first=number % 2 == 0)
        if trouble := head.get("error") or base.get("error"):
            raise _Incomparable("failed", str(trouble))
        if number:  # the first turn warms both up
            now.append(_Turn(base["time"], head["time"], base["reference"], head["reference"]))
    turns += now
    finding.base, finding.head = min(t.base for t in turns), min(t.head for t in turns)
    finding.ratio = median(t.ratio for t in turns)
    finding.rounds.append(median(t.ratio for t in now))
    return _agreed(now)


def _agreed(turns: Sequence[_Turn]) -> float:
    """By which factor the head is slower, as far as three views of a round agree; 1 if they do not.

    They are the typical turn, the typical turn beside the reference work, and the best turn.
    """
    ratios = (
        median(t.ratio for t in turns),
        median(t.beside for t in turns),
        min(t.head for t in turns) / min(t.base for t in turns),
    )
    return min(ratios) if min(ratios) > 1 else min(1.0, max(ratios))


def _spread(turns: Sequence[_Turn]) -> str:
    """A 95 % interval of the median ratio, from the ranks of the turns."""
    from scipy.stats import binom

    ratios = sorted(t.ratio for t in turns)
    n = len(ratios)
    # The median lies outside (k-th smallest, k-th largest) with probability 2 P(Bin(n, ½) < k).
    k = max(1, round(binom.ppf(0.025, n, 0.5)))
    return f"{ratios[k - 1]:.2f} to {ratios[n - k]:.2f}"


#: Deterministic numbers first, then memory, then times: what fails soon, fails first.
_ORDER = ("track", "mem", "peakmem", "time")
#: Its parameter is the id of a statement.
_TIGHTNESS = "bench_papers.Tightness.track_worst"


def plan(root: Path, suites: Path, counts_only: bool = False) -> list[Gated]:
    """The benchmarks that suites name in ``GATED``, or else all; `counts_only`: without a clock."""
    paths = sorted(path for path in suites.rglob("*.py") if path.is_file())
    found = [gated for path in paths for gated in _named(path, suites)] or _surveyed(root, suites)
    if root == ROOT:
        gated = (statement for paper in papers().values() for statement in paper.gated)
        found += [Gated(_TIGHTNESS, (statement,), "same") for statement in gated]
    found.sort(key=lambda gated: _ORDER.index(gated.kind))
    return [gated for gated in found if not counts_only or gated.kind == "track"]


def _surveyed(root: Path, suites: Path) -> list[Gated]:
    """Every benchmark that asv finds, for every combination of its parameters."""
    with closing(Side(root, suites)) as side:
        side.tell(list=True)
        answer = side.answer()
    if "error" in answer:
        raise ProblemError(f"the benchmarks cannot be read: {answer['error']}")
    count: Counter[str] = Counter()
    found = []
    for name, _, parameters in answer["benchmarks"]:
        gated = Gated(name, tuple(parameters), number=count[name])
        count[name] += 1
        if gated.kind in _ORDER:  # asv has more kinds: timeraw_ starts an interpreter each time
            found.append(gated)
    return found


def _named(path: Path, suites: Path) -> list[Gated]:
    """What a suite wants to have gated; the suite is read, not imported."""
    inside = path.relative_to(suites).with_suffix("")
    value = _assigned(path)
    if value is None:
        return []
    if not isinstance(value, ast.List | ast.Tuple):
        raise _wrong(path, value.lineno)
    return [gated for node in value.elts for gated in _entry(path, node, ".".join(inside.parts))]


def _assigned(path: Path) -> ast.expr | None:
    """What stands for ``GATED`` in a suite; None if it has none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in texts of others
            body = ast.parse(path.read_bytes(), str(path)).body  # bytes: it may say its encoding
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f", line {line}" if (line := getattr(error, "lineno", None)) else ""
        why = getattr(error, "msg", None) or str(error) or "it is nested too deeply"
        raise ProblemError(f"{path}{where}: the suite is not Python: {why}") from None
    for node in body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id="GATED"), *_])
                | ast.AnnAssign(target=ast.Name(id="GATED"))
            ):
                return node.value
    return None


def _entry(path: Path, node: ast.expr, module: str) -> list[Gated]:
    """One entry of ``GATED``, for every combination of its parameters."""
    try:
        name, values, *better = _row(ast.literal_eval(node))
        json.dumps(values)  # the processes that run it are told in JSON
        found = [Gated(f"{module}.{name}", v, *better) for v in product(*map(_row, _row(values)))]
    except (ValueError, TypeError, RecursionError, MemoryError):
        raise _wrong(path, node.lineno) from None
    if not isinstance(name, str) or not found or any(one not in BETTER for one in better):
        raise _wrong(path, node.lineno)
    if found[0].kind not in _ORDER:
        raise _wrong(path, node.lineno, f": the kind of {name!r:.60} is unknown")
    return found


def _row(value: Any) -> list[Any] | tuple[Any, ...]:
    """A list or a tuple: texts and dictionaries can be walked through as well."""
    if not isinstance(value, list | tuple):
        raise TypeError
    return value


def _wrong(path: Path, line: int, more: str = "") -> ProblemError:
    begins = ", ".join(f"{kind}_" for kind in _ORDER)
    return ProblemError(
        f"{path}, line {line}: GATED is a literal list of (name, [values, …]) or (name, [values,"
        f" …], direction): a name begins with {begins}, values are lists of texts, numbers or"
        f" lists of them, a direction is one of {', '.join(BETTER)}{more}"
    )
