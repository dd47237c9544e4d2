"""Somebody's repository with a suite of asv's, and ways to spoil what is in it.

What is spoilt is spoilt after the commit, so that the two sides of the gate differ. Of a line of
`fuzz_options` the parts that begin with "@" are files: "@NAME=" and the text, as a JSON string with
a character for every byte.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from random import Random

from .mutations import NUMBERS, parts, spoil_bytes

_COUNTS = "import pack\n\n\ndef track_words():\n    return pack.WORDS\n"
_FILES = {
    "asv.conf.json": '{"benchmark_dir": "perf"}',
    "pack.py": "WORDS = 3\n",
    "perf/__init__.py": "",
    "perf/BASE": "# the one before\nHEAD\n",
    "perf/counts.py": _COUNTS,
}

#: What a benchmark may return that is not just a number.
VALUES = parts("""
None|'text'|'3'|b'3'|[3]|{}|1j|object()|print|True|-0.0|float('nan')|float('inf')|-1e999
5e-324|10**400|2**53 + 1|-(2**63)|__import__('fractions').Fraction(1, 3)
__import__('decimal').Decimal('sNaN')
'\\x1b[2J'|'\\ud800'|'\\n' * 9|'x' * 9999|type('', (), {})()
""")
#: What it may do besides, or a suite when it is imported.
DEEDS = parts("""
os.system('echo raw')|os.write(1, b'raw')|os.write(1, b'\\xff\\n{}\\n')|print()|os.close(1)
os.close(0)|os.close(2)|sys.stdin.read()|input()|os._exit(3)|sys.exit('over')|sys.stdout.close()
1 / 0|pack.none|raise ValueError('\\x1b[2J' + 9999 * 'x\\n')
raise KeyboardInterrupt|raise NotImplementedError
print('{}', flush=True)|os.system('cat')|sys.stdout.write('\\udc80')|sys.setrecursionlimit(9)
""")
#: Pieces of an entry of GATED, and what may stand for all of it.
_NAMES = parts("""
'track_words'|'track_none'|'foo_x'|''|'track'|'A.track_x'|3|None|'Track_words'|'track_words.x'
'track_words-0'|'track_words-x'|'\\x1b[2J_'
""")
_PARAMETERS = parts("""
[]|[]|[[1]]|[[1], ['a', None]]|[3]|['ab']|'ab'|[[]]|{}|[[b'x']]|[[1j]]|[[...]]|[{1, 2}]|[[1e999]]
[[(1, 2)]]|[[{}]]|None|()|[f()]|[['\\ud800']]|[[[[[]]]]]
""")
_BETTER = ["", "", "'lower'", "'higher'", "'same'", "'bad'", "None", "[]", "''", "'lower', 1"]
_WHOLE = parts("3|None|()|{}|[*x]|'ab'|x = []|[(,)]|f()|[] + []|[[]]")


#: What may follow --build; nothing of it does anything.
BUILDS = ["", " ", "a\0b", "\udc80", "\ud800", "true\ttrue", "x" * 5000]
BUILDS += parts("""
true|false|a'b|a"|a\\|#|no-such-program|.|-|'true|pack.py|perf|./none|'' x|printf '\\377'
sh -c 'printf "\\377" >&2; exit 3'|sh -c 'exit 300'|sh -c 'kill -9 $$'|printf '\\033[2J'
sh -c 'printf "\\033[2J" >&2; exit 1'
""")


def make(folder: Path, spoilt: list[str]) -> None:
    """The repository, with one commit, and what was changed since."""
    for name, text in _FILES.items():
        _write(folder / name, text.encode())
    me = ["-c", "user.name=me", "-c", "user.email=me@example.org"]
    for words in (["init", "-q"], ["add", "."], [*me, "commit", "-qm", "first"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    for part in spoilt:
        name, _, text = part.removeprefix("@").partition("=")
        _write(folder / name, json.loads(text).encode("latin-1"))


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def spoilt(rng: Random) -> str:
    """Another text for one of the files."""
    kind = rng.randrange(6)
    if kind == 0:
        name, content = "pack.py", f"WORDS = {rng.choice(VALUES)}\n".encode()
    elif kind <= 2:
        name, content = "perf/counts.py", _doing(rng).encode()
    elif kind == 3:
        name = rng.choice(["perf/counts.py", "perf/more.py"])
        content = (_COUNTS + _gated(rng)).encode()
    else:
        name = rng.choice(["perf/counts.py", "perf/BASE", "asv.conf.json", "perf/more.py"])
        content = (_FILES.get(name) or _COUNTS + _gated(rng)).encode()
        for _ in range(rng.choice([1, 1, 2, 4])):
            content = spoil_bytes(content, rng)
    return f"@{name}={json.dumps(content.decode('latin-1'))}"


def _doing(rng: Random) -> str:
    """A suite that does more than to count: when it is imported, set up or run."""
    deed, value = (
        rng.choice(DEEDS),
        rng.choice([*VALUES, *NUMBERS, *["pack.WORDS"] * 20]),
    )
    head = "import os\nimport sys\nimport pack\n"
    place = rng.randrange(3)
    if place == 0:
        return f"{head}{deed}\ndef track_words():\n    return {value}\n"
    if place == 1:
        return f"{head}def setup():\n    {deed}\ndef track_words():\n    return {value}\n"
    return f"{head}def track_words():\n    {deed}\n    return {value}\n"


def _gated(rng: Random) -> str:
    """An assignment to GATED with some entries, or with something else."""
    if rng.random() < 0.2:
        return f"GATED = {rng.choice(_WHOLE)}\n"
    entries = ", ".join(_entry(rng) for _ in range(rng.choice([1, 1, 2])))
    return f"{rng.choice(['GATED', 'GATED: list', 'x = GATED'])} = [{entries}]\n"


def _entry(rng: Random) -> str:
    # Most of an entry is right, so that the first fault does not hide the others.
    names = [*_NAMES, *["'track_words'"] * 12]
    parameters = [*_PARAMETERS, "[[0x1" + "0" * 4000 + "]]", *["[]"] * 12]
    parts = (rng.choice(names), rng.choice(parameters), rng.choice(_BETTER))
    return f"({', '.join(filter(None, parts))})"
