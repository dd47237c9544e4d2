"""The store: what is finished stays, what has changed is done again, nothing is half written."""

from __future__ import annotations

import dataclasses
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from gammabar.harness.run import engine, provenance as keys
from gammabar.harness.run.engine import Request, make_plan, perform
from gammabar.harness.run.store import VERSION, Store
from gammabar.harness.run.tasks import InFile, Outcome, Registered, Result, Run, Task
from gammabar.problems import ProblemError

BROKEN = """
from gammabar.solvers import Iterate
class Mine:
    def iterates(self, problem, rng):
        yield Iterate(0, problem.origin())
        raise ValueError
"""


def task(seed: int = 0, **more) -> Task:
    run = {
        "problem": f"planted:n=10,d=2,seed={seed}",
        "solver": Registered("dual-acceleration"),
        "iterations": 20,
        "unit": True,
    }
    return Task(Run(**(run | more)), ("gb.sharp", "gb.selfcert"), ("holds", "holds"))


def plain(results: list[Result]) -> list[dict]:
    """Everything but the time it took."""
    return [{**result.as_dict(), "seconds": 0} for result in results]


@pytest.fixture
def counted(monkeypatch):
    """The tasks that were really carried out."""
    done = []

    def counting(one):
        done.append(one)
        return perform(one)

    monkeypatch.setattr("gammabar.harness.run.engine.perform", counting)
    return done


def test_what_is_stored_is_not_done_again(tmp_path, counted):
    tasks = [task(seed) for seed in range(4)]
    with Store(tmp_path / "s.sqlite") as store:
        first = engine.run(tasks[:2], store=store)
    with Store(tmp_path / "s.sqlite") as store:
        told = []
        second = engine.run(tasks, store=store, resume=True, tell=told.append)
    assert counted == tasks
    assert len(told) == 4
    assert second[:4] == first
    assert plain(second) == plain(engine.run(tasks))
    with Store(tmp_path / "s.sqlite") as store:
        assert plain(store.results()) == plain(second)
        engine.run(tasks, store=store)  # without --resume everything is
        assert len(store.results()) == 8


def test_failures_are_shown_but_never_taken_from_the_store(tmp_path, counted):
    bad = dataclasses.replace(task(solver=InFile("my.py:Mine", BROKEN)), planned=False)
    outcome = perform(bad)
    assert outcome.failed
    with Store(tmp_path / "s.sqlite") as store:
        store.put(keys.key(bad), bad, outcome)
        assert store.get(keys.key(bad)) is None
        assert {r.verdict.failure for r in store.results()} == {"crashed"}
        good = Outcome.from_dict(perform(task()).as_dict())
        store.put(keys.key(bad), bad, good)
        assert store.get(keys.key(bad)) == good
        assert {r.verdict.failure for r in store.results()} == {""}


def test_the_file_is_in_wal_mode_and_versioned(tmp_path):
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        store.put("k", task(), perform(task()))
    with sqlite3.connect(path) as base:
        assert base.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert base.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert base.execute("SELECT COUNT(*) FROM results").fetchone() == (2,)
        base.execute("PRAGMA user_version = 99")
    with pytest.raises(ProblemError, match="newer version"):
        Store(path)


def test_files_that_are_no_stores(tmp_path):
    (tmp_path / "text").write_text("no database at all, but long enough to be looked at" * 50)
    with pytest.raises(ProblemError, match="is no SQLite file"):
        Store(tmp_path / "text")
    with sqlite3.connect(tmp_path / "other") as base:
        base.execute("CREATE TABLE t (x)")
    with pytest.raises(ProblemError, match="no store of gammabar"):
        Store(tmp_path / "other")
    with pytest.raises(ProblemError, match="there is no folder"):
        Store(tmp_path / "none" / "s.sqlite")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"key        TEXT", b"key        VEXT"),
        (b"REAL", b"RUAL"),
        (b"place     INT", b"place     ANT"),
    ],
)
def test_a_column_of_another_type_is_no_store(tmp_path, old, new):
    """One byte of what SQLite knows of a table: "000…0" would be the number 0 from then on."""
    path = tmp_path / "s.sqlite"
    with Store(path):
        pass
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))
    with pytest.raises(ProblemError, match=r"is damaged \(malformed: \w+ is not as it was made\)"):
        Store(path)


