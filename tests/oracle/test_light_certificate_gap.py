"""A light certificate is rejected where a row outside its support may belong to the optimum."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from loaded_checker import checker

import gammabar as gb


@pytest.mark.parametrize(("third", "accepted"), [("0.9995", False), ("1.5", True)])
def test_a_row_within_the_error_of_w_is_not_left_out(tmp_path: Path, third: str, accepted: bool):
    """Rows (1, 1), (1, −1) and (third, 0), with weights 0.501 and 0.499 on the first two."""
    data, path = tmp_path / "rows.csv", tmp_path / "light.json"
    data.write_text(f"y,a,b\n1,1,1\n1,1,-1\n1,{third},0\n-1,-1.5,0\n")
    gb.solve(gb.load(str(data), label="y")).save(path)
    whole = json.loads(path.read_text())
    certificate = {name: whole[name] for name in ("format", "geometry", "data")}
    certificate |= {
        "version": 3,
        "kind": "support",
        "support": [0, 1],
        "weights": ["0x1f5", "0x1f3"],
    }
    certificate |= {"total": "0x3e8", "eigenvalue": "0x1/0x1"}
    path.write_text(json.dumps(certificate))
    if accepted:
        assert "the support is exactly these 2 rows" in checker.check(str(path), str(data))
    else:
        with pytest.raises(checker.Rejected, match="may belong to it"):
            checker.check(str(path), str(data))
