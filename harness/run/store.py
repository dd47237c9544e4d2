"""Results in one SQLite file, from which a run that was killed goes on.

A trajectory is written in one transaction, so it is there with all its verdicts or not at all.
Write-ahead logging lets several runs share a file, and leaves it whole if one of them is killed.

Disks forget and programs meddle. Every verdict is sealed with a hash of itself and of the run that
it belongs to; a record whose seal does not fit is named, left out and run again. The seal is
against accidents, not against people.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Self
from urllib.parse import quote

from gammabar.harness.run.tasks import Outcome, Result, Run, Task, reference, verdict_from
from gammabar.harness.screen import complain
from gammabar.problems import ProblemError

VERSION = 1
#: Seconds to wait for another run that is writing.
PATIENCE = 60.0

_TABLES = """
CREATE TABLE IF NOT EXISTS trajectories (
    key        TEXT PRIMARY KEY,     -- content hash, see harness/run/provenance.py
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
CREATE TABLE IF NOT EXISTS data (
    problem TEXT PRIMARY KEY,
    sha256  TEXT NOT NULL            -- of the canonical form of its data, when it was last run
);
CREATE TABLE IF NOT EXISTS origins (
    facts   TEXT PRIMARY KEY,        -- with what it was computed, as JSON: see run/origin.py
    written TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
"""


#: The columns that are read.
_RUN = "key, solver, problem, seed, iterations, failed, seconds"
_RESULT = "key, place, statement, verdict, expected, tightness, slack, worst_t, details"


class _Damaged(Exception):
    """A record is not as it was written; the message says what is wrong with it."""


def _row(
    run: tuple[Any, ...], place: int, count: int, expected: str, verdict: dict[str, Any]
) -> tuple[Any, ...]:
    """The row of a verdict; its details carry a seal over all that belongs to the record."""
    text = json.dumps([run, place, count, expected, verdict], sort_keys=True, default=repr)
    seal = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    details = json.dumps(verdict | {"seal": [count, seal]})
    numbers = (verdict[name] for name in ("tightness", "slack", "worst_t"))
    kept = (None if number != number else number for number in numbers)  # SQLite has no NaN
    return (run[0], place, verdict["statement"], verdict["verdict"], expected, *kept, details)


def _opened(run: tuple[Any, ...], rows: list[tuple[Any, ...]]) -> list[Result]:
    """The results of a trajectory, if each row is the one that would be written now."""
    _, solver, problem, seed, iterations, _, seconds = run
    if not (isinstance(solver, str) and isinstance(problem, str)):
        raise _Damaged("its solver or its problem is not a text")
    where, found = Run(problem, reference(solver), iterations, seed), []
    for place, row in enumerate(rows):
        expected, details = row[4], row[-1]
        try:
            whole = json.loads(details)
            del whole["seal"]
            same = _row(run, place, len(rows), expected, whole) == row
            found.append(Result(verdict_from(whole), where, expected, seconds))
        except (ValueError, TypeError, LookupError, RecursionError):
            same = False
        if not same:
            raise _Damaged(f"verdict {place} is not what was written")
    if not found:
        raise _Damaged("it has no verdicts")
    return found


def _named(key: Any, solver: str, problem: str, seed: int, *_: object) -> str:
    """What a person knows a record by."""
    by = f" by {solver}" if solver else ""
    return f"{_short(key)} (on {problem or 'its own data'}{by}, seed {seed})"


def _short(key: Any) -> str:
    return repr(key[:12]) if isinstance(key, str) else repr(key)[:12]


def _kept(text: str) -> str:
    """A text as SQLite takes it: what is no UTF-8 in the name of a file is written as \\udcff."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _reader(path: Path) -> sqlite3.Connection:
    """A connection that writes nothing, not even beside the file if nobody else is at work."""
    ahead = Path(f"{path}-wal")
    alone = not (ahead.exists() and ahead.stat().st_size)
    name = f"file:{quote(os.fsencode(path.absolute()))}?mode=ro{'&immutable=1' * alone}"
    return sqlite3.connect(name, uri=True, timeout=PATIENCE, isolation_level=None)


def _schema(base: sqlite3.Connection) -> dict[str, str]:
    """What each table, index, view and trigger was made with, without comments and line ends."""
    rows = base.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    return {str(n): " ".join(re.sub("--[^\n]*", "", str(sql)).split()) for n, sql in rows}


class Store:
    """A file of results, made if it does not exist.

    `complain` is told, in a sentence, of each record that is damaged. Without `writing` nothing is
    changed, so that the file may be on a medium that takes no files.
    """

    def __init__(
        self, path: Path, complain: Callable[[str], None] = complain, writing: bool = True
    ) -> None:
        self.path, self._complain = path, complain
        self.written = 0
        if not path.parent.is_dir():
            raise ProblemError(f"{path}: there is no folder {path.parent}")
        with self._trouble():
            # Looked at before anything is done to it: it may be somebody else's.
            if not writing or (path.exists() and path.stat().st_size > 0):
                with closing(_reader(path)) as base:
                    self._own(base, writing)
            self._base = (
                sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
                if writing
                else _reader(path)
            )
        # What is no text in UTF-8 is a damaged record, not the end of the run.
        self._base.text_factory = lambda text: text.decode("utf-8", "replace")
        try:
            with self._trouble():
                if writing:
                    self._prepare()
                self._check()
        except BaseException:
            self._base.close()
            raise

    def _own(self, base: sqlite3.Connection, writing: bool) -> None:
        """Refuse what is no store; one that was not finished has no tables yet."""
        tables = {name for (name,) in base.execute("SELECT name FROM sqlite_master")}
        if tables and not {"trajectories", "results"} <= tables:
            raise ProblemError(f"{self.path}: is an SQLite file, but no store of gammabar")
        if not tables and not writing:
            raise ProblemError(f"{self.path}: is empty, and no store of gammabar")
        (version,) = base.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise ProblemError(f"{self.path}: was written by a newer version of gammabar")

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
        self._log_ahead()
        self._base.execute("PRAGMA synchronous = NORMAL")
        self._base.execute("PRAGMA foreign_keys = ON")
        with self._transaction():
            for statement in _TABLES.split(";"):
                self._base.execute(statement)
            self._base.execute(f"PRAGMA user_version = {VERSION}")

    def _check(self) -> None:
        """Refuse a file whose pages or indices are damaged: SQLite finds the wrong rows there."""
        for (found,) in self._base.execute("PRAGMA integrity_check").fetchall():
            # A wrong value is a matter of its record, see `_opened`.
            if found != "ok" and not re.search(r" value in \w+\.\w+$", str(found)):
                raise sqlite3.DatabaseError(f"malformed: {found}")
        # Another type, rule or trigger turns what is written into something else.
        with closing(sqlite3.connect(":memory:")) as fresh:
            fresh.executescript(_TABLES)
            wanted = _schema(fresh)
        self._made = _schema(self._base)
        for name, sql in self._made.items():
            if sql != wanted.get(name, sql) or sql.upper().startswith("CREATE TRIGGER"):
                raise sqlite3.DatabaseError(f"malformed: {name} is not as it was made")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._base.close()

    def put(self, key: str, task: Task, outcome: Outcome) -> None:
        """Write a trajectory, in place of an older one with the same key."""
        run = task.run
        by, problem = _kept(run.by), _kept(run.problem)
        row = (by, problem, run.seed, run.iterations, int(outcome.failed), outcome.seconds)
        pairs = enumerate(zip(outcome.verdicts, task.expected, strict=True))
        count = len(task.expected)
        results = [
            _row((key, *row), place, count, expected, verdict.as_dict())
            for place, (verdict, expected) in pairs
        ]
        with self._trouble(), self._transaction():
            values = "VALUES (?, ?, ?, ?, ?, ?, ?)"
            self._base.execute(
                f"INSERT OR REPLACE INTO trajectories ({_RUN}) {values}", (key, *row)
            )
            self._base.execute("DELETE FROM results WHERE key = ?", (key,))
            values = "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
            self._base.executemany(f"INSERT INTO results {values}", results)
            if outcome.data:
                data = problem, outcome.data
                self._base.execute("INSERT OR REPLACE INTO data VALUES (?, ?)", data)
        self.written += 1

    def get(self, key: str) -> Outcome | None:
        """What is stored under a key, unless it is a failure or damaged."""
        found = self._records("WHERE key = ?", key)
        if not found or any(result.verdict.failure for result in found):
            return None
        verdicts = tuple(result.verdict for result in found)
        digest = self._select("sha256", "data", "WHERE problem = ?", _kept(found[0].run.problem))
        return Outcome(verdicts, found[0].seconds, str(digest[0][0]) if digest else "")

    def results(self) -> list[Result]:
        """All results, in the order in which they were written, but for those that are damaged."""
        return self._records()

    def sign(self, facts: dict[str, Any]) -> None:
        """Write down with what results are computed from now on."""
        text = json.dumps(facts)
        with self._trouble():
            self._base.execute("INSERT OR REPLACE INTO origins (facts) VALUES (?)", (text,))

    def origins(self) -> list[dict[str, Any]]:
        """With what the results were computed, the latest last, each with the day of it."""
        found = self._select("facts, written", "origins", "ORDER BY rowid")
        try:
            return [json.loads(facts) | {"written": str(written)} for facts, written in found]
        except (ValueError, TypeError):
            self._complain(f"{self.path}: what it was computed with cannot be read")
            return []

    def data(self) -> dict[str, str]:
        """The hash of the data of each problem."""
        found = self._select("problem, sha256", "data")
        return {str(problem): str(digest) for problem, digest in found}

    def _select(self, columns: str, table: str, rest: str = "", *values: Any) -> list[Any]:
        """Rows of a table; none if an older store, which is only read, does not have it."""
        if table not in self._made:
            return []
        with self._trouble():
            return self._base.execute(f"SELECT {columns} FROM {table} {rest}", values).fetchall()

    def _records(self, where: str = "", *values: Any) -> list[Result]:
        """The results of the trajectories that are whole; of the others, a sentence is said."""
        rows = self._select(_RUN, "trajectories", f"{where} ORDER BY rowid", *values)
        verdicts = self._select(_RESULT, "results", f"{where} ORDER BY place", *values)
        of: dict[Any, list[tuple[Any, ...]]] = {}
        for verdict in verdicts:
            of.setdefault(verdict[0], []).append(verdict)
        found: list[Result] = []
        for row in rows:
            try:
                found += _opened(row, of.pop(row[0], []))
            except _Damaged as error:
                self._complain(f"{self.path}: the record {_named(*row)} is damaged ({error})")
        for key in of:
            self._complain(f"{self.path}: there are results of {_short(key)}, but not its run")
        return found

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
        except sqlite3.Error as error:
            no_room = getattr(error, "sqlite_errorname", "") == "SQLITE_IOERR_SHMSIZE"
            what = "disk is full" if no_room else str(error)  # none for the index of the log
            raise ProblemError(f"{self.path}: {self._sentence(what)}") from error
        except UnicodeDecodeError as error:  # of a message about a name that is none
            raise ProblemError(f"{self.path}: {self._sentence('malformed schema')}") from error
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise ProblemError(f"{self.path}: {self._sentence('disk is full')}") from error

    def _sentence(self, error: str) -> str:
        damaged = f"is damaged ({error}): put it aside and run again without it"
        known = {
            "disk is full": "no space left on the disk; what this run has stored before"
            f" ({self.written} trajectories) is kept, so make room and go on with --resume",
            "locked": f"another run has kept it locked for {PATIENCE:g} s",
            "not a database": "is no SQLite file",
            "unable to open": "cannot be opened or made",
            "readonly": "may not be written to",
            **dict.fromkeys(("malformed", "no such", "corrupt"), damaged),
        }
        return next((sentence for word, sentence in known.items() if word in error), error)
