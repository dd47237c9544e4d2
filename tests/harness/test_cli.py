"""The command line: answers, exit codes, and one sentence for everything that is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module

import click
import numpy as np
import pytest

from gammabar.harness.cli.command import KEPT, SECONDS, WRITTEN
from tests.every_command import every_command


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
    assert len(shown.splitlines()) <= 2 * 24


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
        ("gammabar verify my", "file"),
        ("gammabar verify --paper my", "file"),
        ("gammabar check my", "file"),
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
    expected = "file,my" if meant == "file" else f"plain,{meant}"
    assert expected in done.stdout.splitlines()


def test_no_option_takes_nan_or_a_file_that_cannot_be_written():
    """NaN is in every range of click's: a search that takes NaN seconds takes for ever."""
    commands = every_command().items()
    for name, option in ((name, option) for name, one in commands for option in one.params):
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


def test_data_list_and_export(gammabar, tmp_path):
    states = json.loads(gammabar("data", "list", "--json")[1])
    assert {"mnist", "fashion"} <= {entry["name"] for entry in states}
    target = tmp_path / "iris.npz"
    assert gammabar("data", "export", "iris:0,1", target)[0] == 0
    with np.load(target, allow_pickle=False) as arrays:
        assert arrays["X"].shape == (100, 4)
        assert set(arrays["y"].tolist()) == {-1, 1}


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (["missing.csv"], "missing.csv"),
        (["digits:3,77"], "77"),
        (["digits:0,1:n=-5"], "n"),
        (["planted:n=1000000000,d=1000000"], "planted"),
        (["iris:0,1", "--kernel", "rbf:gamma=-1"], "gamma"),
        (["iris:0,1", "--digits", "0"], "digits"),
        (["iris:0,1", "--norm", "l1", "--kernel", "linear"], "--norm"),
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
    from gammabar.oracle import maximum_margin as exact

    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(exact, "minimum_norm_point", interrupt)
    code, out, _ = gammabar("oracle", "iris:0,1", "--json")
    answer = json.loads(out)
    assert code == 130
    assert answer["exact"] is False
    assert answer["separable"]
    assert 0 < answer["gamma_lo"] <= 0.0813350899255159 <= answer["gamma_hi"] < 0.0813350900


def test_an_interrupt_while_modules_are_imported_is_one_sentence(capsys, monkeypatch):
    class Interrupted:
        def find_spec(self, name, *_):
            if name == "gammabar.harness.cli":
                raise KeyboardInterrupt

    ours = ("gammabar.harness.cli", "gammabar.__main__")
    for name in [name for name in sys.modules if name.startswith(ours)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Interrupted(), *sys.meta_path])
    with pytest.raises((SystemExit, KeyboardInterrupt)) as ended:
        import_module("gammabar.__main__")
    assert getattr(ended.value, "code", None) == 130
    assert capsys.readouterr().err == "gammabar: interrupted\n"
