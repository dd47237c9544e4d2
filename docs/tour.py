"""Executes docs/tour.ipynb and writes what its cells show: ``python docs/tour.py [FILE]``.

Jupyter is not needed. A test executes the notebook again and compares.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).with_name("tour.ipynb")


def execute(notebook: dict[str, Any]) -> None:
    """Run the code cells from top to bottom in one namespace; their outputs are replaced."""
    space: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, start=1):
        cell["execution_count"] = number
        cell["outputs"] = _run("".join(cell["source"]), number, space)


def _run(source: str, number: int, space: dict[str, Any]) -> list[dict[str, Any]]:
    """What a cell prints, and the value of its last line, if that is an expression."""
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(ast.Module(body, []), "tour", "exec"), space)
        value = None
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "tour", "eval"), space)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(keepends=True)
        result = {"output_type": "execute_result", "execution_count": number, "metadata": {}}
        outputs.append(result | {"data": data})
    return outputs


if __name__ == "__main__":
    document = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    execute(document)
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    Path(*(sys.argv[1:] or [NOTEBOOK])).write_text(text, encoding="utf-8")
