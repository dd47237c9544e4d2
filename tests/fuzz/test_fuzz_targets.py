"""A few hundred inputs of every fuzzing target, the same ones every time."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from fuzz.mutations import spoil_json
from fuzz.target import Fault, Fuzzer, Target, main, targets

#: Fewer of those that take their time: whole commands.
_FEW = {"options": 100, "work": 40}
_NAMES = [pytest.param(n, marks=pytest.mark.slow if n == "work" else ()) for n in targets()]


@pytest.mark.full
@pytest.mark.parametrize("name", _NAMES)
def test_every_input_is_read_or_refused_with_a_sentence(name: str, tmp_path: Path) -> None:
    inputs = _FEW.get(name, 300)
    tally = Fuzzer(targets()[name], 0, tmp_path, tmp_path / "faults").run(inputs=inputs)
    assert not tally.faults
    assert tally.tried >= inputs
    assert tally.read >= len(targets()[name].seeds())
    assert tally.reasons, "no input was refused: too tame"


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
    broken = (lambda: [b"abc"], lambda *_: data, _broken, (ValueError,))
    target = Target("broken", *broken, seconds=0.1)
    tally = Fuzzer(target, 0, tmp_path, tmp_path / "faults").run(inputs=2)
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


numbers = st.one_of(st.integers(), st.integers(1, 4000).map(lambda k: -(10**k)), st.floats())
values = st.recursive(
    st.one_of(numbers, st.booleans(), st.none(), st.text()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
)


@given(st.one_of(numbers.map(lambda v: [v]), values), st.integers())
def test_spoiling_never_fails(value: Any, seed: int) -> None:
    rng, data = Random(seed), json.dumps(value).encode()
    spoilt = [spoil_json(spoil_json(data, rng), rng) for _ in range(20)]
    assert all(type(text) is bytes for text in spoilt)
    assert any(text != data for text in spoilt)
