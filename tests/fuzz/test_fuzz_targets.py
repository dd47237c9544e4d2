"""A few hundred inputs of every fuzzing target, the same ones every time."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.driver import main, quick
from fuzz.target import Fault, Target, targets

#: Targets whose inputs are all to be read.
_TRUE = ("certify-sparse", "sentence")


#: Fewer of those that take their time: whole commands, and two certificates for each input.
_FEW = {"options": 100, "sentence": 100, "work": 40}
_NAMES = [pytest.param(n, marks=pytest.mark.slow if n == "work" else ()) for n in targets()]


@pytest.mark.full
@pytest.mark.parametrize("name", _NAMES)
def test_every_input_is_read_or_refused_with_a_sentence(name: str, tmp_path: Path) -> None:
    inputs = _FEW.get(name, 300)
    tally = quick(targets()[name], inputs, 0, tmp_path)
    assert not tally.faults
    assert tally.tried >= inputs
    assert tally.read >= len(targets()[name].seeds())
    assert tally.reasons or name in _TRUE, "no input was refused: too tame"


def _broken(path: Path) -> int:
    data = path.read_bytes()
    if b"x" in data:
        raise KeyError("a fault")
    if len(data) > 4:
        raise ValueError("two\nlines")
    while not data:
        pass
    return len(data)


@pytest.mark.parametrize(
    ("data", "said"), [(b"x", "KeyError"), (b"abcde", "control character"), (b"", "not done after")]
)
def test_a_fault_is_seen_saved_and_tried_again(
    data: bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def spoil(*_: object) -> bytes:
        return data

    target = Target("broken", lambda: [b"abc"], spoil, _broken, (ValueError,), seconds=0.1)
    tally = quick(target, 2, 0, tmp_path)
    assert len(tally.faults) == 1
    assert said in capsys.readouterr().out
    (saved,) = tally.faults.values()
    assert saved.read_bytes() == data
    with pytest.raises(Fault, match=said):
        target.attempt(saved)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["csv", "--inputs", "50", "--seed", "1", "--keep", str(tmp_path)]
    assert main(arguments) == 0
    assert "no fault" in capsys.readouterr().out
    path = tmp_path / "some.csv"
    path.write_text("1,2\n0,nan\n")
    assert main(["csv", "--input", str(path)]) == 0
    assert capsys.readouterr().out.startswith("refused: ")
