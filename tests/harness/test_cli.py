"""The command line: answers, exit codes, and one sentence for everything that is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile

import click
import numpy as np
import pytest

from gammabar.harness.cli import COMMANDS, cli
from gammabar.harness.cli.options import KEPT, SECONDS, WRITTEN


@pytest.fixture
def refused(gammabar):
    """Run a command that must end with exit code 2 and one sentence; returns the sentence."""

    def run(*arguments):
        code, out, err = gammabar(*arguments)
        assert code == 2
        assert out == ""
        assert err.count("\n") == 1
        assert err.startswith("gammabar: ")
        assert "Traceback" not in err
        return err

    return run


def test_the_command_alone_prints_its_help(gammabar):
    code, out, err = gammabar()
    assert (code, err) == (0, "")
    assert "Commands:" in out
    assert out == gammabar("--help")[1]


def test_help_names_every_command_without_importing_numpy():
    code = "import sys; from gammabar.harness.cli import main\n"
    code += "try: main(['--help'])\nexcept SystemExit: pass\n"
    code += "print([m for m in ('numpy', 'flint', 'cvxpy', 'numba', 'rich') if m in sys.modules])"
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert shown.splitlines()[-1] == "[]"
    for name in ("oracle", "check", "verify", "list", "data"):
        assert f"  {name} " in shown


def test_the_oracle_of_little_data_imports_little():
    """Each of these takes longer to import than the answer to compute."""
    heavy = ("scipy", "numba", "cvxpy", "sklearn", "joblib", "matplotlib", "distributed")
    code = "import sys; from gammabar.harness.cli import main\n"
    code += "try: main(['oracle', 'iris:0,1', '--json'])\nexcept SystemExit: pass\n"
    code += f"there = [m for m in {heavy} if m in sys.modules]\n"
    code += "print(there + [m for m in sys.modules if m.startswith('gammabar.harness.verify')])"
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert '"separable": true' in shown
    assert shown.splitlines()[-1] == "[]"


@pytest.mark.parametrize("command", ["oracle", "check", "verify", "list", "data"])
def test_every_command_has_help(gammabar, command):
    code, out, _ = gammabar(command, "--help")
    assert code == 0
    assert out.startswith(f"Usage: gammabar {command}")


def test_the_help_has_two_rows_of_commands_and_old_names_still_work(
    gammabar, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    shown = gammabar("--help")[1]
    assert shown.index("  verify ") < shown.index("  list ") < shown.index("  report ")
    for old, new in (
        (("separation", "iris:0,1"), ("oracle", "iris:0,1", "--separation")),
        (("margins", "iris", "--jobs", 1), ("oracle", "iris", "--pairs", "--jobs", 1)),
    ):
        assert f"  {old[0]} " not in shown
        one, other = (json.loads(gammabar(*words, "--json")[1] or "0") for words in (old, new))
        assert one.keys() == other.keys()


def test_what_does_not_go_with_separation_or_pairs_is_said(refused):
    assert "--pairs goes without --kernel" in refused("oracle", "iris", "--pairs", "--kernel", "x")
    assert "need --pairs" in refused("oracle", "iris:0,1", "--jobs", 2)
    assert "--separation goes without --norm" in refused(
        "oracle", "iris:0,1", "--separation", "--norm", "l1"
    )
    assert "several go with --pairs" in refused("oracle", "iris:0,1", "iris:1,2")


def test_options_are_shown_in_groups_on_two_screens(gammabar, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = gammabar("verify", "--help")[1]
    titles = ("What to check:", "On which data:", "How to run:", "What to write:")
    places = [shown.index(title) for title in titles]
    assert places == sorted(places)
    assert len(shown.splitlines()) <= 90


@pytest.mark.full
@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("gammabar ver", "verify"),
        ("gammabar show jst.thm3.1", "jst.thm3.1.1"),
        ("gammabar verify --solver dual-acc", "dual-acceleration"),
        ("gammabar show dual-acceleration/no-m", "dual-acceleration/no-momentum"),
        ("gammabar reproduce jst.f", "jst.fig1"),
        ("gammabar oracle iri", "iris"),
        ("gammabar verify --source t", "tyurin"),
    ],
)
def test_a_shell_completes_names(line, meant):
    more = {"_GAMMABAR_COMPLETE": "bash_complete", "COMP_WORDS": line}
    more["COMP_CWORD"] = str(len(line.split()) - 1)
    done = subprocess.run(
        [sys.executable, "-c", "from gammabar.harness.cli import main; main()"],
        env=os.environ | more,
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"plain,{meant}" in done.stdout.splitlines()


def every_option():
    for name in COMMANDS:
        found = cli.get_command(click.Context(cli), name)
        commands = found.commands.values() if isinstance(found, click.Group) else [found]
        yield from ((name, option) for command in commands for option in command.params)


def test_no_option_takes_nan_or_a_file_that_cannot_be_written():
    """NaN is in every range of click's: a search that takes NaN seconds takes for ever."""
    for name, option in every_option():
        kind = option.type
        if isinstance(kind, click.FloatRange) or kind is click.FLOAT:
            assert kind is SECONDS, (name, option.name)
        if isinstance(kind, click.Path) and not kind.exists and not kind.dir_okay:
            assert kind in (WRITTEN, KEPT), (name, option.name)


