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
from collections.abc import Callable, Sequence
from itertools import combinations
from math import log10
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple
from urllib.parse import quote

from gammabar.harness.report.tables import plain
from gammabar.harness.reproduce import FORMATS, picture as drawn
from gammabar.harness.run.pool import Pool
from gammabar.harness.screen import bar, print_json, print_table, say
from gammabar.problems import ProblemError
from gammabar.problems.datasets import DATASETS
from gammabar.problems.environment import extra_module
from gammabar.problems.output import write_whole
from gammabar.problems.specs import named_file

#: Most classes of a data set: so many have 4,950 pairs.
MANY = 100
#: Bytes that are kept of a name that goes into one of a file; systems have room for 255.
LONG = 120

Result = dict[str, Any]


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

    The exit code is 1 if a certificate is rejected.
    """
    if picture is not None:
        if picture.suffix.lower().removeprefix(".") not in FORMATS:
            known = ", ".join("." + f for f in FORMATS)
            raise ProblemError(f"{picture}: a picture is one of {known}")
        extra_module("matplotlib", "plots", "a picture")  # before anything is computed
    from joblib import cpu_count

    pairs = _all_pairs(data)
    jobs = jobs or int(cpu_count())
    with bar(len(pairs), "pairs", quiet=as_json) as tell:
        results = run(pairs, certificates, jobs, check, time_limit, tell)
    facts = _summary(results)
    if picture is not None:
        _draw(results, picture)
    if page is not None:
        write_whole(page, _page(results, facts, picture, f"{jobs} processes"))
    if as_json:
        shown = [{k: v for k, v in result.items() if k != "files"} for result in results]
        print_json({"data": list(data), "summary": facts, "pairs": shown}, "margins")
    else:
        _show(results, facts, certificates)
    return 1 if facts["rejected"] else 0


class _Pair(NamedTuple):
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

    @property
    def result(self) -> str:
        return self.file.removesuffix(".json") + ".result.json"


def _all_pairs(data: Sequence[str]) -> list[_Pair]:
    """All pairs of the classes of some data, each of which is taken once.

    Every pair reads its data again, and so does the checker: what can be read once is refused.
    """
    from gammabar.problems.specs import read_again

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
        names = {str(i): name for i, name in enumerate(DATASETS[data].classes)}
        called = {i: name if name == i else f"{i} {name}" for i, name in names.items()}
    else:
        source = load(data, multiclass=True).source
        called = {name: name for name in (source.classes if source is not None else ())}
        if ":" in Path(data).name:
            raise ProblemError(
                f"{data}: --pairs takes data with all their classes, without a colon"
            )
    if not 2 <= len(called) <= MANY:
        raise ProblemError(f"{data} has {len(called)} classes; --pairs takes 2 to {MANY}")
    odd = [name for name in called if "," in name or ":" in name or name != name.strip()]
    if odd:
        raise ProblemError(f"{data}: the class {odd[0]!r} cannot be named in a DATA string")
    return [_Pair(data, (a, b), (called[a], called[b])) for a, b in combinations(called, 2)]


def run(
    pairs: list[_Pair],
    folder: Path,
    jobs: int,
    check: bool,
    limit: float | None,
    tell: Callable[[str], None],
) -> list[Result]:
    """All pairs, those first that are known; in processes, if there are several jobs."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {pair: _known(pair, folder, check) for pair in pairs}
    for pair, result in found.items():
        if result is not None:
            tell(f"{pair.spec} is known")
    work = {pair.spec: pair for pair in pairs if found[pair] is None}
    more: Result = {"folder": str(folder), "check": check, "limit": limit}
    requests = {name: {"pair": list(pair), **more} for name, pair in work.items()}
    if min(jobs, len(work)) <= 1:
        for name, request in requests.items():
            found[work[name]] = _margin_of(**request)
            tell(name)
    else:
        with Pool() as pool:
            for name, result in pool.map(f"{__name__}:_margin_of", requests, jobs):
                found[work[name]] = result
                tell(name)
    return [result for result in found.values() if result is not None]


