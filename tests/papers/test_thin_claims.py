"""Claims in the thin form: what a declaration says, and iterates that the harness keeps."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gammabar.harness.verify.context import Case
from gammabar.harness.verify.run_checks import check_run, check_statement
from gammabar.harness.verify.statement import STATEMENTS, StatementError
from gammabar.papers import Claims, Erratum, Method, at_most, equal, fact, separable
from gammabar.problems import from_arrays
from gammabar.solvers import DualAcceleration

SQUARE = from_arrays([[1.0, 0.0], [0.0, -1.0]], [1, -1])
ALG1 = Method("dual-acceleration", "dual-acceleration-dual", assumes=(separable,))
mine = Claims("mine", unit=True)


@pytest.fixture(autouse=True)
def registered():
    before = dict(STATEMENTS)
    yield
    STATEMENTS.clear()
    STATEMENTS.update(before)


class Sequence:
    def __init__(self, case):
        self.seen = 0

    def update(self, it):
        self.seen += 1


def heard(identifier, iterations=5):
    case = Case(SQUARE, DualAcceleration(), unit=True)
    return check_run(case, [STATEMENTS[identifier]], iterations)[0]


def test_a_declaration_says_everything():
    @mine.bound("thm1", "Theorem 1", ALG1, Sequence, lambda case: None, since=1, slower="x/y")
    def rate(it, case):
        r"""In
        words.

        For readers of the code.

        $a \le
        b$

        A note.

        Its end."""
        yield at_most(case.gamma - it.margin, 1)
        yield fact(case.history(Sequence).seen == it.t + 1)

    found = STATEMENTS["mine.thm1"]
    assert (found.words, found.claim, found.note) == ("In words.", r"a \le b", "A note. Its end.")
    assert (found.reference, found.kind, found.since) == ("Theorem 1", "anytime", 1)
    assert (found.unit, found.slower, found.history) == (True, "x/y", (Sequence,))
    assert found.solvers == ("dual-acceleration", "dual-acceleration-dual")
    assert len(found.assumes) == 2
    assert found.assumes[0] is separable
    assert heard("mine.thm1").verdict == "holds"


def test_names_win_over_docstring_and_shared_fields():
    shared = mine.sharing(kind="value", powerless="it is about the data")

    @shared.direct("data", "Section 1", claim="c", words="w", note="n", unit=False)
    def body(case):
        """Other words."""
        yield fact(True)

    found = STATEMENTS["mine.data"]
    assert (found.claim, found.words, found.note, found.unit) == ("c", "w", "n", False)
    assert (found.kind, found.powerless, found.problems) == ("value", "it is about the data", ("",))
    assert check_statement(found, Case()).verdict == "holds"


def test_the_harness_keeps_one_iterate():
    pairs = []

    @mine.identity("pair", "Lemma 2", ALG1, claim="")
    def pair(now, before, case):
        pairs.append((before.t, now.t, before.level == now.level))
        return equal(now.t - before.t, 1 if now.t < 4 else 2)

    verdict = heard("mine.pair")
    assert STATEMENTS["mine.pair"].kind == "identity"
    assert (verdict.verdict, verdict.worst_t, verdict.checked) == ("refuted", 4, 4)
    assert all(b + 1 == a and same for b, a, same in pairs if (b, a) != (0, 0))


def test_a_step_is_about_the_start_too():
    pairs = []

    @mine.step("step", "Lemma 2", ALG1, claim="")
    def step(now, before, case):
        """Every step."""
        pairs.append((None if before is None else before.t, now.t))
        return fact(not now.w.any()) if before is None else equal(now.t, before.t + 1)

    verdict = heard("mine.step")
    assert (verdict.verdict, verdict.checked) == ("holds", 6)
    assert {(None, 0), (0, 1), (4, 5)} <= set(pairs)
    assert STATEMENTS["mine.step"].words == "Every step."
    assert STATEMENTS["mine.step"].body.__module__ == __name__


def test_false_as_printed_is_one_record():
    of_substance = Erratum("substance", "lem.fixed", why="w", survives="s")

    @mine.stopping("lem", "Lemma 3", ALG1, Erratum("misprint", "lem.fixed"))
    @mine.stopping("other", "Lemma 3", ALG1, of_substance)
    @mine.stopping("lem.fixed", "Lemma 3, corrected", ALG1)
    def lemma(case):
        """Both.

        $c$

        Why: It is
        a slip."""
        return 3

    @mine.sharing(ALG1, Erratum("edge case")).stopping("eq", "(3)")
    def equation(case):
        """Words.

        $x$

        A note.

        Why: Only
        at 0.
        Survives: Everything: all.
        """
        return 3

    found, other, fixed = (STATEMENTS[f"mine.{name}"] for name in ("lem", "other", "lem.fixed"))
    assert (found.status, found.severity, found.why) == ("refuted", "misprint", "It is a slip.")
    assert found.fixed_by == found.charitable == "mine.lem.fixed"
    assert (other.why, other.survives, other.charitable) == ("w", "s", None)
    assert (fixed.status, fixed.why, fixed.body) == ("holds", "", found.body)
    found = STATEMENTS["mine.eq"]
    assert (found.note, found.solvers, found.status) == ("A note.", ALG1.solvers, "refuted")
    assert (found.why, found.survives) == ("Only at 0.", "Everything: all.")


def test_one_text_for_the_printed_and_the_corrected_form():
    @mine.direct("eq", "(1)", Erratum("misprint", "eq.fixed"), kind="identity")
    @mine.direct(
        "eq.fixed", "(1), corrected", kind="identity", instead={"1 +": "2 +", "is 3": "is 4"}
    )
    def equation(case, printed):
        """The sum is 3.

        $1 + 2$

        A note on what is printed."""
        yield equal(4, 3 if printed else 4)

    found, fixed = (STATEMENTS[f"mine.{name}"] for name in ("eq", "eq.fixed"))
    assert (found.words, found.claim, bool(found.note)) == ("The sum is 3.", "1 + 2", True)
    assert (fixed.words, fixed.claim, fixed.note) == ("The sum is 4.", "2 + 2", "")
    assert [check_statement(s, Case()).verdict for s in (found, fixed)] == ["refuted", "holds"]
    with pytest.raises(StatementError, match="its docstring does not say 'minus'"):
        mine.direct("no", "(1)", kind="identity", instead={"minus": ""})(equation)


def test_one_text_for_several_probabilities():
    deltas = []

    @mine.probability("tenth", "Theorem 4", claim="", problems=("",), delta=0.1, runs=5)
    @mine.probability("half", "Theorem 4", claim="", problems=("",), delta=Fraction(1, 2), runs=15)
    def theorem(case, rng, delta):
        deltas.append(delta)
        return fact(True)

    assert check_statement(STATEMENTS["mine.half"], Case()).verdict == "holds"
    assert deltas == [Fraction(1, 2)] * 15
    assert check_statement(STATEMENTS["mine.tenth"], Case()).verdict == "undecided"
    assert deltas[-1] == 0.1


def test_what_is_missing_is_said():
    with pytest.raises(StatementError, match="claim must be"):
        mine.bound("thm1", "Theorem 1", ALG1)(lambda it, case: fact(True))
    with pytest.raises(StatementError, match="did you mean"):
        mine.bound("thm1", "Theorem 1", ALG1, sinces=1)(lambda it, case: fact(True))
    with pytest.raises(StatementError, match=r"must take \(it, case\)"):
        mine.bound("thm1", "Theorem 1", ALG1, claim="")(lambda it: fact(True))