@pytest.mark.parametrize("seconds", ["nan", "-nan", "inf", "1e400", "0", "-1", "x"])
@pytest.mark.parametrize(
    "command",
    [("falsify", "gb.sharp", "--budget"), ("verify", "--time-limit"), ("check", "x.json")],
)
def test_seconds_are_a_number(gammabar, command, seconds):
    code, out, err = gammabar(*command, seconds)
    assert (code, out, err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    "command",
    [
        ("falsify", "gb.sharp", "--store"),
        ("verify", "--junit"),
        ("verify", "--store"),
        ("oracle", "no-such-data", "--certificate"),
        ("oracle", "no-such-data", "--export"),
        ("separation", "no-such-data", "--certificate"),
    ],
)
@pytest.mark.parametrize("name", ["nowhere/x", ".", "", "file/x"])
def test_what_cannot_be_written_is_said_first(gammabar, tmp_path, monkeypatch, command, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    code, out, err = gammabar(*command, name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert command[-1] in err


def test_oracle_json_has_the_documented_fields(gammabar):
    code, out, _ = gammabar("oracle", "planted:n=60,d=4,gamma=0.25,seed=1", "--json")
    answer = json.loads(out)
    assert code == 0
    assert answer["separable"] is True
    assert answer["exact"] is True
    assert answer["gamma"] == "0.25"
    assert answer["gamma_lo"] == answer["gamma_hi"] == 0.25
    assert {"gamma_raw", "support_size", "seconds"} <= answer.keys()


def test_oracle_prints_as_many_digits_as_asked(gammabar):
    _, out, _ = gammabar("oracle", "iris:0,1", "--digits", 300, "--json")
    digits = json.loads(out)["gamma"].lstrip("0.")
    assert len(digits) == 300


def test_certificates_are_written_and_checked(gammabar, tmp_path):
    for data in ("iris:0,1", "iris:1,2", "worst-case:n=20"):
        certificate = tmp_path / "c.json"
        code, _, _ = gammabar("oracle", data, "--certificate", certificate)
        assert code == 0
        code, out, _ = gammabar("check", certificate)
        assert code == 0, out
        assert out.startswith("accepted")
        other = "iris:0,2" if data != "iris:0,2" else "iris:0,1"
        code, out, _ = gammabar("check", certificate, other, "--json")
        assert code == 1
        assert json.loads(out)["accepted"] is False


def test_certificates_of_files_are_checked_from_the_files(gammabar, tmp_path):
    data = tmp_path / "points.csv"
    data.write_text("label,a,b\nyes,1.5,2\nno,-1,0.25\nyes,0.5,3\n")
    certificate = tmp_path / "c.json"
    assert gammabar("oracle", data, "--certificate", certificate)[0] == 0
    assert gammabar("check", certificate, data)[0] == 0
    standalone = [sys.executable, "-S", "oracle/check.py", str(certificate), str(data)]
    assert subprocess.run(standalone, capture_output=True, check=False).returncode == 0
    data.write_text("label,a,b\nyes,1.5,2\nno,-1,0.25\nyes,0.5,3.5\n")
    code, out, _ = gammabar("check", certificate, data)
    assert code == 1
    assert "SHA-256" in out


@pytest.mark.parametrize(
    "options",
    [
        ["--kernel", "rbf:gamma=0.5"],
        ["--kernel", "poly:degree=2,coef0=1"],
        ["--kernel", "linear"],
        ["--kernel", "poly:degree=2,coef0=1", "--normalised"],
        ["--norm", "l1"],
        ["--norm", "l1-simplex"],
        ["--method", "cvxpy"],
        ["--multiclass"],
    ],
    ids=" ".join,
)
def test_every_geometry_yields_a_certificate_that_is_accepted(gammabar, tmp_path, options):
    certificate = tmp_path / "c.json"
    data = "iris" if options == ["--multiclass"] else "iris:0,1"
    code, out, err = gammabar("oracle", data, *options, "--certificate", certificate, "--json")
    assert code == 0, err
    answer = json.loads(out)
    assert answer["gamma_lo"] <= answer["gamma_hi"] < 1
    code, out, _ = gammabar("check", certificate)
    assert code == 0, out


@pytest.mark.parametrize("kernel", ["linear", "poly:degree=2,coef0=0"])
def test_normalised_data_that_are_not_separable(gammabar, tmp_path, kernel):
    """The weights are those of the rows before normalisation, which moves no row through zero."""
    data, certificate = tmp_path / "data.csv", tmp_path / "c.json"
    data.write_text("1,1,2\n1,-3,1\n1,2,-7\n-1,5,5\n-1,0,1\n")
    arguments = ("--kernel", kernel, "--normalised", "--certificate", certificate, "--json")
    assert json.loads(gammabar("oracle", data, *arguments)[1])["separable"] is False
    code, out, _ = gammabar("check", certificate, data)
    assert code == 0, out


def test_signed_margin(gammabar, tmp_path):
    square = tmp_path / "square.csv"
    square.write_text("1,1,1\n1,-1,1\n1,-1,-1\n-1,-1,1\n")
    _, out, _ = gammabar("oracle", square, "--signed", "--json")
    answer = json.loads(out)
    assert answer["separable"] is False
    assert answer["rho_exact"] is True
    assert answer["rho_lo"] == answer["rho_hi"] == "-1"


def test_list_problems(gammabar):
    entries = json.loads(gammabar("list", "problems", "--json")[1])
    assert {"mnist", "planted", "digits"} <= {entry["name"] for entry in entries}
    assert "planted:" in gammabar("list", "problems")[1]


def test_data_list_and_export(gammabar, tmp_path):
    states = json.loads(gammabar("data", "list", "--json")[1])
    assert {"mnist", "fashion"} <= {entry["name"] for entry in states}
    target = tmp_path / "iris.npz"
    assert gammabar("data", "export", "iris:0,1", target)[0] == 0
    with np.load(target, allow_pickle=False) as arrays:
        assert arrays["X"].shape == (100, 4)
        assert set(arrays["y"].tolist()) == {-1, 1}


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("empty.csv", b"", "empty.csv"),
        ("binary.csv", bytes(range(256)) * 4, "binary.csv"),
        ("nan.csv", b"1,2,3\n-1,nan,4\n", "line 2"),
        ("inf.csv", b"1,2,3\n-1,5,inf\n", "line 2"),
        ("ragged.csv", b"1,2,3\n-1,5\n", "line 2"),
        ("text.csv", b"1,2,3\n-1,5,n/a\n", "column"),
        ("oneclass.csv", b"1,2,3\n1,5,4\n", "every label is 1"),
        ("threeclasses.csv", b"1,2,3\n2,5,4\n3,5,5\n", "3"),
        ("truncated.csv.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00", "truncated.csv.gz"),
        ("descending.svm", b"1 3:1 2:1\n-1 1:2\n", "line 1"),
        ("text.svm", b"1 1:a\n-1 1:2\n", "line 1"),
        ("junk.npz", b"PK\x03\x04 nothing", "junk.npz"),
        ("nothing.npz", b"", "nothing.npz"),
    ],
)
def test_bad_files(refused, tmp_path, name, content, place):
    path = tmp_path / name
    path.write_bytes(content)
    sentence = refused("oracle", path)
    assert name in sentence
    assert place in sentence


