"""Real data: each pair of classes separable or not, each with a certificate that is accepted."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import combinations

import pytest

from gammabar.harness.certificates import write_npz
from gammabar.oracle import solve
from gammabar.oracle.candidate import working_set
from gammabar.oracle.check import check
from gammabar.oracle.maximum_margin import prove
from gammabar.problems import load

SMALL = [f"digits:{a},{b}" for a, b in combinations(range(10), 2)]
SMALL += [f"{name}:{a},{b}" for name in ("iris", "wine") for a, b in combinations(range(3), 2)]
SMALL += ["breast-cancer"]
INSEPARABLE = {"iris:1,2"}


@pytest.mark.parametrize("data", SMALL)
def test_pairs_of_classes(data, tmp_path):
    problem = load(data)
    truth = solve(problem)
    assert truth.exact
    assert truth.separable == (data not in INSEPARABLE)
    truth.save(tmp_path / "c.json")
    assert check(tmp_path / "c.json", write_npz(problem, tmp_path / "data.npz"))


def test_a_margin_that_doubles_take_for_zero():
    """The breast cancer data are separable, by eight billionths of the radius.

    The compiled search takes that for zero, so that the proof has to go on from where it ended.
    """
    from gammabar.oracle._wolfe import minimum_norm

    problem = load("breast-cancer")
    repaired = prove(problem, working_set(problem, minimum_norm=minimum_norm))
    assert repaired.rounds > 1
    for truth in (repaired, solve(problem)):
        assert truth.separable
        assert truth.digits(17) == "8.1362945673437484e-9"


@pytest.mark.parametrize("data", ["digits:3,8", "wine:0,2", "iris:1,2"])
def test_cvxpy_candidates_are_proved_alike(data):
    problem = load(data)
    one, two = solve(problem), solve(problem, method="cvxpy")
    assert two.method == "cvxpy"
    assert one.gamma_squared == two.gamma_squared


@pytest.mark.full
@pytest.mark.parametrize(
    ("data", "folder", "digits", "support"),
    [
        ("mnist:0,1", "mnist", "0.021197093034766157683057966049686124455817065430394", 87),
        ("fashion:0,4", "fashion-mnist", "0.000741570708543320448926160631744", 549),
        ("mnist:3,5", "mnist", "0", None),
    ],
)
def test_full_image_data(shared_data, tmp_path, data, folder, digits, support):
    """Exact on more than ten thousand rows, and the checker reads the original files itself."""
    truth = solve(load(data))
    assert truth.exact
    assert truth.digits(len(digits.lstrip("0."))) == digits
    assert support is None or len(truth.support) == support
    truth.save(tmp_path / "c.json")
    assert json.loads((tmp_path / "c.json").read_text())["kind"] == (
        "margin" if truth.separable else "inseparable"
    )
    run = subprocess.run(
        [sys.executable, "-S", "oracle/check.py", tmp_path / "c.json", shared_data / folder],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