def _margin_of(pair: Sequence[Any], folder: str, check: bool, limit: float | None) -> Result:
    """Solve a pair, write its certificate and what there is to say of it, and return that."""
    from gammabar.oracle import solve
    from gammabar.problems import load

    data, classes, names = pair
    one, place = _Pair(data, tuple(classes), tuple(names)), Path(folder)
    result = _known(one, place, check=False)
    if result is None:  # else it is only not checked yet
        start = perf_counter()
        problem = load(one.spec)
        loaded, used = perf_counter(), process_time()
        truth = solve(problem, time_limit=limit)
        solved, used = perf_counter(), process_time() - used
        truth.save(place / one.file)
        result = {"data": data, "classes": list(classes), "names": list(names)} | truth.facts()
        result |= {"seconds": round(solved - loaded, 3), "seconds_computing": round(used, 3)}
        result |= {"seconds_loading": round(loaded - start, 3), "certificate": one.file}
        result |= {"accepted": None, "files": _stamps(one, problem.source)}
        _write(place / one.result, result)
    if check:
        start = perf_counter()
        accepted, words = _checked(place / one.file, one.spec)
        result |= {"accepted": accepted, "checked": words}
        result["seconds_checking"] = round(perf_counter() - start, 3)
        _write(place / one.result, result)
    return result


def _checked(path: Path, spec: str) -> tuple[bool, str]:
    from gammabar.harness.certificates import Rejected, check

    try:
        return True, check(path, (spec,))
    except Rejected as reason:
        return False, str(reason)


def _known(pair: _Pair, folder: Path, check: bool) -> Result | None:
    """What an earlier run has found of a pair: exact, checked if asked for, of the same files."""
    try:
        found: Result = json.loads((folder / pair.result).read_text(encoding="utf-8"))
        fits = found["data"] == pair.data and found["classes"] == list(pair.classes)
        same = all(_stamp(name) == stamp for name, stamp in found["files"].items())
        done = found["exact"] and (found["accepted"] or not check)
        there = (folder / found["certificate"]).is_file()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return found if fits and same and done and there else None


def _stamps(pair: _Pair, source: Any) -> Result:
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


def _write(path: Path, document: Result) -> None:
    write_whole(path, json.dumps(document, indent=1) + "\n")  # names of files may be no UTF-8


# --- what is shown


def _summary(results: list[Result]) -> Result:
    """Counts and times of all pairs."""

    def count(field: str, value: bool | None) -> int:
        return sum(result[field] is value for result in results)

    seconds = [result["seconds"] for result in results]
    computing = [result["seconds_computing"] for result in results]
    return {
        "pairs": len(results),
        "separable": count("separable", True),
        "not_separable": count("separable", False),
        "unknown": count("separable", None),
        "exact": count("exact", True),
        "accepted": count("accepted", True),
        "rejected": count("accepted", False),
        "seconds": round(sum(seconds), 3),
        "seconds_longest": max(seconds, default=0.0),
        "computing": round(sum(computing), 3),
        "computing_longest": max(computing, default=0.0),
    }


def _show(results: list[Result], facts: Result, folder: Path) -> None:
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
    known = f", {facts['unknown']} unknown" if facts["unknown"] else ""
    bad = f", {facts['rejected']} REJECTED" if facts["rejected"] else ""
    say(
        f"{facts['pairs']} pairs: {facts['separable']} separable, {facts['not_separable']} not"
        f"{known}; {facts['accepted']} certificates accepted{bad} (in {folder}); the longest took "
        f"{facts['seconds_longest']:.1f} s, {facts['computing_longest']:.1f} s of them computing"
    )


def _words(result: Result) -> str:
    """What is known of a margin, in a few words."""
    if result["separable"] is False:
        return "not separable"
    if result["exact"]:
        return f"{result['gamma']}…"
    known = "" if result["separable"] else "not known to be separable, "
    return f"{known}in [{result['gamma_lo']!r}, {result['gamma_hi']!r}]"


