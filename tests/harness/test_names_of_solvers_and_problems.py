"""Problems, solvers and files of users as texts: what they mean, and what is said if nothing."""

from __future__ import annotations

import pytest

from gammabar.harness.run.tasks import InFile, Registered, open_solver, reference
from gammabar.harness.run.user_files import read_solver
from gammabar.problems import KernelProblem, MulticlassProblem, ProblemError
from gammabar.problems.specs import open_problem, problem_text, split_problem

# problems


def test_problems_with_what_may_follow_them(tmp_path):
    assert open_problem("iris:0,1").n == 100
    kernel = open_problem("iris:0,1 --kernel rbf:gamma=2 --normalised")
    assert isinstance(kernel, KernelProblem)
    assert kernel.normalised
    assert kernel.kernel.gamma == 2
    assert isinstance(open_problem("iris --multiclass"), MulticlassProblem)
    assert open_problem("iris:0,1 --kernel=linear").n == 100
    file = tmp_path / "two words.csv"
    file.write_text("a,b,c\n1,2,-1\n3,1,1\n")
    text = problem_text(str(file), label="c")
    assert open_problem(text).n == 2
    assert split_problem(text) == (str(file), {"label": "c"})


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("iris:0,1 --norm l1", "--norm"),
        ("iris:0,1 kernel", "kernel"),
        ("iris:0,1 --kernel", "needs a value"),
        ("iris:0,1 --normalised", "needs --kernel"),
        ("iris --kernel linear --multiclass", "cannot be combined"),
        ("iris:0,1 'open", "quotation"),
        ("nosuch:0,1 --multiclass", "nosuch"),
        ("", "empty"),
    ],
)
def test_bad_problems(text, place):
    with pytest.raises(ProblemError) as refused:
        open_problem(text)
    assert place in str(refused.value)
    assert "\n" not in str(refused.value)


# solvers


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("dual-acceleration:loss=logistic,step=0.5", {"loss": "logistic", "step": 0.5}),
        ("dual-acceleration: step = 2 , smoothness = none", {"step": 2.0, "smoothness": None}),
        ("dual-acceleration:smoothness=3", {"smoothness": 3.0}),
        ("adaptive-sampling:momentum=false", {"momentum": False}),
        ("adaptive-sampling:momentum=True", {"momentum": True}),
        ("sgd:horizon=7,indices=0,1,2,distance=2", {"horizon": 7, "indices": (0, 1, 2)}),
        ("snkpvn:q=0.5,0.5,delta=0.1", {"q": (0.5, 0.5), "delta": 0.1}),
        ("dual-acceleration-dual:mixing=0.5", {"mixing": 0.5}),
        ("dual-acceleration-dual:mixing=accelerated", {"mixing": "accelerated"}),
        (
            "kernel-ridge:kernel=poly:degree=2,coef0=1,regularisation=2",
            {"kernel": "poly:degree=2,coef0=1", "regularisation": 2.0},
        ),
    ],
)
def test_options_have_the_types_of_their_fields(text, values):
    opened = open_solver(text)
    for name, value in values.items():
        assert getattr(opened, name) == value
        assert type(getattr(opened, name)) is type(value)


def test_a_comma_within_a_value_belongs_to_it():
    solver = Registered("sgd:horizon=*,indices=0,1,2,distance=2")
    assert solver.options == {"horizon": "*", "indices": "0,1,2", "distance": "2"}
    assert (solver.free, solver.fixed.text) == (["horizon"], "sgd:indices=0,1,2,distance=2")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("dual-acelleration", "did you mean dual-acceleration?"),
        ("zzz", "gammabar list solvers"),
        ("dual-acceleration:stp=1", "did you mean step?"),
        ("dual-acceleration:colour=red", "there are step, loss, smoothness"),
        ("batch-perceptron:x=1", "it takes none"),
        ("dual-acceleration:step=fast", "step=fast is not a number"),
        ("dual-acceleration:step", "option=value"),
        ("dual-acceleration:step=1,step=2", "twice"),
        ("dual-acceleration:step=-1", "step"),
        ("adaptive-sampling:momentum=maybe", "true or false"),
        ("sgd:horizon=2.5", "an integer"),
        ("sgd:indices=1,x", "a list of numbers or none"),
        ("adaboost:learner=stump", "cannot be given as a text"),
    ],
)
def test_bad_solvers(text, place):
    with pytest.raises(ProblemError) as refused:
        open_solver(text)
    assert place in str(refused.value)


