"""Stores of results: damaged files, and damaged records in files that SQLite finds whole."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from gammabar.harness.run.store import Store
from gammabar.harness.run.tasks import Outcome, Registered, Run, Task
from gammabar.harness.verify.verdict import Verdict

from .mutations import CHARACTERS, NUMBERS, spoil_bytes
from .target import Fault, Target

_KEYS = [f"{place:064x}" for place in range(4)]


def _record(place: int) -> tuple[Task, Outcome]:
    run = Run(f"planted:n={place + 5},d=2", Registered("perceptron"), 10 * place, place, True)
    verdicts = (
        Verdict("a.b", "holds", 0.25 + place, 1e-300, place, 7, 1, "", "[0.1 +/- 1e-9]", "γ̄"),
        Verdict(
            "a.c", "refuted", None, -0.5, None, 3, what="a ≤ b", reason="the claim is violated"
        ),
        Verdict("a.d", "inapplicable", reason="the data are not separable"),
    )
    return Task(run, ("a.b", "a.c", "a.d"), ("holds",) * 3), Outcome(verdicts, 0.5 + place)


@cache
def _written() -> frozenset[str]:
    """Every result as it must be read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.sqlite"
        with _filled(path) as store:
            return frozenset(repr(result) for result in store.results())


def _filled(path: Path) -> Store:
    store = Store(path)
    for place, key in enumerate(_KEYS):
        store.put(key, *_record(place))
    return store


def store_seeds() -> Sequence[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.sqlite"
        _filled(path).__exit__()
        return [path.read_bytes()]


def _spoil(data: bytes, rng: Random) -> bytes:
    """Some bytes of the file, its schema, or, more often, one cell of a table."""
    if rng.random() < 0.2:
        return spoil_bytes(data, rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.sqlite"
        path.write_bytes(data)
        base = sqlite3.connect(path, isolation_level=None)
        base.text_factory = bytes
        try:
            if rng.random() < 0.15:
                _respell(base, rng)
            else:
                with _lawless(base):
                    _spoil_row(base, rng)
        except (sqlite3.Error, TypeError, ValueError, OverflowError, AttributeError, LookupError):
            pass  # it is damaged enough
        finally:
            base.close()
        return path.read_bytes()


@contextmanager
def _lawless(base: sqlite3.Connection) -> Iterator[None]:
    """Anything fits into any column, for a while."""
    base.execute("PRAGMA ignore_check_constraints = ON")
    base.execute("PRAGMA writable_schema = ON")
    kept = base.execute("SELECT sql, rowid FROM sqlite_master").fetchall()
    base.execute("UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '')")
    base.execute("PRAGMA writable_schema = RESET")
    try:
        yield
    finally:
        base.execute("PRAGMA writable_schema = ON")
        for sql, row in kept:
            text = None if sql is None else sql.decode()
            base.execute("UPDATE sqlite_master SET sql = ? WHERE rowid = ?", (text, row))


#: What may stand in a schema, or be added to a file that has one.
WORDS = ["TEXT", "INTEGER", "REAL", "BLOB", "NUMERIC", "UNIQUE", "STRICT", "GENERATED"]
WORDS += ["", "PRIMARY KEY", "NOT NULL", "DEFAULT 5", "CHECK (0)", "COLLATE NOCASE"]
WORDS += ["WITHOUT ROWID"]
ADDED = """
CREATE TRIGGER t AFTER INSERT ON results BEGIN DELETE FROM results WHERE place = 1; END
CREATE TRIGGER t AFTER INSERT ON trajectories BEGIN UPDATE trajectories SET seed = 9; END
CREATE TRIGGER t BEFORE INSERT ON results BEGIN SELECT RAISE(IGNORE); END
CREATE UNIQUE INDEX u ON results (verdict)
CREATE VIEW v AS SELECT * FROM results
CREATE TABLE mine (x)
DROP INDEX by_statement
DROP TABLE data
DROP TABLE origins
ALTER TABLE results ADD COLUMN more
ALTER TABLE results RENAME COLUMN slack TO loose
ALTER TABLE trajectories RENAME TO runs
PRAGMA user_version = 2
PRAGMA user_version = -1
""".strip().splitlines()


def _respell(base: sqlite3.Connection, rng: Random) -> None:
    """Another schema: a word of it, or something besides."""
    if rng.random() < 0.5:
        base.execute(rng.choice(ADDED))
        return
    base.execute("PRAGMA writable_schema = ON")
    rows = base.execute("SELECT rowid, sql FROM sqlite_master WHERE sql IS NOT NULL")
    row, sql = rng.choice(rows.fetchall())
    words = sql.decode().split(" ")
    words[rng.randrange(len(words))] = rng.choice([*WORDS, *words])
    base.execute("UPDATE sqlite_master SET sql = ? WHERE rowid = ?", (" ".join(words), row))


def _spoil_row(base: sqlite3.Connection, rng: Random) -> None:
    table = rng.choice(["trajectories", "results", "results"])
    rows = [number for (number,) in base.execute(f"SELECT rowid FROM {table}")]
    if not rows:
        return
    row = rng.choice(rows)
    if rng.random() < 0.1:
        base.execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))
        return
    columns = [str(c[1], "utf-8") for c in base.execute(f"PRAGMA table_info({table})")]
    column = rng.choice([*columns, "details"] if table == "results" else columns)
    (old,) = base.execute(f"SELECT {column} FROM {table} WHERE rowid = ?", (row,)).fetchone()
    base.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (_other(old, rng), row))


def _other(value: Any, rng: Random) -> Any:
    """Something else in the place of a value."""
    choice = rng.randrange(6)
    if choice == 0:
        return rng.choice([None, 0, 1, -1, 2**63 - 1, 0.5, float("inf"), b"\xff\xfe", b"", ""])
    if choice == 1:
        return rng.choice([*NUMBERS, *CHARACTERS, "[]", "{}", "[[" * 3000, '{"verdict": "holds"}'])
    if isinstance(value, bytes):
        spoilt = spoil_bytes(value, rng)  # a BLOB, or a text again
        return spoilt.decode("utf-8", "replace") if choice < 5 else spoilt
    return value + 1 if isinstance(value, int | float) else "x"


def _run(path: Path) -> int:
    for more in ("-wal", "-shm", "-journal"):
        Path(f"{path}{more}").unlink(missing_ok=True)
    said: list[str] = []
    with Store(path, complain=said.append) as store:
        results = store.results()
        for result in results:
            if repr(result) not in _written():
                raise Fault(f"a record that was changed is taken for a whole one: {result}")
        if len(results) < len(_written()) and not said:
            # Whoever deletes a run with all its verdicts leaves nothing to be noticed.
            gone = {r.run.problem for r in results}
            if len(results) != 3 * len(gone):
                raise Fault("something is missing, and nothing was said")
        for place, key in enumerate(_KEYS):
            task, outcome = _record(place)
            known = store.get(key)
            if known is not None and known != outcome:
                raise Fault(f"{key} is another outcome than was written")
            if known is None:  # it is run again
                store.put(key, task, outcome)
                if store.get(key) != outcome:
                    raise Fault(f"{key} cannot be mended")
    return len(results)


TARGETS = [Target("store", store_seeds, _spoil, _run, suffix=".sqlite")]
