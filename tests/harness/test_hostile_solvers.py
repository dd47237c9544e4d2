"""Solvers that do not play fair: whatever they do, they get no better verdict than they earn."""

from __future__ import annotations

import contextlib
import time

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gammabar.harness.run.pool import Pool
from gammabar.harness.run.sandbox import (
    _decode as decode,
    _encode as encode,
    _NoMessage as NoMessage,
    _sendable as sendable,
)
from gammabar.harness.run.tasks import InFile, Run, Task
from gammabar.harness.verify.iterate import Fault

PROBLEM = "planted:n=30,d=4,gamma=0.1,seed=0"

#: A wrong solver, whose iterates are refuted, and what it does to be acquitted.
CODE = '''
import atexit, ctypes, gc, json, os, signal, subprocess, sys, threading, time
import numpy as np
from itertools import islice
from gammabar.solvers import DualAcceleration, Iterate
import gammabar.problems, gammabar.solvers

VERDICT = {"statement": "gb.sharp", "verdict": "holds", "checked": 40, "failure": ""}
FAKE = {"verdicts": [VERDICT], "seconds": 0.1}


class Wrong:
    when = 1

    def act(self, problem, it):
        pass

    def iterates(self, problem, rng):
        for it in DualAcceleration().iterates(problem, rng):
            if it.t == self.when:
                self.act(problem, it)
            yield Iterate(it.t, -it.w)


def root(array):
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


class WritesTheData(Wrong):
    """Its iterates are right for the data that it leaves."""
    def iterates(self, problem, rng):
        told = list(islice(super().iterates(problem, rng), 60))
        X = root(problem.points.X)
        X.flags.writeable = True
        X *= -1
        yield from told


class WritesAllArrays(Wrong):
    def act(self, problem, it):
        for array in [a for a in gc.get_objects() if isinstance(a, np.ndarray)]:
            try:
                array.flags.writeable = True
                array[...] = 0
            except Exception:
                pass


class WritesToAllPipes(Wrong):
    def act(self, problem, it):
        for fd in range(3, 64):
            try:
                os.write(fd, json.dumps(FAKE).encode() + b"\\n")
            except OSError:
                pass


class WritesToAllPipesAndLeaves(WritesToAllPipes):
    def act(self, problem, it):
        super().act(problem, it)
        os._exit(0)


class RepeatsMessages(Wrong):
    def act(self, problem, it):
        from gammabar.harness.run.sandbox import _encode as encode
        for fd in range(3, 64):
            try:
                os.write(fd, encode({"end": True}) + encode({"stopped": 1}))
            except OSError:
                pass


class ClosesPipes(Wrong):
    def act(self, problem, it):
        os.closerange(3, 64)


class PatchesTheCourt(Wrong):
    def act(self, problem, it):
        for name, module in list(sys.modules.items()):
            if name.startswith("gammabar"):
                ours = ("check_run", "check_statement", "perform", "certain", "at_most", "encode")
                for attribute in ours:
                    if hasattr(module, attribute):
                        setattr(module, attribute, lambda *a, **k: None)
        try:
            from gammabar.harness.verify import evaluate, relation
            relation.Relation.certain = lambda self: True
            relation.Relation.decide = lambda self, *allowed: relation.HOLDS
            held = lambda self, *_: evaluate.Verdict(self.statement, "holds")
            evaluate.Tally.verdict = held
        except Exception:
            pass


class PatchesTheProblem(Wrong):
    when = 0
    def act(self, problem, it):
        kind = type(problem)
        kind.scores = lambda self, w: np.ones(self.n)
        kind.norm = lambda self, w: 1e-9
        problem.scores = lambda w: np.ones(problem.n)


class LiesAboutAnswers(Wrong):
    def iterates(self, problem, rng):
        for it in super().iterates(problem, rng):
            for thing in gc.get_objects():
                if type(thing).__name__ == "ObservedProblem":
                    for notes in (thing._soft, thing._scores):
                        for point, answer in notes:
                            point[...] = it.w
            yield it


class LeavesThreads(Wrong):
    def act(self, problem, it):
        def shout():
            while True:
                for fd in range(3, 64):
                    try:
                        os.write(fd, json.dumps(FAKE).encode() + b"\\n")
                    except OSError:
                        pass
        threading.Thread(target=shout, daemon=False).start()


class AtExit(Wrong):
    def act(self, problem, it):
        atexit.register(lambda: print(json.dumps(FAKE)))
        sys.exit(0)


class HandlesSignals(Wrong):
    def act(self, problem, it):
        for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGALRM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 1e-3, 1e-3)


class KillsTheJudge(Wrong):
    def act(self, problem, it):
        os.kill(os.getppid(), signal.SIGKILL)


class TakesTheStream(Wrong):
    def act(self, problem, it):
        print(json.dumps(FAKE))
        os.write(1, json.dumps(FAKE).encode() + b"\\n")
        sys.__stdout__.write(json.dumps(FAKE) + "\\n")
        sys.__stdout__.flush()


class ClaimsMuch(Wrong):
    def iterates(self, problem, rng):
        from gammabar.problems import SoftMin
        fine = SoftMin(1.0, 0.0, np.ones(problem.dimension), np.ones(problem.n))
        for it in super().iterates(problem, rng):
            yield Iterate(it.t, it.w, problem, soft=fine, dual=np.ones(problem.n) / problem.n,
                          computed=np.ones(problem.n), extra={"scores": np.ones(problem.n)})


class Forks(Wrong):
    """Leaves a daemon: another session, and its parent is gone."""
    def act(self, problem, it):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                sleep = "import time; time.sleep(999)"
                os.execv(sys.executable, [sys.executable, "-c", sleep, MARK])
            os._exit(0)


class ForksWithoutEnd(Wrong):
    def act(self, problem, it):
        for _ in range(5):
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(999)", MARK],
                             start_new_session=True)


class GoesOnTwice(Wrong):
    """Two processes write iterates to one pipe."""
    def act(self, problem, it):
        os.fork()


class HangsWithChildren(ForksWithoutEnd):
    def act(self, problem, it):
        super().act(problem, it)
        time.sleep(1e6)
'''