class Bomb:
    """Runs when unpickled; no reader may ever do that."""

    def __reduce__(self):
        return (exec, ("raise SystemExit('unpickled!')",))


def npz(path, **arrays):
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize(
    ("arrays", "place"),
    [
        ({"X": np.array([[1, 2], [3, 4]])}, "y"),
        ({"y": np.array([1, -1])}, "X"),
        ({"X": np.array([[1, 2], [3, 4]]), "y": np.array([1, -1, 1])}, "3"),
        ({"X": np.array([[1, 2], [3, np.nan]]), "y": np.array([1, -1])}, "row"),
        ({"X": np.array([[1, 2j], [3, 4]]), "y": np.array([1, -1])}, "complex"),
        ({"X": np.zeros((0, 3)), "y": np.zeros(0)}, "X"),
        ({"X": np.array([[Bomb(), 1], [2, 3]], dtype=object), "y": np.array([1, -1])}, "object"),
    ],
    ids=["no y", "no X", "lengths", "nan", "complex", "no rows", "pickle"],
)
def test_bad_archives(refused, tmp_path, arrays, place):
    assert place in refused("oracle", npz(tmp_path / "data.npz", **arrays))


def test_truncated_archive(refused, tmp_path):
    path = npz(tmp_path / "data.npz", X=np.ones((50, 50)), y=np.tile([1, -1], 25))
    path.write_bytes(path.read_bytes()[:-900])
    assert "data.npz" in refused("oracle", path)