# files of users

GOOD = """
from __future__ import annotations
from dataclasses import dataclass
from gammabar.solvers import Iterate

@dataclass(frozen=True)
class Mine:
    step: float = 1.0
    def iterates(self, problem, rng=None):
        yield Iterate(0, problem.origin())
"""


def test_a_solver_of_a_user(tmp_path):
    path = tmp_path / "my.py"
    code = GOOD.replace("1.0", "neighbour.STEP")
    path.write_text(code.replace("from dataclasses", "import neighbour\nfrom dataclasses"))
    (tmp_path / "neighbour.py").write_text("STEP = 3.5\n")
    assert read_solver(f"{path}:Mine").open().step == 3.5
    assert InFile("elsewhere/my.py:Mine", GOOD).open().step == 1.0  # its text is enough


@pytest.mark.parametrize(
    ("code", "name", "place"),
    [
        ("def f(:\n", "Mine", "my.py, line 1:"),
        ("x = 1\n\ny = 1/0\n", "Mine", "my.py, line 3: ZeroDivisionError"),
        ("raise SystemExit('no')\n", "Mine", "line 1: SystemExit: no"),
        (GOOD, "Mnie", "did you mean Mine?"),
        ("class Mine: pass\n", "Mine", "no method iterates"),
        (GOOD.replace(" = 1.0", ""), "Mine", "must work without arguments"),
        (GOOD.replace(", rng=None", ""), "Mine", "def iterates(self, problem, rng)"),
        ("class Mine:\n    x = '\0'\n", "Mine", "null"),
    ],
)
def test_bad_files_of_users(tmp_path, code, name, place):
    path = tmp_path / "my.py"
    path.write_text(code)
    with pytest.raises(ProblemError) as refused:
        read_solver(f"{path}:{name}").open()
    assert place in str(refused.value)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "file", "made", "options"),
    [
        ("my.py:Mine", "my.py", "Mine", ""),
        ("my.py:Mine:kernel=rbf:gamma=1", "my.py", "Mine", "kernel=rbf:gamma=1"),
        ("a:b/c.py:Größe", "a:b/c.py", "Größe", ""),
        ("a\nb.py:Mine", "a\nb.py", "Mine", ""),
    ],
)
def test_references_to_files(text, file, made, options):
    found = reference(text)
    assert isinstance(found, InFile)
    assert found.parts == (file, made, options)
    assert (found.foreign, found.name, found.text) == (True, "", text)


ATTRIBUTES = """
from gammabar.solvers import Iterate
from typing import ClassVar
class Mine:
    step: float = 1.0
    loss: str = "none"
    card: ClassVar[int] = 3
    def iterates(self, problem, rng): ...
class Made:
    def __init__(self, step=1, *, loss="none", size: int = 3, wild=None):
        self.step, self.loss, self.size, self.wild = step, loss, size, wild
    def iterates(self, problem, rng): ...
"""


def test_options_of_a_users_solver():
    assert InFile("my.py:Mine:step=2.5", GOOD).open().step == 2.5
    assert InFile("my.py:Mine:step=2,loss=log", ATTRIBUTES).open().__dict__ == {
        "step": 2.0,
        "loss": "log",
    }
    assert InFile("my.py:Made:step=0.5,loss=log,size=7,wild=x", ATTRIBUTES).open().__dict__ == {
        "step": 0.5,
        "loss": "log",
        "size": 7,
        "wild": "x",
    }
    for options, place in [
        ("stp=1", "did you mean step?"),
        ("step=fast", "step=fast is not a number"),
        ("step", "option=value"),
        ("card=4", "no option 'card'"),
    ]:
        with pytest.raises(ProblemError, match=place.replace("?", r"\?")):
            InFile(f"my.py:Mine:{options}", ATTRIBUTES).open()
