"""Every pair of classes of some data, each in a file of its own as soon as it is known.

A folder has, for each pair, the certificate (``mnist-0-1.json``) and what is shown of it
(``mnist-0-1.result.json``), both written whole or not at all. What is there is not computed again,
unless the files that the data came from have changed; so a run that was killed goes on.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from gammabar.problems import ProblemError
from gammabar.problems.writing import write_whole

#: Most classes of a data set: so many have 4,950 pairs.
MANY = 100


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
        """The name of its certificate."""
        return (
            re.sub(r"[^\w.-]+", "-", f"{Path(self.data).name}-{'-'.join(self.classes)}") + ".json"
        )


def pairs_of(data: str) -> list[Pair]:
    """All pairs of the classes that a DATA string has."""
    from gammabar.problems import load
    from gammabar.problems.datasets import DATASETS

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
    odd = [name for name in classes if "," in name or ":" in name]
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
    result |= {"certificate": path.name, "accepted": None, "files": _stamps(problem.source)}
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
    work = [(pair, folder, check, limit) for pair in pairs if found[pair] is None]
    with _done(work, min(jobs, len(work))) as results:
        for result in results:
            pair = next(p for p in pairs if _is(p, result))
            found[pair] = result
            tell(pair.spec)
    return [result for result in found.values() if result is not None]


@contextmanager
def _done(work: list[Any], jobs: int) -> Iterator[Iterator[dict[str, Any]]]:
    """The results as they come; processes are ended with the run."""
    if jobs <= 1:
        yield map(_task, work)
        return
    from multiprocessing import get_context

    before = {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    os.environ.update(dict.fromkeys(before, "1"))  # one thread each: the processes fill the cores
    try:
        with get_context("spawn").Pool(jobs, _quiet) as pool:
            yield pool.imap_unordered(_task, work)
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def _quiet() -> None:
    """Ctrl-C is for the parent, which ends the others."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _task(arguments: Any) -> dict[str, Any]:
    return margin_of(*arguments)


def _is(pair: Pair, result: dict[str, Any]) -> bool:
    return [pair.data, list(pair.classes)] == [result["data"], result["classes"]]


def _result(pair: Pair) -> str:
    return pair.file.removesuffix(".json") + ".result.json"


def _stamps(source: Any) -> dict[str, Any]:
    """Sizes and times of the files that data came from."""
    return {path: _stamp(path) for path in (source.paths if source is not None else ())}


def _stamp(path: str) -> list[int] | None:
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns]


def _write(path: Path, document: dict[str, Any]) -> None:
    write_whole(path, json.dumps(document, indent=1, ensure_ascii=False) + "\n")


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
