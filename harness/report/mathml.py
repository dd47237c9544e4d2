"""What the signs of LaTeX are called in Unicode.

LaTeX, as statements are written in it, as MathML, which browsers draw without any script.

The part of LaTeX that formulas in running text use, and no macros. A formula is cut before each
relation and around each text at its top level, so that a narrow page can break it there. What is
not known is shown as it is written; nothing is passed on unescaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from string import ascii_uppercase


def _signs(table: str) -> dict[str, str]:
    """Commands and signs, in turn."""
    words = table.split()
    return {f"\\{name}": sign for name, sign in zip(words[::2], words[1::2], strict=True)}


_LETTERS = _signs("""
    alpha α  beta β  gamma γ  delta δ  epsilon ϵ  varepsilon ε  zeta ζ  eta η  theta θ  vartheta ϑ
    iota ι  kappa κ  lambda λ  mu μ  nu ν  xi ξ  pi π  rho ρ  varrho ϱ  sigma σ  tau τ  upsilon υ
    phi ϕ  varphi φ  chi χ  psi ψ  omega ω
    Gamma Γ  Delta Δ  Theta Θ  Lambda Λ  Xi Ξ  Pi Π  Sigma Σ  Upsilon Υ  Phi Φ  Psi Ψ  Omega Ω
    ell ℓ  infty ∞  nabla ∇  partial ∂  top ⊤  bot ⊥  emptyset ∅  star ⋆
""")
#: A line may be broken before each of them.
_RELATIONS = _signs("""
    le ≤  leq ≤  ge ≥  geq ≥  ne ≠  neq ≠  ll ≪  gg ≫  approx ≈  sim ∼  simeq ≃  equiv ≡
    propto ∝  in ∈  notin ∉  subset ⊂  subseteq ⊆  supset ⊃  to →  rightarrow →  leftarrow ←
    mapsto ↦  Rightarrow ⇒  Leftarrow ⇐  Leftrightarrow ⇔  implies ⟹  iff ⟺  Longleftarrow ⟸
    Longrightarrow ⟹  succ ≻  prec ≺  succeq ⪰  preceq ⪯  succcurlyeq ≽  preccurlyeq ≼
    mid ∣  coloneqq ≔  perp ⊥
""") | {sign: sign for sign in ("=", "<", ">", ":=")}
_BRACKETS = _signs("langle ⟨  rangle ⟩  lceil ⌈  rceil ⌉  lfloor ⌊  rfloor ⌋  | ‖  { {  } }") | {
    sign: sign for sign in "()[]|"
}
_OPERATORS = _signs("""
    cdot ⋅  times ×  odot ⊙  otimes ⊗  oplus ⊕  pm ±  mp ∓  circ ∘  ast ∗  cap ∩  cup ∪
    setminus ∖  wedge ∧  vee ∨  neg ¬  sum ∑  prod ∏  int ∫  exists ∃  forall ∀
    dots …  ldots …  cdots ⋯  # #  % %  & &  _ _
""") | {"-": "−", "*": "∗"}
_FUNCTIONS = _signs("""
    ln ln  log log  exp exp  min min  max max  sup sup  inf inf  lim lim  arg arg  det det
    dim dim  ker ker  sin sin  cos cos  tan tan  tanh tanh  Pr Pr  sgn sgn