def test_archive_that_lies_about_its_size(refused, tmp_path):
    path = tmp_path / "data.npz"
    header = b"\x93NUMPY\x01\x00v\x00"
    text = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 1000), }"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("X.npy", "y.npy"):
            archive.writestr(name, header + text.ljust(117) + b"\n" + b"\0" * 80)
    assert "data.npz" in refused("oracle", path)


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (["nosuch:0,1"], "nosuch"),
        (["missing.csv"], "missing.csv"),
        (["digits:3,77"], "77"),
        (["digits:3,3"], "3"),
        (["digits:1,2,3"], "digits"),
        (["digits:0,1:n=100000"], "100000"),
        (["digits:0,1:n=-5"], "n"),
        (["planted:n=-1"], "n"),
        (["planted:n=1000000000,d=1000000"], "planted"),
        (["planted:gamma=2"], "gamma"),
        (["planted:colour=red"], "colour"),
        (["iris:0,1", "--kernel", "sinc"], "sinc"),
        (["iris:0,1", "--kernel", "rbf:gamma=-1"], "gamma"),
        (["iris:0,1", "--digits", "0"], "digits"),
        (["iris:0,1", "--norm", "l1", "--kernel", "linear"], "--norm"),
        (["iris:0,1", "--nonsense"], "--nonsense"),
        ([], "DATA"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_requests(refused, arguments, place):
    assert place in refused("oracle", *arguments)


def test_bad_certificates(gammabar, refused, tmp_path):
    assert "nothing.json" in refused("check", tmp_path / "nothing.json", "iris:0,1")
    for text in ("", "{", "[]", '{"format": 3}', "\0\0"):
        path = tmp_path / "bad.json"
        path.write_text(text)
        code, out, err = gammabar("check", path, "iris:0,1")
        assert code == 1
        assert out.startswith("rejected: ")
        assert err == ""


def test_a_certificate_that_cannot_be_written(refused, tmp_path):
    target = tmp_path / "no" / "such" / "folder" / "c.json"
    assert "c.json" in refused("oracle", "iris:0,1", "--certificate", target)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full is a Linux device")
def test_a_full_disk_is_one_sentence():
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            [sys.executable, "-m", "gammabar", "oracle", "iris:0,1", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert run.returncode == 2
    assert "no space left" in run.stderr
    assert "Traceback" not in run.stderr


def test_list_solvers(gammabar):
    cards = json.loads(gammabar("list", "solvers", "--json")[1])
    names = {card["name"] for card in cards}
    assert {"dual-acceleration", "snkp", "winnow", "adaboost", "isnkpvn"} <= names
    for card in cards:
        assert card["reference"]
        assert card["geometries"]
    assert "jst.thm3.1.1" in gammabar("list", "solvers")[1]


def test_a_hull_that_only_touches_the_origin_has_signed_margin_zero(gammabar, tmp_path):
    flat = tmp_path / "flat.csv"
    flat.write_text("1,1,0\n-1,1,0\n1,2,1\n")
    answer = json.loads(gammabar("oracle", flat, "--signed", "--json")[1])
    assert answer["separable"] is False
    assert answer["rho_lo"] == answer["rho_hi"] == "0"


def test_a_time_limit_gives_bounds(gammabar, refused):
    code, out, _ = gammabar("oracle", "iris:0,1", "--time-limit", "1e-9", "--json")
    answer = json.loads(out)
    assert (code, answer["exact"], answer["separable"]) == (0, False, None)
    assert answer["gamma_lo"] == 0
    assert 0 < answer["gamma_hi"] <= 1
    code, out, _ = gammabar("oracle", "iris:0,1", "--time-limit", "1e-9")
    assert code == 0
    assert "not known to be separable" in out
    assert "at most" in out
    assert "--time-limit" in refused("oracle", "iris:0,1", "--time-limit", "-1")
    assert "no time limit" in refused("oracle", "iris:0,1", "--time-limit", "1", "--norm", "l1")


def test_an_interrupted_oracle_says_what_it_knows(gammabar, monkeypatch):
    from gammabar.oracle import proof as exact

    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(exact, "minimum_norm_point", interrupt)
    code, out, _ = gammabar("oracle", "iris:0,1", "--json")
    answer = json.loads(out)
    assert code == 130
    assert answer["exact"] is False
    assert answer["separable"]
    assert 0 < answer["gamma_lo"] <= 0.0813350899255159 <= answer["gamma_hi"] < 0.0813350900