_PAGE = """\
# The margin of every pair of classes

Written by {asked}. Hyperplanes pass through the origin,
and γ̄ is that of the rows divided by the largest row norm. Every digit is proved: γ̄² is
a rational number, and where there is no margin there are exact weights q with Aᵀq = 0.

{pairs} pairs: {separable} separable, {not_separable} not, {unknown} unknown; {accepted} certificates accepted by the independent
checker, {rejected} rejected{rest}.
The oracle took {computing:.0f} s for all together and {computing_longest:.1f} s for the longest (time of the
processor, without loading and checking; {machine}).
"""  # noqa: E501 (as it is written)


def _page(results: list[Result], facts: Result, picture: Path | None, machine: str) -> str:
    """A page: what was asked, the picture, a table of all pairs, and how long it took.

    Classes and names of files may hold anything: nothing of them is written but through `plain`.
    """
    data = list(dict.fromkeys(result["data"] for result in results))
    unchecked = facts["pairs"] - facts["accepted"] - facts["rejected"]
    rest = f", {unchecked} not handed to it" if unchecked else ""
    asked = _code(f"gammabar oracle --pairs {shlex.join(data)}")
    text = _PAGE.format(asked=asked, rest=rest, machine=machine, **facts)
    if picture is not None:
        link = quote(os.fsencode(picture.name))
        text += f"\n![The margins of all pairs as matrices]({link})\n"
    for name in data:
        text += f"\n## {plain(_utf8(name))}\n\n| classes | γ̄ | rows | support | computing |\n"
        text += "|---|---|---|---|---|\n"
        for result in (one for one in results if one["data"] == name):
            cells = [plain(" / ".join(result["names"])), _words(result), f"{result['n']:,}"]
            cells += [str(result["support_size"]), f"{result['seconds_computing']:.2f} s"]
            text += f"| {' | '.join(cells)} |\n"
    return text


def _utf8(text: str) -> str:
    """A name of a file as UTF-8 has it: other bytes are escaped."""
    return text.encode(errors="backslashreplace").decode()


def _code(text: str) -> str:
    """A text as code on one line, between more backticks than it has in a row."""
    text = " ".join(_utf8(text).split())
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{ticks} {text} {ticks}" if "`" in text else f"`{text}`"


def _draw(results: list[Result], path: Path) -> None:
    """Draw log₁₀ γ̄ of every pair in shades of grey, and a cross where nothing separates."""
    by_data: dict[str, list[Result]] = {}
    names: dict[str, dict[str, str]] = {}
    for result in results:
        by_data.setdefault(result["data"], []).append(result)
        called = zip(result["classes"], result["names"], strict=True)
        names.setdefault(result["data"], {}).update(called)
    sides = [max(3.6, 0.5 * len(called) + 1.9) for called in names.values()]
    style = {"text.parse_math": False}  # $ is a sign like any other, in classes and names
    powers = [log10(v) for v in map(_gamma, results) if v > 0] or [0.0]
    with drawn([path], (max(sides), sum(sides)), style, dpi=130) as figure:
        axes = figure.subplots(len(sides), 1, squeeze=False, height_ratios=sides)[:, 0]
        for place, (data, some) in zip(axes, by_data.items(), strict=True):
            _matrix(place, data, names[data], some, (min(powers), max(powers)))


def _gamma(result: Result) -> float:
    return float(result["gamma_lo"] if result["separable"] else 0.0)


def _matrix(
    place: Any, title: str, names: dict[str, str], results: list[Result], ends: tuple[float, float]
) -> None:
    """One panel; `ends` are the powers of ten of the smallest and the largest margin."""
    patches = extra_module("matplotlib.patches", "plots", "a picture")
    low, high = ends
    where = {name: k for k, name in enumerate(names)}
    place.set_aspect("equal")
    for result in results:
        column, row = (where[name] for name in result["classes"])
        gamma = _gamma(result)
        look = {"facecolor": "1.0", "edgecolor": "0.6", "hatch": "xxx"}
        if gamma > 0:
            share = (log10(gamma) - low) / (high - low or 1.0)
            look = {"facecolor": str(0.97 - 0.37 * share), "edgecolor": "white"}
            place.text(column, row, f"{gamma * 1000:.3g}", ha="center", va="center", fontsize=10)
        place.add_patch(patches.Rectangle((column - 0.5, row - 0.5), 1, 1, **look))
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