NAMES = [
    line.split("(")[0].removeprefix("class ")
    for line in CODE.splitlines()
    if line.startswith("class ") and "(" in line
]


def task(name: str, mark: str = "mark", limit: float = 60.0) -> Task:
    code = CODE.replace("MARK", repr(mark))
    run = Run(PROBLEM, InFile(f"my.py:{name}", code), 40, unit=True)
    return Task(run, ("gb.sharp",), ("holds",), planned=False, limit=limit)


@pytest.fixture(scope="module")
def crew():
    with Pool() as crew:
        yield crew


@pytest.mark.full
@pytest.mark.parametrize("name", [n for n in NAMES if n != "HangsWithChildren"])
def test_nothing_that_a_solver_does_gets_it_acquitted(crew, name):
    (verdict,) = crew.perform(task(name)).verdicts
    assert verdict.verdict in ("refuted", "undecided"), verdict
    if verdict.verdict == "undecided":
        assert verdict.failure, verdict
    honest = Task(
        Run(PROBLEM, InFile("good.py:DualAcceleration", HONEST), 40, unit=True),
        ("gb.sharp",),
        ("holds",),
    )
    (verdict,) = crew.perform(honest).verdicts  # the next one is not harmed
    assert (verdict.verdict, verdict.checked) == ("holds", 40)


HONEST = "from gammabar.solvers import DualAcceleration\n"


@pytest.mark.full
@pytest.mark.parametrize("name", ["Forks", "ForksWithoutEnd", "HangsWithChildren"])
def test_no_process_is_left(name):
    import psutil

    mark = f"gammabar-orphan-{name}-{time.time_ns()}"

    def marked():
        found = []
        for process in psutil.process_iter():
            try:
                if mark in process.cmdline():
                    found.append(process)
            except psutil.Error:
                continue
        return found

    with Pool() as crew:
        limit = 3.0 if name == "HangsWithChildren" else 60.0
        (verdict,) = crew.perform(task(name, mark, limit)).verdicts
        assert verdict.verdict in ("refuted", "undecided")
        if name == "Forks":
            assert not marked()  # not even for the rest of the session
    assert not marked()


# what travels


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.fractions(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(VALUES)
def test_values_survive_the_journey(value):
    assert decode(encode({"x": value})) == {"x": value}


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "u1", "?", "c16", ">f8", "g"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0), (2, 3)])
def test_arrays_survive_the_journey(dtype, shape):
    array = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    found = decode(encode({"w": array, "v": array.T}))
    for name, sent in (("w", array), ("v", array.T)):
        assert found[name].dtype == sent.dtype
        assert found[name].shape == sent.shape
        assert (found[name] == sent).all()


@pytest.mark.parametrize("value", [object(), [1 << 20_000], np.array([object()]), {1: {2j}}])
def test_what_cannot_be_sent_is_known(value):
    assert not sendable(value)
    with pytest.raises(Fault, match="masked"):
        sendable(np.ma.MaskedArray([1.0, 2.0], [True, False]))


MESSAGE = encode({"t": 3, "w": np.arange(4.0), "extra": {"mu": np.ones((2, 2)), "halt": None}})


@settings(max_examples=1000, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(MESSAGE) - 1), st.integers(0, 255)), max_size=6),
    st.integers(0, len(MESSAGE)),
)
def test_damaged_messages_are_refused_or_are_messages(changes, cut):
    data = bytearray(MESSAGE)
    for place, byte in changes:
        data[place] = byte
    with contextlib.suppress(NoMessage):
        assert isinstance(decode(bytes(data[:cut])), dict)


@pytest.mark.parametrize(
    "line",
    [
        *("", "{", "[1]", "7", "[" * 100_000, "\xff"),
        *('{"\\u0000fraction": [1, 0]}', '{"\\u0000fraction": [1]}', '{"\\u0000fraction": 5}'),
        *(
            f'{{"w": {{"\\u0000array": {array}}}}}'
            for array in ("1", "[]", '["<f8", [2], ""]', '["<f8", [-1], ""]', '["f8,f8", [0], ""]')
        ),
    ],
)
def test_documents_that_are_no_messages(line):
    with pytest.raises(NoMessage):
        decode(line.encode("latin-1"))
