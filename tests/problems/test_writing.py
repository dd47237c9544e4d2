"""Files are written whole or not at all, and nothing that is no file is replaced."""

from __future__ import annotations

import ast
import errno
import os
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gammabar.problems.output import check_writable, is_file, write_whole

ROOT = Path(__file__).resolve().parents[2]
AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="links and pipes of POSIX")


def device(path: Path) -> Path:
    """The device that is always full, in a folder of ours."""
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
        path.open("wb").close()
    except OSError:
        pytest.skip("only root makes devices, and not in every folder")
    return path


# --- what a name may stand for ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["out", "x" * 255])
def test_new_and_old_files(tmp_path, name):
    others = ["out.part", "out.1.part", ".out.part"]  # the unfinished file is nobody else's
    for other in others:
        (tmp_path / other).write_text("mine")
    for contents in ("first\r\n", "γ̄\n", b"\0\xff"):
        write_whole(tmp_path / name, contents)
        found = (tmp_path / name).read_bytes()
        assert found == (contents.encode() if isinstance(contents, str) else contents)
    assert sorted(os.listdir(tmp_path)) == sorted([name, *others])


@pytest.mark.parametrize("there", [True, False])
def test_links_go_on_pointing_to_where_they_did(tmp_path, there):
    (tmp_path / "far").mkdir()
    target, link, first = tmp_path / "far" / "x", tmp_path / "link", tmp_path / "first"
    if there:
        target.write_text("old")
    link.symlink_to(Path("far", "x"))
    first.symlink_to("link")
    write_whole(first, "new")
    assert first.is_symlink()
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert sorted(os.listdir(tmp_path)) == ["far", "first", "link"]
    assert os.listdir(tmp_path / "far") == ["x"]


@pytest.mark.parametrize("name", ["pipe", "link"])
def test_a_pipe_is_written_into(tmp_path, name):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    with ThreadPoolExecutor(1) as reader:
        got = reader.submit((tmp_path / "pipe").read_bytes)
        write_whole(tmp_path / name, "all of it")
        assert got.result(20) == b"all of it"
    assert stat.S_ISFIFO((tmp_path / "pipe").lstat().st_mode)
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe"]


def test_a_device_stays_one(tmp_path):
    full = device(tmp_path / "full")
    (tmp_path / "link").symlink_to("full")
    for path in (full, tmp_path / "link"):
        with pytest.raises(OSError, match="Errno") as refused:
            write_whole(path, "x")
        assert (refused.value.errno, refused.value.filename) == (errno.ENOSPC, str(path))
    assert stat.S_ISCHR(full.lstat().st_mode)
    assert sorted(os.listdir(tmp_path)) == ["full", "link"]


def in_another_process(code: str, path: Path, **options) -> subprocess.CompletedProcess[str]:
    begin = (
        "import os, resource, signal, sys\nfrom gammabar.problems.output import write_whole, whole"
    )
    command = [sys.executable, "-c", f"{begin}\n{code}", str(path)]
    return subprocess.run(command, text=True, check=False, **options)


def test_standard_output_that_is_a_file(tmp_path):
    """It is the shell's: replaced, what came before and after would be lost."""
    if not Path("/dev/stdout").exists():
        pytest.skip("no /dev/stdout")
    code = "print('before', flush=True); write_whole('/dev/stdout', ''); print('after')"
    out = tmp_path / "out"
    with out.open("a") as stream:
        assert in_another_process(code, out, stdout=stream).returncode == 0
        inode = os.fstat(stream.fileno()).st_ino
    assert out.stat().st_ino == inode
    assert out.read_text().endswith("after\n")


def test_permissions_are_kept_and_new_files_have_the_usual_ones(tmp_path):
    path = tmp_path / "out"
    before = os.umask(0o027)
    try:
        write_whole(path, "x")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o606)
        write_whole(path, "y")
        assert stat.S_IMODE(path.stat().st_mode) == 0o606
        if AS_ROOT:
            os.chown(path, 12, 34)
            write_whole(path, "z")
            assert (path.stat().st_uid, path.stat().st_gid) == (12, 34)
    finally:
        os.umask(before)


