"""Results in one SQLite file, from which a run that was killed goes on.

A trajectory is written in one transaction, so it is there with all its verdicts or not at all.
Write-ahead logging lets several runs share a file, and leaves it whole if one of them is killed.
"""

from __future__ import annotations

import errno
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Self

from gammabar.harness.run.results import Result
from gammabar.harness.run.solver_ref import reference
from gammabar.harness.run.task import Outcome, Run, Task, verdict_from
from gammabar.problems import ProblemError

VERSION = 1
#: Seconds to wait for another run that is writing.
PATIENCE = 60.0

_TABLES = """
CREATE TABLE IF NOT EXISTS trajectories (
    key        TEXT PRIMARY KEY,     -- content hash, see harness/run/keys.py
    solver     TEXT NOT NULL,
    problem    TEXT NOT NULL,
    seed       INTEGER NOT NULL,
    iterations INTEGER NOT NULL,
    failed     INTEGER NOT NULL,     -- 1: the solver did not do its part, --resume runs it again
    seconds    REAL NOT NULL,
    written    TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE IF NOT EXISTS results (
    key       TEXT NOT NULL REFERENCES trajectories (key) ON DELETE CASCADE,
    place     INTEGER NOT NULL,      -- among the statements of the trajectory
    statement TEXT NOT NULL,
    verdict   TEXT NOT NULL,
    expected  TEXT NOT NULL,
    tightness REAL,
    slack     REAL,
    worst_t   INTEGER,
    details   TEXT NOT NULL,         -- the whole verdict, as JSON
    PRIMARY KEY (key, place)
);
CREATE INDEX IF NOT EXISTS by_statement ON results (statement);
"""


class Store:
    """A file of results.

    Parameters
    ----------
    path : Path
        Made if it does not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.written = 0
        if not path.parent.is_dir():
            raise ProblemError(f"{path}: there is no folder {path.parent}")
        with self._trouble():
            self._base = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
            self._log_ahead()
            self._base.execute("PRAGMA synchronous = NORMAL")
            self._base.execute("PRAGMA foreign_keys = ON")
            self._prepare()

    def _log_ahead(self) -> None:
        """Switch to write-ahead logging; SQLite does not wait for others by itself in this."""
        deadline = monotonic() + PATIENCE
        while True:
            try:
                self._base.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or monotonic() > deadline:
                    raise
                sleep(0.05)

    def _prepare(self) -> None:
        with self._transaction():
            (version,) = self._base.execute("PRAGMA user_version").fetchone()
            tables = {name for (name,) in self._base.execute("SELECT name FROM sqlite_master")}
            if tables and not {"trajectories", "results"} <= tables:
                raise ProblemError(f"{self.path}: is an SQLite file, but no store of gammabar")
            if version > VERSION:
                raise ProblemError(f"{self.path}: was written by a newer version of gammabar")
            for statement in _TABLES.split(";"):
                self._base.execute(statement)
            self._base.execute(f"PRAGMA user_version = {VERSION}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._base.close()

    def put(self, key: str, task: Task, outcome: Outcome) -> None:
        """Write a trajectory, in place of an older one with the same key."""
        rows = [
            (
                key,
                place,
                v.statement,
                v.verdict,
                expected,
                v.tightness,
                v.slack,
                v.worst_t,
                json.dumps(v.as_dict(), ensure_ascii=False),
            )
            for place, (v, expected) in enumerate(zip(outcome.verdicts, task.expected, strict=True))
        ]
        with self._trouble(), self._transaction():
            self._base.execute(
                "INSERT OR REPLACE INTO trajectories"
                " (key, solver, problem, seed, iterations, failed, seconds)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    key,
                    task.run.by,
                    task.run.problem,
                    task.run.seed,
                    task.run.iterations,
                    outcome.failed,
                    outcome.seconds,
                ),
            )
            self._base.execute("DELETE FROM results WHERE key = ?", (key,))
            self._base.executemany("INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        self.written += 1

    def get(self, key: str) -> Outcome | None:
        """What is stored under a key, unless it is a failure."""
        with self._trouble():
            found = self._base.execute(
                "SELECT seconds FROM trajectories WHERE key = ? AND NOT failed", (key,)
            ).fetchone()
            if found is None:
                return None
            rows = self._base.execute(
                "SELECT details FROM results WHERE key = ? ORDER BY place", (key,)
            ).fetchall()
        return Outcome(tuple(verdict_from(json.loads(text)) for (text,) in rows), found[0])

    def results(self) -> list[Result]:
        """All results, in the order in which they were written."""
        with self._trouble():
            rows = self._base.execute(
                "SELECT t.solver, t.problem, t.seed, t.iterations, t.seconds, r.expected, r.details"
                " FROM trajectories t JOIN results r USING (key) ORDER BY t.rowid, r.place"
            ).fetchall()
        return [
            Result(
                verdict_from(json.loads(details)),
                Run(problem, reference(solver), iterations, seed),
                expected,
                seconds,
            )
            for solver, problem, seed, iterations, seconds, expected, details in rows
        ]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._base.in_transaction:  # a full disk has ended it already
                self._base.execute("ROLLBACK")
            raise
        self._base.execute("COMMIT")

    @contextmanager
    def _trouble(self) -> Iterator[None]:
        """Errors of the file as one sentence."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise ProblemError(f"{self.path}: {self._sentence(str(error))}") from error
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise ProblemError(f"{self.path}: {self._sentence('disk is full')}") from error

    def _sentence(self, error: str) -> str:
        if "disk is full" in error:
            return (
                f"no space left on the disk; what this run has stored before"
                f" ({self.written} trajectories) is kept, so make room and go on with --resume"
            )
        if "locked" in error:
            return f"another run has kept it locked for {PATIENCE:g} s"
        if "not a database" in error:
            return "is no SQLite file"
        if "unable to open" in error:
            return "cannot be opened or made"
        if "readonly" in error:
            return "may not be written to"
        return error
