"""The alarm of a run's time limit."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from gammabar.harness.run import engine as limits
from gammabar.harness.run.processes import OutOfTime

#: A loop that lasts until an alarm has come, in a file of somebody.
LOOP = """
def loop(rung):
    while not rung():
        pass
"""


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "GRACE", 0.1)


@pytest.mark.parametrize("folder", ["llvmlite", "elsewhere"])
def test_nothing_is_raised_within_the_compiler(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    alarms: list[int] = []
    walk = limits.traceback.walk_stack

    def counted(frame: object) -> object:
        alarms.append(1)
        return walk(frame)  # type: ignore[arg-type]

    monkeypatch.setattr(limits.traceback, "walk_stack", counted)
    names: dict[str, object] = {}
    exec(compile(LOOP, str(Path(folder) / "binding.py"), "exec"), names)
    left = False
    with pytest.raises(OutOfTime), limits.time_limit(0.05, "my.py"):
        names["loop"](lambda: len(alarms) >= 2)  # type: ignore[operator]
        left = True
        for _ in count():
            pass
    assert left == (folder == "llvmlite")
