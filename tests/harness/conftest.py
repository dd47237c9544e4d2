"""What tests of the harness share."""

from __future__ import annotations

from pathlib import Path

import pytest

from gammabar.harness.cli import main
from gammabar.harness.registry import _OPENED, close_paper, load_statements
from gammabar.harness.verify.statement import STATEMENTS
from gammabar.papers import witness

HOME = Path(witness.__file__).resolve().parent
OURS = ("jst", "tyurin", "rp", "lec", "gb")


@pytest.fixture
def gammabar(capsys):
    """Run a command in this process: (exit code, stdout, stderr); papers it opens are closed, and
    refuters that it reads are forgotten."""
    before, refuters, read = set(_OPENED), dict(witness.REFUTERS), set(witness._LOADED)

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return left.value.code, out, err

    yield run
    for path in set(_OPENED) - before:
        close_paper(path)
    # Ours stay: whoever imports them by name has read them.
    ours = {name: f for name, f in witness.REFUTERS.items() if name.partition(".")[0] in OURS}
    witness.REFUTERS.clear()
    witness.REFUTERS.update(refuters | ours)
    witness._LOADED.intersection_update(read | {p for p in witness._LOADED if HOME in p.parents})


@pytest.fixture
def shelf_as_before():
    """Papers that a test opens are closed after it."""
    load_statements()
    before = set(STATEMENTS)
    yield
    for path in list(_OPENED):
        close_paper(path)
    assert set(STATEMENTS) == before


@pytest.fixture
def registered():
    """All statements; those that a test registers are forgotten afterwards."""
    load_statements()
    before = dict(STATEMENTS)
    yield STATEMENTS
    STATEMENTS.clear()
    STATEMENTS.update(before)


@pytest.fixture
def refused(gammabar):
    """Run a command that must end with exit code 2 and one sentence; returns the sentence."""

    def run(*arguments):
        code, out, err = gammabar(*arguments)
        said = [line for line in err.splitlines() if not line.startswith("checking ")]
        assert (code, out, len(said)) == (2, "", 1)
        assert said[0].startswith("gammabar: ")
        return said[0]

    return run
