"""Disturb commands at random moments: ``python -m tests.kills --trials 100 --dask 10``.

A run of ``verify`` that is killed, interrupted, finds the disk full or shares its store with a run
that is killed must go on with ``--resume`` to the results of an undisturbed run. Every command that
is interrupted, or loses a worker or the scheduler of its Dask cluster, must give the right answer
or one sentence, never a traceback.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

GAMMABAR = [sys.executable, "-m", "gammabar"]
DASK = [sys.executable, "-m", "dask"]
PROBLEMS = ["iris:0,1", *(f"planted:n=200,d=10,gamma=0.1,seed={k}" for k in range(4))]
VERIFY = ["verify", "--statement", "jst.thm3.1.1", "--statement", "gb.sharp", "--json"]
VERIFY += ["--iterations", "500", *(word for name in PROBLEMS for word in ("--problem", name))]
#: What differs between two right runs.
CLOCK = {"seconds"}


#: Other commands that are interrupted.
OTHERS = [
    ["oracle", "planted:n=1000,d=50,gamma=0.01", "--json"],
    ["oracle", "inseparable:n=200,d=10", "--separation", "--json"],
    ["falsify", "--source", "jst", "--budget", "5"],
    ["reproduce", "jst.fig1", "--quick", "--fresh", "--out", "build/kills"],
    ["list", "mutants"],
]


def start(arguments: list[str], prefix: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Start a command of gammabar, by another program where one is named."""
    return subprocess.Popen(
        [*prefix, *GAMMABAR, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that starts this program in the background lets its children ignore SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def wait(process: subprocess.Popen[str], moment: float) -> None:
    """Wait until the process ends, but not longer than until this moment."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(moment)


def answer(text: str) -> Any:
    """What a command printed as JSON, without times."""
    results = json.loads(text).get("results", json.loads(text))
    rows = results if isinstance(results, list) else [results]
    plain = ({name: value for name, value in row.items() if name not in CLOCK} for row in rows)
    return sorted(json.dumps(row, sort_keys=True) for row in plain)


#: What may happen to a run that writes into a store.
DISTURBANCES = ("killed", "interrupted", "killed beside another", "on a full disk")
#: A file system in memory, whose files are copied to another folder at the end.
SMALL_DISK = """
mount -t tmpfs -o size=$1k tmpfs "$2/disk" || exit 99
disk=$2/disk kept=$2/kept; shift 2
"$@"; code=$?
cp "$disk"/* "$kept"; exit $code
"""


def disturb(how: str, command: list[str], folder: Path, moment: float, size: int) -> str:
    """Run a command that is disturbed; what it says."""
    if how == "on a full disk":
        script = ("unshare", "-rm", "sh", "-c", SMALL_DISK, "sh", str(size), str(folder))
        process = start(command, script)
        said = process.communicate()[1]
        if process.returncode == 99:
            raise SystemExit(f"no file system in memory can be made here: {said}")
        for path in (folder / "kept").iterdir():
            path.rename(folder / "disk" / path.name)
        return said
    process, *others = [start(command) for _ in range(1 + how.endswith("another"))]
    wait(process, moment)
    process.send_signal(signal.SIGINT if how == "interrupted" else signal.SIGKILL)
    said = "".join(one.communicate()[1] for one in (process, *others))
    wrong = [one.returncode for one in others if one.returncode]
    return f"Traceback: exit codes {wrong} of the other; {said}" if wrong else said


def faulty(said: str) -> bool:
    """Whether more than a sentence was said; before our first line, Python itself says more."""
    ours = "Traceback" in said and ("/harness/" in said or "exit codes" in said)
    return ours or "I/O error" in said


def resumed(trials: int, how: str, rng: random.Random) -> Iterator[str]:
    """Disturb a run at random moments, let it go on, and yield what is wrong then."""
    began = time.monotonic()
    truth = answer(start(VERIFY).communicate()[0])
    whole = time.monotonic() - began
    for trial in range(trials):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("disk", "kept"):
                Path(folder, name).mkdir()
            command = [*VERIFY, "--store", f"{folder}/disk/s.sqlite", "--resume"]
            moment, size = rng.uniform(0, 1.2 * whole), rng.randrange(16, 200, 4)
            said = disturb(how, command, Path(folder), moment, size)
            again = start(command)
            out, more = again.communicate()
        name = f"{trial + 1} of {trials} {how}, after {moment:.2f} of {whole:.2f} s, {size} kB"
        print(f"{name}: {' '.join(said.splitlines()[-1:])}", flush=True)
        if faulty(said) or "Traceback" in more:
            yield f"{name}: {said}{more}"
        elif again.returncode != 0 or answer(out) != truth:
            yield f"{name}: other results; {more}"


def others(trials: int, rng: random.Random) -> Iterator[str]:
    """Interrupt other commands at random moments, and yield what is wrong then."""
    lasting = {}
    for number, command in enumerate(OTHERS):
        began = time.monotonic()
        start(command).communicate()
        lasting[number] = time.monotonic() - began
    for trial in range(trials):
        number = trial % len(OTHERS)
        moment = rng.uniform(0, 1.1 * lasting[number])
        process = start(OTHERS[number])
        wait(process, moment)
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1]
        name = f"{' '.join(OTHERS[number])}, interrupted after {moment:.2f} s"
        print(f"{name}: exit code {process.returncode}", flush=True)
        ended = process.returncode in (0, 2, 130, -signal.SIGINT) or "Traceback" in said
        if faulty(said) or not ended:
            yield f"{name}: {said}"


@contextlib.contextmanager
def cluster(folder: str) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A Dask cluster on this machine: its address, and its processes (the scheduler first)."""
    place = Path(folder, "scheduler.json")
    common = ["--scheduler-file", str(place), "--no-dashboard"]
    # The workers run the code of this folder, whatever is installed.
    environment = os.environ | {"PYTHONPATH": os.getcwd()}
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    quiet |= {"cwd": folder, "env": environment}
    host = ["--host", "127.0.0.1"]
    processes = [subprocess.Popen([*DASK, "scheduler", *host, "--port", "0", *common], **quiet)]
    while not place.exists():
        time.sleep(0.1)
    worker = [*DASK, "worker", *host, "--no-nanny", "--nthreads", "1", *common]
    processes += [subprocess.Popen(worker, **quiet) for _ in range(2)]
    time.sleep(3)
    try:
        yield json.loads(place.read_text(encoding="utf-8"))["address"], processes
    finally:
        for process in processes:
            process.kill()
            process.wait()
        place.unlink()


def on_cluster(trials: int, rng: random.Random) -> Iterator[str]:
    """Kill a worker or the scheduler while a command runs, and yield what is wrong then."""
    with tempfile.TemporaryDirectory() as folder:
        table = np.random.default_rng(0).normal(size=(20_000, 30))
        np.save(f"{folder}/X.npy", table)
        np.save(f"{folder}/y.npy", np.sign(table @ np.ones(30)))
        oracle = ["oracle", f"{folder}/X.npy", "--labels", f"{folder}/y.npy", "--json"]
        truths, whole = {}, {}
        for command in (oracle, VERIFY):
            truths[command[0]] = answer(start(command).communicate()[0])
            with cluster(folder) as (address, _):
                began = time.monotonic()
                start([*command, "--dask", address]).communicate()
                whole[command[0]] = time.monotonic() - began
        for command, victim in [(c, v) for c in (oracle, VERIFY) for v in (0, 1)] * trials:
            truth = truths[command[0]]
            with cluster(folder) as (address, processes):
                process = start([*command, "--dask", address])
                moment = rng.uniform(0.1, 1) * whole[command[0]]
                wait(process, moment)
                processes[victim].kill()
                out, said = process.communicate(timeout=300)
            name = f"{command[0]}, {('scheduler', 'worker')[victim]} killed after {moment:.2f} s"
            sentences = [line for line in said.splitlines() if line.startswith("gammabar: ")]
            print(f"{name}: exit code {process.returncode} {' '.join(sentences)}", flush=True)
            if "Traceback" in said or process.returncode not in (0, 2):
                yield f"{name}: {said}"
            elif process.returncode == 0 and _essence(answer(out)) != _essence(truth):
                yield f"{name}: another answer"


def _essence(rows: list[str]) -> list[Any]:
    """What does not depend on where the data were: verdicts and margins."""
    names = ("statement", "problem", "verdict", "separable", "gamma", "support_size")
    return sorted(str([json.loads(row).get(name) for name in names]) for row in rows)


def main() -> int:
    """Print the seed and what is wrong; 1 if anything is."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--dask", type=int, default=2)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print(f"seed {options.seed}")
    rng = random.Random(options.seed)
    few = -(-options.trials // 5)
    few = -(-options.trials // 5)
    searches = [resumed(options.trials if h == "killed" else few, h, rng) for h in DISTURBANCES]
    searches = [*searches, others(few, rng)] if options.trials else []
    searches += [on_cluster(options.dask, rng)] if options.dask else []
    faults = 0
    for fault in chain.from_iterable(searches):
        print(f"FAULT {fault}", flush=True)
        faults += 1
    print(f"{faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
