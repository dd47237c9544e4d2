"""Settings of the whole suite, and fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A deadline is an assertion on elapsed time: the first call of a compiled kernel or a busy machine
# would fail it. `make test` draws the same examples on every machine. A random search is asked for
# with --hypothesis-seed (`make test-all` prints the seed it takes); failures stay in .hypothesis.
settings.register_profile(
    "gammabar",
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("random", settings.get_profile("gammabar"), derandomize=False)


#: A user's own settings of Git are not read: they may ask for signed commits.
os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
#: What Python writes is buffered, as it is for users: what is lost or fails late is noticed then.
os.environ.pop("PYTHONUNBUFFERED", None)


def pytest_configure(config: pytest.Config) -> None:
    """Choose the profile: random examples where a seed is given, and the same ones elsewhere."""
    seed = config.getoption("--hypothesis-seed", None)
    settings.load_profile("gammabar" if seed is None else "random")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse names with addresses in them: processes that share the tests would not agree."""
    for item in items:
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"{item.nodeid}: its name changes from run to run")


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
