"""What tests of the harness share."""

from __future__ import annotations

import pytest

from gammabar.harness.cli import main
from gammabar.harness.court.statement import STATEMENTS
from gammabar.harness.library import close_paper, load_statements
from gammabar.harness.library.shelf import _OPENED


@pytest.fixture
def gammabar(capsys):
    """Run a command in this process: (exit code, stdout, stderr); papers it opens are closed."""
    before = set(_OPENED)

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return left.value.code, out, err

    yield run
    for path in set(_OPENED) - before:
        close_paper(path)


@pytest.fixture
def shelf_as_before():
    """Papers that a test opens are closed after it."""
    load_statements()
    before = set(STATEMENTS)
    yield
    for path in list(_OPENED):
        close_paper(path)
    assert set(STATEMENTS) == before
