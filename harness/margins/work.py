"""Every pair of classes of some data, each in a file of its own as soon as it is known.

A folder has, for each pair, the certificate (``mnist-0-1.json``) and what is shown of it
(``mnist-0-1.result.json``), both written whole or not at all. What is there is not computed again,
unless the files that the data came from have changed; so a run that was killed goes on.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from gammabar.harness.margins.processes import carried_out
from gammabar.problems import ProblemError
from gammabar.problems.datasets import DATASETS
from gammabar.problems.from_files import named_file
from gammabar.problems.output import write_whole

#: Most classes of a data set: so many have 4,950 pairs.
MANY = 100
#: Bytes that are kept of a name that goes into one of a file; systems have room for 255.
LONG = 120


@dataclass(frozen=True)
class Pair:
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


def all_pairs(data: Sequence[str]) -> list[Pair]:
    """All pairs of the classes of some data, each of which is taken once.

    Every pair reads its data again, and so does the checker: what can be read once is refused.
    """
    from gammabar.harness.run.texts import read_again

    for name in data:
        read_again(name)
    once: dict[str, str] = {}
    for name in data:
        once.setdefault(name if name in DATASETS else os.path.abspath(name), name)
    return [pair for name in once.values() for pair in pairs_of(name)]


def pairs_of(data: str) -> list[Pair]:
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
    return [Pair(data, (a, b), (called[a], called[b])) for a, b in combinations(classes, 2)]


def margin_of(pair: Pair, folder: Path, check: bool, limit: float | None) -> dict[str, Any]:
    """Solve a pair, write its certificate and what there is to say of it, and return that."""
    from gammabar.oracle import solve
    from gammabar.problems import load

    found = known(pair, folder, check=False)
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


def _with_check(result: dict[str, Any], pair: Pair, folder: Path) -> dict[str, Any]:
    """The result with what the independent checker says of its certificate."""
    start = perf_counter()
    accepted, words = _checked(folder / pair.file, pair.spec)
    more = {"seconds_checking": round(perf_counter() - start, 3)}
    result = result | {"accepted": accepted, "checked": words} | more
    _write(folder / _result(pair), result)
    return result


def _checked(path: Path, spec: str) -> tuple[bool, str]:
    from gammabar.harness.run.checking import Rejected, check

    try:
        return True, check(path, (spec,))
    except Rejected as reason:
        return False, str(reason)


def known(pair: Pair, folder: Path, check: bool) -> dict[str, Any] | None:
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
    pairs: list[Pair],
    folder: Path,
    jobs: int,
    check: bool,
    limit: float | None,
    tell: Callable[[str], None],
) -> list[dict[str, Any]]:
    """All pairs, those first that are known; in processes, if there are several jobs."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {pair: known(pair, folder, check) for pair in pairs}
    for pair, result in found.items():
        if result is not None:
            tell(f"{pair.spec} is known")
    work = [pair for pair in pairs if found[pair] is None]
    more = folder, check, limit
    alone = ((pair, margin_of(pair, *more)) for pair in work)
    several = min(jobs, len(work)) > 1
    with closing(carried_out(work, more, min(jobs, len(work))) if several else alone) as done:
        for pair, result in done:
            found[pair] = result
            tell(pair.spec)
    return [result for result in found.values() if result is not None]


def _result(pair: Pair) -> str:
    return pair.file.removesuffix(".json") + ".result.json"


def _stamps(pair: Pair, source: Any) -> dict[str, Any]:
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


def summary(results: list[dict[str, Any]]) -> dict[str, Any]:
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
