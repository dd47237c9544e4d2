"""The exact margin of every pair of classes: the work, its table and its picture.

A folder has, for each pair, the certificate (``mnist-0-1.json``) and what is shown of it
(``mnist-0-1.result.json``), both written whole or not at all. What is there is not computed again,
unless the files that the data came from have changed; so a run that was killed goes on.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import combinations
from math import log10
from pathlib import Path
from time import perf_counter, process_time
from typing import Any
from urllib.parse import quote

from gammabar.harness.report.tables import plain
from gammabar.harness.reproduce import FORMATS, picture
from gammabar.harness.run.pool import Pool
from gammabar.harness.screen import bar, print_json, print_table, say
from gammabar.problems import ProblemError
from gammabar.problems.datasets import DATASETS
from gammabar.problems.environment import extra_module
from gammabar.problems.from_files import named_file
from gammabar.problems.output import write_whole

#: Most classes of a data set: so many have 4,950 pairs.
MANY = 100
#: Bytes that are kept of a name that goes into one of a file; systems have room for 255.
LONG = 120


def all_margins(
    data: tuple[str, ...],
    *,
    certificates: Path,
    jobs: int | None,
    check: bool,
    time_limit: float | None,
    picture: Path | None,
    page: Path | None,
    as_json: bool,
) -> int:
    """Print the margin of every pair of classes, or the proof that there is none; the exit code.

    A run that is killed goes on where it was. The exit code is 1 if a certificate is rejected.
    """
    if picture is not None:
        _check_picture(picture)
    pairs = _all_pairs(data)
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    with bar(len(pairs), "pairs", quiet=as_json) as tell:
        results = run(pairs, certificates, jobs or cores, check, time_limit, tell)
    if picture is not None:
        _draw(results, picture)
    if page is not None:
        text = _page(results, picture, f"{jobs or cores} processes")
        write_whole(page, text)
    facts = _summary(results)
    if as_json:
        shown = [{k: v for k, v in result.items() if k != "files"} for result in results]
        print_json({"data": list(data), "summary": facts, "pairs": shown}, "margins")
    else:
        _print_pairs(results)
        say(_sentence(facts, certificates))
    return 1 if facts["rejected"] else 0


@dataclass(frozen=True)
class _Pair:
    """Two classes of some data."""

    data: str
    classes: tuple[str, str]
    names: tuple[str, str]

    @property
    def spec(self) -> str:
        """The DATA string of the pair."""
        return f"{self.data}:{self.classes[0]},{self.classes[1]}"

    @property
    def file(self) -> str:
        """The name of its certificate; no other pair has the same, of whatever data.

        That of a data set says it all. But files of one name may be in several folders, classes may
        have signs that a name of a file has not, and some systems take ``a`` and ``A`` for the
        same: there, a hash of the whole path and of the classes follows.
        """
        readable = re.sub(r"[^\w.-]+", "-", "-".join((Path(self.data).name, *self.classes)))
        if self.data in DATASETS and all(re.fullmatch(r"[0-9]+", name) for name in self.classes):
            return f"{readable}.json"
        exact = json.dumps([os.path.abspath(self.data), *self.classes])
        short = readable.encode()[:LONG].decode(errors="ignore")
        return f"{short}-{hashlib.sha256(exact.encode()).hexdigest()[:12]}.json"


def _all_pairs(data: Sequence[str]) -> list[_Pair]:
    """All pairs of the classes of some data, each of which is taken once.

    Every pair reads its data again, and so does the checker: what can be read once is refused.
    """
    from gammabar.harness.run.tasks import read_again

    for name in data:
        read_again(name)
    once: dict[str, str] = {}
    for name in data:
        once.setdefault(name if name in DATASETS else os.path.abspath(name), name)
    return [pair for name in once.values() for pair in _pairs_of(name)]


def _pairs_of(data: str) -> list[_Pair]:
    """All pairs of the classes that a DATA string has."""
    from gammabar.problems import load

    if data in DATASETS:
        names = dict(enumerate(DATASETS[data].classes))
        classes = [str(i) for i in names]
        called = {str(i): f"{i} {name}" if name != str(i) else name for i, name in names.items()}
    else:
        source = load(data, multiclass=True).source
        classes = list(source.classes) if source is not None else []
        called = {name: name for name in classes}
        if ":" in Path(data).name:
            raise ProblemError(
                f"{data}: margins takes data with all their classes, without a colon"
            )
    if not 2 <= len(classes) <= MANY:
        raise ProblemError(f"{data} has {len(classes)} classes; margins takes 2 to {MANY}")
    odd = [name for name in classes if "," in name or ":" in name or name != name.strip()]
    if odd:
        raise ProblemError(f"{data}: the class {odd[0]!r} cannot be named in a DATA string")
    return [_Pair(data, (a, b), (called[a], called[b])) for a, b in combinations(classes, 2)]


def _margin_of(pair: _Pair, folder: Path, check: bool, limit: float | None) -> dict[str, Any]:
    """Solve a pair, write its certificate and what there is to say of it, and return that."""
    from gammabar.oracle import solve
    from gammabar.problems import load

    found = _known(pair, folder, check=False)
    if found is not None:  # it is only not checked yet
        return _with_check(found, pair, folder)
    start = perf_counter()
    problem = load(pair.spec)
    loaded, used = perf_counter(), process_time()
    truth = solve(problem, time_limit=limit)
    solved, used = perf_counter(), process_time() - used
    path = folder / pair.file
    truth.save(path)
    result: dict[str, Any] = {"data": pair.data, "classes": list(pair.classes)}
    result |= {"names": list(pair.names)} | truth.facts()
    result |= {"seconds": round(solved - loaded, 3), "seconds_computing": round(used, 3)}
    result |= {"seconds_loading": round(loaded - start, 3)}
    result |= {"certificate": path.name, "accepted": None, "files": _stamps(pair, problem.source)}
    _write(folder / _result(pair), result)
    return _with_check(result, pair, folder) if check else result


def _with_check(result: dict[str, Any], pair: _Pair, folder: Path) -> dict[str, Any]:
    """The result with what the independent checker says of its certificate."""
    start = perf_counter()
    accepted, words = _checked(folder / pair.file, pair.spec)
    more = {"seconds_checking": round(perf_counter() - start, 3)}
    result = result | {"accepted": accepted, "checked": words} | more
    _write(folder / _result(pair), result)
    return result


def _checked(path: Path, spec: str) -> tuple[bool, str]:
    from gammabar.harness.certificates import Rejected, check

    try:
        return True, check(path, (spec,))
    except Rejected as reason:
        return False, str(reason)


def _known(pair: _Pair, folder: Path, check: bool) -> dict[str, Any] | None:
    """What an earlier run has found of a pair: exact, checked if asked for, of the same files."""
    try:
        found = json.loads((folder / _result(pair)).read_text(encoding="utf-8"))
        fits = found["data"] == pair.data and found["classes"] == list(pair.classes)
        same = all(_stamp(name) == stamp for name, stamp in found["files"].items())
        done = found["exact"] and (found["accepted"] or not check)
        there = (folder / found["certificate"]).is_file()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return found if fits and same and done and there else None


def run(
    pairs: list[_Pair],
    folder: Path,
    jobs: int,
    check: bool,
    limit: float | None,
    tell: Callable[[str], None],
) -> list[dict[str, Any]]:
    """All pairs, those first that are known; in processes, if there are several jobs."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {pair: _known(pair, folder, check) for pair in pairs}
    for pair, result in found.items():
        if result is not None:
            tell(f"{pair.spec} is known")
    work = {pair.spec: pair for pair in pairs if found[pair] is None}
    more: dict[str, Any] = {"folder": str(folder), "check": check, "limit": limit}
    requests = {name: {"pair": asdict(pair), **more} for name, pair in work.items()}
    with closing(_done(requests, min(jobs, len(work)))) as done:
        for name, result in done:
            found[work[name]] = result
            tell(name)
    return [result for result in found.values() if result is not None]