""") | {r"\limsup": "lim sup", r"\liminf": "lim inf"}
#: What stands under or over these is not beside them.
_LIMITS = {r"\min", r"\max", r"\sup", r"\inf", r"\lim", r"\limsup", r"\liminf", r"\sum", r"\prod"}
_ACCENTS = _signs("bar ¯  overline ¯  hat ^  widehat ^  tilde ~  widetilde ~  dot ˙  vec →")
#: In em.
_SPACES = _signs(", 0.17  : 0.22  ; 0.28  quad 1  qquad 2  ! -0.17") | {r"\ ": "0.25", "~": "0.25"}


def _alphabet(first: int, exceptions: str) -> dict[str, str]:
    """Capital letters from a code point on, but for those that Unicode had before."""
    before = dict(zip(exceptions[::2], exceptions[1::2], strict=True))
    return {c: before.get(c, chr(first + k)) for k, c in enumerate(ascii_uppercase)}


_SCRIPT = _alphabet(0x1D49C, "BℬEℰFℱHℋIℐLℒMℳRℛ")
_BLACKBOARD = _alphabet(0x1D538, "CℂHℍNℕPℙQℚRℝZℤ") | {"1": "𝟙"}


_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|:=|\d+(?:\.\d+)?|\s+|.", re.S)
_THIN = '<mspace width="0.17em"/>'


class Unreadable(ValueError):
    """It is no formula of the kind that is read here; the message says why."""


def formula(latex: str) -> str:
    """A formula as HTML: pieces of MathML and of text, between which a line may break."""
    try:
        pieces = _Reader(latex).pieces()
    except (Unreadable, RecursionError):
        return f'<code class="formula">{escape(latex)}</code>'
    return f'<span class="formula">{" ".join(pieces)}</span>'


def mathml(latex: str) -> str:
    """A formula as one element of MathML.

    Raises
    ------
    Unreadable
        If braces do not match or something is missing.
    """
    return _math(_Reader(latex).row())


def _math(inside: str) -> str:
    return f'<math displaystyle="true">{inside}</math>'


def _operator(sign: str, more: str = "") -> str:
    return f"<mo{more}>{escape(sign)}</mo>"


class _Reader:
    """Reads a formula from left to right."""

    def __init__(self, latex: str) -> None:
        self.tokens: list[str] = _TOKEN.findall(latex)
        self.place = 0
        self.upright = False

    # --- tokens

    def peek(self) -> str | None:
        """The next token that is no blank."""
        while self.place < len(self.tokens) and self.tokens[self.place].isspace():
            self.place += 1
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def take(self) -> str:
        token = self.peek()
        if token is None:
            raise Unreadable("the formula ends too early")
        self.place += 1
        return token

    def raw(self) -> str:
        """The text of the next group, as it is written."""
        if self.take() != "{":
            raise Unreadable("a text stands in braces")
        depth, start = 1, self.place
        while depth:
            if self.place == len(self.tokens):
                raise Unreadable("a brace is not closed")
            depth += {"{": 1, "}": -1}.get(self.tokens[self.place], 0)
            self.place += 1
        return "".join(self.tokens[start : self.place - 1])

    # --- structure

    def pieces(self) -> list[str]:
        """The whole formula, cut before relations and around texts."""
        found: list[str] = []
        row: list[str] = []

        def cut() -> None:
            if row:
                found.append(_math("".join(row)))
                row.clear()

        while (token := self.peek()) is not None:
            if token == r"\text" and not self.upright:
                self.place += 1
                cut()
                found.append(escape(_words(self.raw()).strip()))
            elif token in (r"\quad", r"\qquad"):
                self.place += 1
                cut()
            else:
                if token in _RELATIONS:
                    cut()
                item = self.item(first=not row)
                # The blank between two pieces is the space before a relation.
                row.append(item if row else item.replace('lspace="0.2em"', 'lspace="0"', 1))
        cut()
        return [piece for piece in found if piece]

    def row(self, *ends: str) -> str:
        """Items up to an end, which is taken."""
        found: list[str] = []
        upright = self.upright
        while (token := self.peek()) is not None and token not in ends:
            found.append(self.item(first=not found))
        if ends:
            if token is None:
                raise Unreadable(f"{ends[0]} is missing")
            self.take()
        self.upright = upright
        return "".join(found)

    def argument(self) -> str:
        """What follows a command: a group, or a single sign."""
        token = self.take()
        if token == "{":
            return f"<mrow>{self.row('}')}</mrow>"
        if token.isdigit() and len(token) > 1:  # \tfrac12
            self.place -= 1
            self.tokens[self.place : self.place + 1] = list(token)
            token = self.take()
        return self.atom(token)

    def item(self, first: bool = False) -> str:
        """An atom with its indices."""
        token = self.take()
        if token in "^_":
            self.place -= 1
            base = "<mi></mi>"
        else:
            base = self.atom(token)
        found = self.scripts(base, under=token in _LIMITS)
        if token in _FUNCTIONS:
            found = ("" if first else _THIN) + found + ("" if self._closes() else _THIN)
        return found

    def _closes(self) -> bool:
        """Whether no space is wanted between a function and what follows."""
        return self.peek() in (None, "(", "[", "}", ")", "]", r"\left", r"\right", ",")

    def scripts(self, base: str, under: bool) -> str:
        low = high = ""
        while (token := self.peek()) is not None and token in "^_'":
            self.take()
            if token == "_":
                low += self.argument()
            elif token == "^":
                high += self.argument()
            else:
                high += _operator("′")
        high, low = (f"<mrow>{part}</mrow>" if part else "" for part in (high, low))
        if low and high:
            tag = "munderover" if under else "msubsup"
            return f"<{tag}>{base}{low}{high}</{tag}>"
        if low or high:
            tag = ("munder" if low else "mover") if under else ("msub" if low else "msup")
            return f"<{tag}>{base}{low}{high}</{tag}>"
        return base

    # --- atoms

    def atom(self, token: str) -> str:
        """One sign, group or command without indices."""
        if token in ("}", r"\right", "&"):
            raise Unreadable(f"{token} stands alone")
        if token == "{":
            return f"<mrow>{self.row('}')}</mrow>"
        if token in _COMMANDS:
            return _COMMANDS[token](self)
        if token in _ACCENTS:
            accent = _operator(_ACCENTS[token], ' stretchy="false"')
            # As an accent the bar would cross the letter where no mathematical font is installed.
            kind = "" if _ACCENTS[token] == "¯" else ' accent="true"'
            return f"<mover{kind}>{self.argument()}{accent}</mover>"
        if token in _FUNCTIONS:
            limits = ' movablelimits="true" lspace="0" rspace="0"'
            name = _FUNCTIONS[token]
            return _operator(name, limits) if token in _LIMITS else f"<mi>{name}</mi>"
        if token in _SPACES:
            return f'<mspace width="{_SPACES[token]}em"/>'
        if token in _RELATIONS:
            return _operator(_RELATIONS[token], ' form="infix" lspace="0.2em" rspace="0.28em"')
        if token == "/":
            return _operator("/", ' lspace="0" rspace="0"')
        if token in _BRACKETS:
            return _operator(_BRACKETS[token], ' stretchy="false" lspace="0" rspace="0"')
        if token in _OPERATORS:
            return _operator(_OPERATORS[token])
        if token in _LETTERS:
            return f"<mi>{_LETTERS[token]}</mi>"
        return self._plain(token)

    def _plain(self, token: str) -> str:
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token.startswith("\\"):
            return f'<mtext class="unknown">{escape(token)}</mtext>'
        if token.isalpha():
            upright = ' mathvariant="normal"' if self.upright else ""
            return f"<mi{upright}>{escape(token)}</mi>"
        return _operator(token)

    def fraction(self) -> str:
        return f"<mfrac>{self.argument()}{self.argument()}</mfrac>"

    def small_fraction(self) -> str:
        return f'<mstyle displaystyle="false" scriptlevel="0">{self.fraction()}</mstyle>'

    def root(self) -> str:
        if self.peek() != "[":
            return f"<msqrt>{self.argument()}</msqrt>"
        self.take()
        degree = self.row("]")
        return f"<mroot>{self.argument()}<mrow>{degree}</mrow></mroot>"

    def fenced(self) -> str:
        opening = _fence(self.take(), "prefix")
        inside = self.row(r"\right")
        return f"<mrow>{opening}{inside}{_fence(self.take(), 'postfix')}</mrow>"

    def text(self) -> str:
        words = _words(self.raw())
        blank = "\u00a0"
        edges = (blank if words[:1] == " " else "", blank if words[-1:] == " " else "")
        return f"<mtext>{edges[0]}{escape(words.strip())}{edges[1]}</mtext>"

    def roman(self) -> str:
        self.upright = True  # until the group ends, see `row`
        return ""

    def name(self) -> str:
        return f'<mi mathvariant="normal">{escape(self.raw().strip())}</mi>'

    def bold(self) -> str:
        return f'<mstyle style="font-weight: bold">{self.argument()}</mstyle>'

    def letters(self, alphabet: dict[str, str]) -> str:
        written = self.raw() if self.peek() == "{" else self.take()
        return f"<mi>{escape(''.join(alphabet.get(c, c) for c in written))}</mi>"

    def negated(self) -> str:
        sign = self.take()
        return _operator(_RELATIONS.get(sign, sign) + "\u0338", ' form="infix"')


def _fence(token: str, form: str) -> str:
    if token == ".":
        return ""
    if token not in _BRACKETS:
        raise Unreadable(f"{token} is no bracket")
    return _operator(_BRACKETS[token], f' form="{form}" stretchy="true"')


def _words(text: str) -> str:
    """A text without the few commands that occur in one."""
    return re.sub(r"\$|\\(?=[ ,&%#_{}])", "", re.sub(r"\s+", " ", text))


_COMMANDS: dict[str, Callable[[_Reader], str]] = {
    r"\frac": _Reader.fraction,
    r"\dfrac": _Reader.fraction,
    r"\tfrac": _Reader.small_fraction,
    r"\sqrt": _Reader.root,
    r"\left": _Reader.fenced,
    r"\text": _Reader.text,
    r"\textrm": _Reader.text,
    r"\mbox": _Reader.text,
    r"\rm": _Reader.roman,
    r"\mathrm": _Reader.name,
    r"\operatorname": _Reader.name,
    r"\mathbf": _Reader.bold,
    r"\boldsymbol": _Reader.bold,
    r"\mathcal": lambda reader: reader.letters(_SCRIPT),
    r"\mathbb": lambda reader: reader.letters(_BLACKBOARD),
    r"\not": _Reader.negated,
}
