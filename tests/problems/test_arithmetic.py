"""Where doubles are not what the error bounds assume, nothing is proved, and that is said."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from gammabar.problems.problem import require_doubles

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or sys.platform != "linux", reason="the C library of one system"
)

# What a library compiled with -ffast-math does when it is loaded, and what fesetround does.
ENVIRONMENT = """
import ctypes
LIBRARY = ctypes.CDLL("libm.so.6")
def flush(bits):
    state = (ctypes.c_uint32 * 16)()
    LIBRARY.fegetenv(state)
    state[7] |= bits  # the register MXCSR
    LIBRARY.fesetenv(state)
def turn(direction):
    LIBRARY.fesetround(direction)
"""
ASK = """
import sys
import gammabar as gb
from gammabar.solvers import DualAcceleration
problem = gb.from_arrays([[1.0, 2.0], [2.0, -1.0]], [1, -1])
class Late(DualAcceleration):
    def iterates(self, problem, rng=None):
        for it in super().iterates(problem):
            if it.t == 5:
                CHANGE
            yield it
def said(what):
    try:
        what()
        return "an answer"
    except gb.ProblemError as error:
        return str(error)
"""
CHANGES = [
    "flush(0x8000)",
    "flush(0x40)",
    "flush(0x8040)",
    *map("turn({})".format, (1024, 2048, 3072)),
]


def answers(change: str, asked: str) -> list[str]:
    code = ENVIRONMENT + ASK.replace("CHANGE", change) + asked
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


def test_here_all_is_well():
    require_doubles()


@pytest.mark.parametrize("change", CHANGES)
def test_other_doubles_prove_nothing(change):
    asked = f"""
first = [said(lambda: gb.solve(problem)), said(lambda: gb.verify(Late(), problem, "gb.sharp"))]
print(first[0]); print(first[1])
{change}
for what in (lambda: gb.solve(problem), lambda: gb.separation(problem),
             lambda: gb.verify("dual-acceleration", problem, "gb.sharp")):
    print(said(what))
"""
    before, during, *after = answers(change, asked)
    assert before == "an answer"
    assert len(after) == 3
    assert all("nothing can be proved" in text for text in (during, *after))
