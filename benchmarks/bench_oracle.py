"""The oracle: time and memory to a proof, and what is proved."""

from __future__ import annotations

from typing import Any

from .common import loaded, need

MNIST = ("mnist-sample:0,1", "mnist-sample:3,5")


class Proof:
    """γ̄² as a rational with its certificate, or the exact proof that there is no margin."""

    version = "1"
    params = (
        [
            "iris:0,1",
            "digits:3,8",
            "breast-cancer",
            "planted:n=2000,d=50,gamma=0.01,seed=1",
            "inseparable:n=500,d=20,seed=0",
        ],
    )
    param_names = ("problem",)

    def setup(self, name: str) -> None:
        self.problem = loaded(name)
        self.solve = need("oracle", "solve")

    def time_solve(self, name: str) -> None:
        self.solve(self.problem)

    def peakmem_solve(self, name: str) -> None:
        self.solve(self.problem)

    def track_support(self, name: str) -> int:
        return len(self.solve(self.problem).support)

    def track_rounds(self, name: str) -> int:
        return int(self.solve(self.problem).rounds)

    track_support.unit = "points"  # type: ignore[attr-defined]
    track_rounds.unit = "rounds"  # type: ignore[attr-defined]


class Digits:
    """The same on MNIST digits, which take longer to read than to solve."""

    version = "1"
    params = (MNIST,)
    param_names = ("problem",)

    def setup_cache(self) -> dict[str, Any]:
        problems = {name: loaded(name) for name in MNIST}
        return {name: (problem.X, problem.y) for name, problem in problems.items()}

    def setup(self, data: dict[str, Any], name: str) -> None:
        self.problem = need("problems", "from_arrays")(*data[name])
        self.solve = need("oracle", "solve")

    def time_solve(self, data: dict[str, Any], name: str) -> None:
        self.solve(self.problem)

    def peakmem_solve(self, data: dict[str, Any], name: str) -> None:
        self.solve(self.problem)

    def track_support(self, data: dict[str, Any], name: str) -> int:
        return len(self.solve(self.problem).support)

    track_support.unit = "points"  # type: ignore[attr-defined]


class Enclosure:
    """An RBF kernel: a proved enclosure, and how many digits it has."""

    version = "1"
    params = ([17, 50],)
    param_names = ("digits wanted",)

    def setup(self, digits: int) -> None:
        self.problem = need("problems", "load")("iris:0,1", kernel="rbf:gamma=0.1")
        self.solve = need("oracle", "solve")

    def time_enclose(self, digits: int) -> None:
        self.solve(self.problem, digits=digits)

    def track_digits_proved(self, digits: int) -> int:
        shown = self.solve(self.problem, digits=digits).digits(60)
        return len(shown.lstrip("0.").rstrip("…"))

    track_digits_proved.unit = "digits"  # type: ignore[attr-defined]


#: What the gate runs of this suite: see harness/gate/compare.py.
GATED = [
    ("Proof.time_solve", [["iris:0,1"]]),
    ("Proof.peakmem_solve", [["digits:3,8"]]),
    ("Proof.track_support", [["digits:3,8", "planted:n=2000,d=50,gamma=0.01,seed=1"]], "same"),
    ("Proof.track_rounds", [["breast-cancer"]]),
    ("Enclosure.track_digits_proved", [[50]], "higher"),
]