def _done(requests: dict[str, Any], jobs: int) -> Generator[tuple[str, dict[str, Any]], None, None]:
    """Names of requests and what `_margin_of_values` says of them, as they are done."""
    if jobs <= 1:
        for name, request in requests.items():
            yield name, _margin_of_values(**request)
        return
    with Pool() as pool:
        yield from pool.map(f"{__name__}:_margin_of_values", requests, jobs)


def _result(pair: _Pair) -> str:
    return pair.file.removesuffix(".json") + ".result.json"


def _stamps(pair: _Pair, source: Any) -> dict[str, Any]:
    """Sizes and times of the files that data came from; a table has no others than its own."""
    file = None if pair.data in DATASETS else named_file(pair.data)
    paths = [*(source.paths if source is not None else ()), *([str(file.path)] if file else [])]
    return {path: _stamp(path) for path in paths}


def _stamp(path: str) -> list[int] | None:
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns]


def _write(path: Path, document: dict[str, Any]) -> None:
    write_whole(path, json.dumps(document, indent=1) + "\n")  # names of files may be no UTF-8


def _summary(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts and times of all pairs."""
    seconds = [result["seconds"] for result in results]
    computing = [result["seconds_computing"] for result in results]
    return {
        "pairs": len(results),
        "separable": sum(result["separable"] is True for result in results),
        "not_separable": sum(result["separable"] is False for result in results),
        "unknown": sum(result["separable"] is None for result in results),
        "exact": sum(result["exact"] for result in results),
        "accepted": sum(result["accepted"] is True for result in results),
        "rejected": sum(result["accepted"] is False for result in results),
        "seconds": round(sum(seconds), 3),
        "seconds_longest": max(seconds, default=0.0),
        "computing": round(sum(computing), 3),
        "computing_longest": max(computing, default=0.0),
    }


def _margin_of_values(
    pair: dict[str, Any], folder: str, check: bool, limit: float | None
) -> dict[str, Any]:
    """`_margin_of` for another process, in words of JSON."""
    one = _Pair(pair["data"], tuple(pair["classes"]), tuple(pair["names"]))
    return _margin_of(one, Path(folder), check, limit)


def _page(results: list[dict[str, Any]], picture: Path | None, machine: str) -> str:
    """A page: what was asked, the picture, a table of all pairs, and how long it took.

    Classes and names of files may hold anything: nothing of them is written but through `plain`.
    """
    data = list(dict.fromkeys(result["data"] for result in results))
    facts = _summary(results)
    unchecked = facts["pairs"] - facts["accepted"] - facts["rejected"]
    rest = f", {unchecked} not handed to it" if unchecked else ""
    asked = _code(f"gammabar margins {shlex.join(data)}")
    lines = [
        "# The margin of every pair of classes",
        "",
        f"Written by {asked}. Hyperplanes pass through the origin,",
        "and γ̄ is that of the rows divided by the largest row norm. Every digit is proved: γ̄² is",
        "a rational number, and where there is no margin there are exact weights q with Aᵀq = 0.",
        "",
        f"{facts['pairs']} pairs: {facts['separable']} separable, {facts['not_separable']} not, "
        f"{facts['unknown']} unknown; {facts['accepted']} certificates accepted by the independent",
        f"checker, {facts['rejected']} rejected{rest}.",
        f"The oracle took {facts['computing']:.0f} s for all together and "
        f"{facts['computing_longest']:.1f} s for the longest (time of the",
        f"processor, without loading and checking; {machine}).",
        "",
    ]
    if picture is not None:
        lines += [
            f"![The margins of all pairs as matrices]({quote(os.fsencode(picture.name))})",
            "",
        ]
    for name in data:
        lines += [f"## {plain(_utf8(name))}", "", *_table(results, name), ""]
    return "\n".join(lines)


def _utf8(text: str) -> str:
    """A name of a file as UTF-8 has it: other bytes are escaped."""
    return text.encode(errors="backslashreplace").decode()


def _code(text: str) -> str:
    """A text as code on one line, between more backticks than it has in a row."""
    text = " ".join(_utf8(text).split())
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{ticks} {text} {ticks}" if "`" in text else f"`{text}`"


def _table(results: list[dict[str, Any]], data: str) -> list[str]:
    """The rows of a table in Markdown."""
    rows = ["| classes | γ̄ | rows | support | computing |", "|---|---|---|---|---|"]
    for result in results:
        if result["data"] == data:
            cells = [plain(" / ".join(result["names"])), _words(result), f"{result['n']:,}"]
            cells += [str(result["support_size"]), f"{result['seconds_computing']:.2f} s"]
            rows.append(f"| {' | '.join(cells)} |")
    return rows


def _words(result: dict[str, Any]) -> str:
    """What is known of a margin, in a few words."""
    if result["separable"] is False:
        return "not separable"
    if result["exact"]:
        return f"{result['gamma']}…"
    known = "" if result["separable"] else "not known to be separable, "
    return f"{known}in [{result['gamma_lo']!r}, {result['gamma_hi']!r}]"


def _check_picture(path: Path) -> None:
    """Refuse to begin where no picture can be drawn in the end."""
    if path.suffix.lower().removeprefix(".") not in FORMATS:
        raise ProblemError(f"{path}: a picture is one of {', '.join('.' + f for f in FORMATS)}")
    extra_module("matplotlib", "plots", "a picture")


def _draw(results: list[dict[str, Any]], path: Path) -> None:
    """Draw log₁₀ γ̄ of every pair in shades of grey, and a cross where nothing separates."""
    data = list(dict.fromkeys(result["data"] for result in results))
    classes = [_names(results, name) for name in data]
    sides = [max(3.6, 0.5 * len(names) + 1.9) for names in classes]
    style = {"text.parse_math": False}  # $ is a sign like any other, in classes and names
    with picture([path], (max(sides), sum(sides)), style, dpi=130) as figure:
        axes = figure.subplots(len(data), 1, squeeze=False, height_ratios=sides)[:, 0]
        powers = [log10(v) for v in map(_gamma, results) if v > 0] or [0.0]
        for place, name, names in zip(axes, data, classes, strict=True):
            some = [result for result in results if result["data"] == name]
            _matrix(place, name, names, some, min(powers), max(powers))


def _names(results: list[dict[str, Any]], data: str) -> dict[str, str]:
    """The classes of some data in their order, and what they are called."""
    named: dict[str, str] = {}
    for result in results:
        if result["data"] == data:
            named |= dict(zip(result["classes"], result["names"], strict=True))
    return named


def _gamma(result: dict[str, Any]) -> float:
    return float(result["gamma_lo"] if result["separable"] else 0.0)


def _matrix(
    place: Any,
    title: str,
    names: dict[str, str],
    results: list[dict[str, Any]],
    low: float,
    high: float,
) -> None:
    where = {name: k for k, name in enumerate(names)}
    place.set_aspect("equal")
    for result in results:
        column, row = (where[name] for name in result["classes"])
        gamma = _gamma(result)
        corner = (column - 0.5, row - 0.5)
        share = (log10(gamma) - low) / (high - low or 1.0) if gamma > 0 else 0.0
        shade = 0.97 - 0.37 * share if gamma > 0 else 1.0
        _cell(place, corner, str(shade), None if gamma > 0 else "xxx")
        if gamma > 0:
            words = f"{gamma * 1000:.3g}"
            place.text(column, row, words, ha="center", va="center", fontsize=10, color="black")
    count = len(names)
    place.set_xlim(-0.5, count - 1.5)
    place.set_ylim(count - 0.5, 0.5)
    place.set_xticks(range(count - 1), list(names.values())[:-1], rotation=60, ha="right")
    place.set_yticks(range(1, count), list(names.values())[1:])
    place.tick_params(length=0, labelsize=10)
    for spine in place.spines.values():
        spine.set_visible(False)
    there = sum(result["separable"] is True for result in results)
    not_there = sum(result["separable"] is False for result in results)
    place.set_title(
        f"{title}: 1000 γ̄ of {there} separable pairs;\ncrossed: {not_there} that nothing separates",
        fontsize=11,
    )


def _cell(place: Any, corner: tuple[float, float], shade: str, hatch: str | None) -> None:
    patches = extra_module("matplotlib.patches", "plots", "a picture")
    edge = "0.6" if hatch else "white"
    place.add_patch(patches.Rectangle(corner, 1, 1, facecolor=shade, edgecolor=edge, hatch=hatch))


def _print_pairs(results: list[dict[str, Any]]) -> None:
    rows = [
        [
            f"{result['data']}:{','.join(result['classes'])}",
            _words(result),
            str(result["support_size"]),
            f"{result['seconds']:.2f} s",
            {True: "accepted", False: "REJECTED", None: ""}[result["accepted"]],
        ]
        for result in results
    ]
    print_table(["pair", "γ̄ (rows of norm at most 1)", "support", "time", "certificate"], rows)


def _sentence(facts: dict[str, Any], folder: Path) -> str:
    known = f", {facts['unknown']} unknown" if facts["unknown"] else ""
    bad = f", {facts['rejected']} REJECTED" if facts["rejected"] else ""
    return (
        f"{facts['pairs']} pairs: {facts['separable']} separable, {facts['not_separable']} not"
        f"{known}; {facts['accepted']} certificates accepted{bad} (in {folder}); the longest took "
        f"{facts['seconds_longest']:.1f} s, {facts['computing_longest']:.1f} s of them computing"
    )