def test_a_transaction_is_all_or_nothing(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        store.put("kept", task(), perform(task()))
        broken = dataclasses.replace(perform(task()).verdicts[0], worst_t="no number")
        object.__setattr__(broken, "verdict", None)  # what the table does not take
        with pytest.raises(ProblemError):
            store.put("broken", task(), Outcome((perform(task()).verdicts[0], broken), 0.0))
        assert len(store.results()) == 2
        assert store.get("broken") is None


def test_a_full_disk_loses_nothing_that_was_stored(tmp_path):
    tasks = [task(seed) for seed in range(40)]
    with Store(tmp_path / "s.sqlite") as store:
        store._base.execute("PRAGMA max_page_count = 14")
        with pytest.raises(ProblemError, match=r"no space left.*--resume") as refused:
            engine.run(tasks, store=store)
        kept = store.written
        assert f"({kept} trajectories)" in str(refused.value)
        assert 0 < kept < 40
        assert len(store.results()) == 2 * kept
    with Store(tmp_path / "s.sqlite") as store:
        told = []
        results = engine.run(tasks, store=store, resume=True, tell=told.append)
        assert store.written == 40 - kept
    assert plain(results) == plain(engine.run(tasks))


def test_a_disk_without_room_for_the_index_of_the_log_is_full(tmp_path):
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = "SQLITE_IOERR_SHMSIZE"
    refused = pytest.raises(ProblemError, match="no space left")
    with Store(tmp_path / "s.sqlite") as store, refused, store._trouble():
        raise error


# keys


def test_keys_tell_apart_what_may_give_other_results(tmp_path):
    csv = tmp_path / "d.csv"
    csv.write_text("1,2,3\n-1,1,1\n")
    base = task(problem=str(csv))
    others = [
        dataclasses.replace(base, run=dataclasses.replace(base.run, **change))
        for change in (
            {"seed": 1},
            {"iterations": 21},
            {"unit": False},
            {"problem": "iris:0,1"},
            {"problem": f"{csv} --kernel linear"},
            {"solver": Registered("dual-acceleration:step=2")},
            {"solver": InFile("my.py:Mine", BROKEN)},
            {"solver": InFile("my.py:Mine", BROKEN + " ")},
            {"solver": InFile("my.py:Mine:step=2", BROKEN)},
        )
    ]
    others += [
        dataclasses.replace(base, statements=statements)
        for statements in (("gb.selfcert", "gb.sharp"), ("gb.sharp",))
    ]
    first = keys.key(base)
    assert len({first, *map(keys.key, others)}) == len(others) + 1
    assert keys.key(dataclasses.replace(base, limit=1.0, expected=("either",) * 2)) == first
    csv.write_text("1,2,3\n-1,1,2\n")
    assert keys.key(base) != first


def test_keys_cover_the_files_that_are_named(tmp_path):
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    weights, deep = tmp_path / "weights.txt", tmp_path / "folder" / "inner" / "deep"
    weights.write_text("1")
    deep.write_text("1")

    def now():
        named = keys.contents([weights, tmp_path / "folder"])
        return keys.key(dataclasses.replace(task(), depends=named))

    seen = {keys.key(task()), now()}
    assert now() in seen
    for change in (
        lambda: weights.write_text("2"),
        lambda: deep.write_text("2"),
        lambda: (tmp_path / "folder" / "new").touch(),
        lambda: deep.rename(tmp_path / "folder" / "other"),
    ):
        change()
        assert now() not in seen
        seen.add(now())
    assert keys.contents([]) == ""


# damaged records; the fuzzer of tests/fuzz tries many more


def damaged(path, *changes: str) -> list[str]:
    """What is said of a store after changes of its tables."""
    base = sqlite3.connect(path)
    for change in changes:
        base.execute(change)
    base.commit()
    base.close()
    said: list[str] = []
    with Store(path, said.append) as store:
        store.results()
    return said


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE results SET details = replace(details, 'holds', 'hplds') {here}",
        "UPDATE results SET details = replace(details, 'checked\": 2', 'checked\": 3') {here}",
        "UPDATE results SET details = substr(details, 1, 40) {here}",
        "UPDATE results SET details = x'ff00' {here}",
        "UPDATE results SET details = '[]' {here}",
        "UPDATE results SET details = 'null' {here}",
        "UPDATE results SET verdict = 'refuted' {here}",
        "UPDATE results SET tightness = 'none' {here}",
        "UPDATE results SET slack = NULL {here}",
        "UPDATE results SET place = place + 5 {here}",
        "UPDATE results SET expected = 'either' {here}",
        "DELETE FROM results {here} AND place = 1",
        "DELETE FROM results {here}",
        "UPDATE trajectories SET seconds = 'long' {here}",
        "UPDATE trajectories SET seed = 77 {here}",
        "UPDATE trajectories SET problem = x'00' {here}",
        "UPDATE trajectories SET failed = 1 {here}",
        "DELETE FROM trajectories {here}",
    ],
)
def test_a_damaged_record_is_named_left_out_and_run_again(tmp_path, counted, change):
    path = tmp_path / "s.sqlite"
    tasks = [task(0), task(1), task(2)]
    with Store(path) as store:
        before = plain(engine.run(tasks, store=store))
    counted.clear()
    (said,) = damaged(path, change.format(here=f"WHERE key = '{keys.key(tasks[1])}'"))
    assert str(path) in said
    assert keys.key(tasks[1])[:12] in said
    with Store(path, complain=lambda sentence: None) as store:
        assert plain(engine.run(tasks, store=store, resume=True)) == before
    assert counted == [tasks[1]]
    assert not damaged(path)  # mended


