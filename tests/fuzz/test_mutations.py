"""Spoiling never fails, whatever there is to spoil."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from hypothesis import given, strategies as st

from tests.fuzz.mutations import spoil_json

numbers = st.one_of(st.integers(), st.integers(1, 4000).map(lambda k: -(10**k)), st.floats())
values = st.recursive(
    st.one_of(numbers, st.booleans(), st.none(), st.text()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
)


@given(st.one_of(numbers.map(lambda v: [v]), values), st.integers())
def test_any_json(value: Any, seed: int) -> None:
    rng, data = Random(seed), json.dumps(value).encode()
    spoilt = [spoil_json(spoil_json(data, rng), rng) for _ in range(20)]
    assert all(type(text) is bytes for text in spoilt)
    assert any(text != data for text in spoilt)
