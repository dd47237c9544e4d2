"""Settings of the whole suite, and fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A deadline is an assertion on elapsed time: the first call of a compiled kernel or a busy machine
# would fail it. Continuous integration draws the same examples every time; elsewhere new ones.
settings.register_profile(
    "gammabar",
    deadline=None,
    derandomize="CI" in os.environ,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("gammabar")


@pytest.fixture(autouse=True)
def _any_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts are not wrapped, whatever the width of the terminal that the tests run in."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def shared_data() -> Path:
    """The folder with the full data sets, which GAMMABAR_DATA names.

    On a developer's machine a test that needs them is skipped where they are missing; in
    continuous integration that would hide a hole in the tests, so there it fails.
    """
    named = os.environ.get("GAMMABAR_DATA")
    if named and (Path(named) / "mnist").is_dir():
        return Path(named)
    reason = "set GAMMABAR_DATA to the folder with the full data sets"
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(reason)
    pytest.skip(reason)