def test_a_damaged_file_is_one_sentence(tmp_path):
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        engine.run([task(seed) for seed in range(20)], store=store)
    data = bytearray(path.read_bytes())
    for start in range(4096, len(data), 4096):
        data[start : start + 8] = b"\xff" * 8
    path.write_bytes(data)
    with pytest.raises(ProblemError, match="is damaged"):
        Store(path)


@pytest.mark.parametrize(
    "module", ["solvers/base", "harness/verify/run_checks", "papers/claims", "oracle/proof"]
)
def test_keys_follow_the_source_code(monkeypatch, tmp_path, module):
    """A change of any module of the project is a change of the key."""
    for package in keys._PACKAGES:
        shutil.copytree(keys._ROOT / package, tmp_path / package)
    monkeypatch.setattr(keys, "_ROOT", tmp_path)

    def now():
        keys.source.cache_clear()
        return keys.key(task())

    before = now()
    assert now() == before
    with (tmp_path / f"{module}.py").open("a") as file:
        file.write("#")
    assert now() != before
    monkeypatch.undo()
    keys.source.cache_clear()


# several processes

PROBLEMS = [f"planted:n=40,d=4,gamma=0.1,seed={seed}" for seed in range(8)]
NAMES = ("gb.sharp", "gb.selfcert")


def start(store, *more):
    asked = [word for name in NAMES for word in ("--statement", name)]
    asked += ["--solver", "dual-acceleration", "--iterations", "300", "--store", str(store)]
    asked += [word for problem in PROBLEMS for word in ("--problem", problem)]
    return subprocess.Popen(
        [sys.executable, "-m", "gammabar", "verify", *asked, "--json", *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell that runs the tests in the background lets its children ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def finish(process) -> list[dict]:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err.decode()
    return [{**result, "seconds": 0} for result in json.loads(out)["results"]]


def stored(path) -> int:
    """How many trajectories are in the file."""
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as base:
            return int(base.execute("SELECT COUNT(*) FROM trajectories").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def whole(path) -> bool:
    with sqlite3.connect(path) as base:
        return base.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def begun(path, *more):
    """A run that has stored something, and the processes that it has started."""
    import psutil

    process = start(path, *more)
    while not stored(path) and process.poll() is None:
        time.sleep(0.002)
    return process, psutil.Process(process.pid).children(recursive=True)


@pytest.mark.full
def test_a_run_that_was_killed_goes_on(tmp_path):
    path = tmp_path / "s.sqlite"
    process, _ = begun(path, "--jobs", "1")
    process.kill()
    process.communicate()
    assert whole(path)
    assert 1 <= stored(path) <= len(PROBLEMS)
    solvers = (Registered("dual-acceleration"),)
    request = Request(NAMES, (), tuple(PROBLEMS), solvers, iterations=300)
    here = plain(engine.run(make_plan(request)))
    assert finish(start(path, "--resume", "--jobs", "1")) == here
    assert stored(path) == len(PROBLEMS)


@pytest.mark.full
def test_two_runs_share_a_store(tmp_path):
    path = tmp_path / "s.sqlite"
    first, second = map(finish, [start(path, "--jobs", "1") for _ in range(2)])
    assert first == second
    assert whole(path)
    with Store(path) as store:
        assert len(store.results()) == 2 * len(PROBLEMS)


@pytest.mark.full
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_processes_end_with_their_parent(tmp_path, how):
    """And one that is interrupted says how to go on."""
    import psutil

    path = tmp_path / "s.sqlite"
    process, children = begun(path, "--jobs", "2", "--iterations", "15000")
    process.send_signal(how)
    _, err = process.communicate(timeout=60)
    assert children
    assert psutil.wait_procs(children, timeout=60)[1] == []
    assert whole(path)
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert b"interrupted" in err
        assert b"--resume" in err
        assert b"Traceback" not in err