@pytest.mark.skipif(AS_ROOT, reason="root may write everywhere")
def test_what_may_not_be_written(tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir()
    kept = locked / "x"
    kept.write_text("old")
    locked.chmod(0o500)
    try:
        write_whole(kept, "new")  # no new file can be made there, but this one can be written
        assert kept.read_text() == "new"
        kept.chmod(0o400)
        for path in (kept, locked / "y"):
            with pytest.raises(PermissionError):
                write_whole(path, "z")
    finally:
        locked.chmod(0o700)
    assert kept.read_text() == "new"


@pytest.mark.parametrize("name", ["folder", "loop", "x" * 300, "none/x", "file/x", ""])
def test_what_cannot_be_written_is_named(tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("file").write_text("old")
    Path("loop").symlink_to("loop")
    for write in (lambda: write_whole(name, "x"), lambda: check_writable(name)):
        with pytest.raises(OSError, match="Errno") as refused:
            write()
        assert refused.value.filename == name
    assert sorted(os.listdir(tmp_path)) == ["file", "folder", "loop"]
    assert Path("file").read_text() == "old"


def test_asking_changes_nothing(tmp_path):
    path = tmp_path / "out"
    check_writable(path)
    assert not os.listdir(tmp_path)
    assert is_file(path)
    path.write_text("old")
    check_writable(path)
    os.mkfifo(tmp_path / "pipe")
    check_writable(tmp_path / "pipe")  # it would wait for a reader, if it were opened
    assert path.read_text() == "old"
    assert is_file(path)
    assert not is_file(tmp_path / "pipe")


# --- whoever ends in the middle --------------------------------------------------------------

#: A limit on the size of files is a full disk: the write itself fails, in the middle.
FULL = """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try: write_whole(sys.argv[1], 'x' * 100000)
except OSError as error: print(error.filename)
"""
HALF = """
with whole(sys.argv[1]) as stream:
    stream.write('half'); stream.flush()
    """


@pytest.mark.parametrize(
    ("code", "status", "left"),
    [
        (FULL, 0, 0),
        (HALF + "raise ValueError", 1, 0),
        (HALF + "raise KeyboardInterrupt", -signal.SIGINT, 0),
        (HALF + "os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL, 1),
    ],
)
def test_a_write_that_ends_in_the_middle_leaves_the_old_file(tmp_path, code, status, left):
    path = tmp_path / "out"
    path.write_text("old")
    done = in_another_process(code, path, capture_output=True)
    assert done.returncode == status, done.stderr
    assert done.stdout == (f"{path}\n" if code == FULL else "")
    assert path.read_text() == "old"
    assert len(os.listdir(tmp_path)) == 1 + left


# --- nobody writes otherwise -----------------------------------------------------------------

#: Where files are written in another way, and why nothing can be lost there.
ELSEWHERE = {
    "problems/output.py": "this is the way",
    "problems/fetch.py": "a download, in a folder of its own that is removed",
    "problems/specs.py": "standard input, in a folder of its own that is removed",
    "harness/falsify/witness.py": "for the checker, in a folder of its own that is removed",
    "problems/environment.py": "a switch of the kernel's, no file",
}


def writes(node: ast.AST) -> bool:
    """Whether a call writes or replaces a file by its name."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if name in ("write_text", "write_bytes", "tofile", "savetxt"):
        # click's help has a write_text, too
        return ast.unparse(node.func) not in ("super().write_text", "formatter.write_text")
    if isinstance(owner, ast.Name) and owner.id in ("os", "shutil"):
        return name in ("replace", "rename", "renames", "link", "move", "copy", "copyfile", "copy2")
    if name in ("savefig", "write_table") or ast.unparse(node.func).startswith("np.save"):
        streams = ("stream", "file", "buffer")
        return not any(isinstance(a, ast.Name) and a.id in streams for a in node.args)
    if name == "open" or (isinstance(node.func, ast.Name) and node.func.id == "open"):
        given = [*node.args, *(k.value for k in node.keywords)]
        texts = [a.value for a in given if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        return any(
            set(text) <= set("rwaxbt+") and set(text) & set("wax+") for text in texts if text
        )
    return False


@pytest.mark.full
def test_there_is_one_way_to_write_a_file():
    found: dict[str, list[int]] = {}
    for package in ("problems", "oracle", "solvers", "harness", "papers", "gammabar"):
        for path in sorted((ROOT / package).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            if package == "gammabar" and len(path.relative_to(ROOT).parts) > 2:
                continue  # the others, by their links
            lines = [n.lineno for n in ast.walk(ast.parse(path.read_text("utf-8"))) if writes(n)]
            if lines:
                found[place] = lines
    assert {place: found[place] for place in found.keys() - ELSEWHERE.keys()} == {}
    assert found.keys() == ELSEWHERE.keys()
