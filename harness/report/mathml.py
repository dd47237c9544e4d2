"""LaTeX formulas as MathML, which browsers draw without a script.

It reads the part of LaTeX that formulas in running text use, without macros. A formula is cut
before each relation and around each text at its top level, so that a narrow page can break it
there. Unknown commands are shown as they are written; everything is escaped.
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


def _operator(sign: str, more: str = "") -> str:
    return f"<mo{more}>{escape(sign)}</mo>"


def _function(command: str, name: str) -> str:
    limits = ' movablelimits="true" lspace="0" rspace="0"'
    return _operator(name, limits) if command in _LIMITS else f"<mi>{name}</mi>"


#: What has no argument.
_ATOMS = (
    {command: f"<mi>{sign}</mi>" for command, sign in _LETTERS.items()}
    | {command: _operator(sign) for command, sign in _OPERATORS.items()}
    | {
        command: _operator(sign, ' stretchy="false" lspace="0" rspace="0"')
        for command, sign in _BRACKETS.items()
    }
    | {"/": _operator("/", ' lspace="0" rspace="0"')}
    | {
        command: _operator(sign, ' form="infix" lspace="0.2em" rspace="0.28em"')
        for command, sign in _RELATIONS.items()
    }
    | {command: f'<mspace width="{width}em"/>' for command, width in _SPACES.items()}
    | {command: _function(command, name) for command, name in _FUNCTIONS.items()}
)


def _alphabet(first: int, exceptions: str) -> dict[str, str]:
    """Capital letters from a code point on, but for those that Unicode had before."""
    before = dict(zip(exceptions[::2], exceptions[1::2], strict=True))
    return {c: before.get(c, chr(first + k)) for k, c in enumerate(ascii_uppercase)}


_ALPHABETS = {
    r"\mathcal": _alphabet(0x1D49C, "BℬEℰFℱHℋIℐLℒMℳRℛ"),
    r"\mathbb": _alphabet(0x1D538, "CℂHℍNℕPℙQℚRℝZℤ") | {"1": "𝟙"},
}
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|:=|\d+(?:\.\d+)?|\s+|.", re.S)
_THIN = '<mspace width="0.17em"/>'


class _Unreadable(ValueError):
    """The formula is malformed; the message says how."""


def formula(latex: str) -> str:
    """A formula as HTML: pieces of MathML and of text, between which a line may break."""
    try:
        pieces = _Reader(latex).pieces()
    except (_Unreadable, RecursionError):
        return f'<code class="formula">{escape(latex)}</code>'
    return f'<span class="formula">{" ".join(pieces)}</span>'


def _math(inside: str) -> str:
    return f'<math displaystyle="true">{inside}</math>'


class _Reader:
    """Recursive descent over the tokens of a formula."""

    def __init__(self, latex: str) -> None:
        self.tokens: list[str] = _TOKEN.findall(latex)
        self.place = 0
        self.upright = False

    def peek(self) -> str | None:
        """The next token that is no blank."""
        while self.place < len(self.tokens) and self.tokens[self.place].isspace():
            self.place += 1
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def take(self) -> str:
        token = self.peek()
        if token is None:
            raise _Unreadable("the formula ends too early")
        self.place += 1
        return token

    def raw(self) -> str:
        """The text of the next group, without the few commands that occur in one."""
        if self.take() != "{":
            raise _Unreadable("a text stands in braces")
        depth, start = 1, self.place
        while depth:
            if self.place == len(self.tokens):
                raise _Unreadable("a brace is not closed")
            depth += {"{": 1, "}": -1}.get(self.tokens[self.place], 0)
            self.place += 1
        text = re.sub(r"\s+", " ", "".join(self.tokens[start : self.place - 1]))
        return re.sub(r"\$|\\(?=[ ,&%#_{}])", "", text)

    def pieces(self) -> list[str]:
        """The whole formula, cut before relations and around texts."""
        found: list[str] = []
        row: list[str] = []

        def cut() -> None:
            if row:
                found.append(_math("".join(row)))
                row.clear()

        while (token := self.peek()) is not None:
            if token in _RELATIONS or token in (r"\quad", r"\qquad"):
                cut()
            if token == r"\text" and not self.upright:
                self.take()
                cut()
                found.append(escape(self.raw().strip()))
            elif token in (r"\quad", r"\qquad"):
                self.take()
            else:
                item = self.item(first=not row)
                # The blank between two pieces is the space before a relation.
                row.append(item if row else item.replace('lspace="0.2em"', 'lspace="0"', 1))
        cut()
        return [piece for piece in found if piece]

    def row(self, end: str | None = None) -> str:
        """Items up to an end, which is taken."""
        found: list[str] = []
        upright = self.upright
        while (token := self.peek()) not in (None, end):
            found.append(self.item(first=not found))
        if end is not None:
            if token is None:
                raise _Unreadable(f"{end} is missing")
            self.take()
        self.upright = upright
        return "".join(found)

    def argument(self) -> str:
        """What follows a command: a group, or a single sign."""
        token = self.take()
        if token.isdigit() and len(token) > 1:  # \tfrac12
            self.place -= 1
            self.tokens[self.place : self.place + 1] = list(token)
            token = self.take()
        return self.atom(token)

    def item(self, first: bool = False) -> str:
        """An atom with its indices."""
        token = self.peek() or ""
        base = "<mi></mi>" if token in ("^", "_") else self.atom(self.take())
        found = self.scripts(base, under=token in _LIMITS)
        if token in _FUNCTIONS:
            closes = self.peek() in (
                None,
                *[r"(", r"[", r"}", r")", r"]", r"\left", r"\right", r","],
            )
            found = ("" if first else _THIN) + found + ("" if closes else _THIN)
        return found

    def scripts(self, base: str, under: bool) -> str:
        """A base with what stands below and above it."""
        low = high = ""
        while (token := self.peek()) in ("^", "_", "'"):
            self.take()
            if token == "_":
                low += self.argument()
            else:
                high += self.argument() if token == "^" else _operator("′")
        if not low and not high:
            return base
        tag = ("munder" * bool(low) or "m") + "over" * bool(high)
        if not under:
            tag = "m" + "sub" * bool(low) + "sup" * bool(high)
        both = "".join(f"<mrow>{part}</mrow>" for part in (low, high) if part)
        return f"<{tag}>{base}{both}</{tag}>"

    def atom(self, token: str) -> str:
        """One sign, group or command without indices."""
        if token in ("}", r"\right", "&"):
            raise _Unreadable(f"{token} stands alone")
        if token == "{":
            return f"<mrow>{self.row('}')}</mrow>"
        if token in _ACCENTS:
            accent = _operator(_ACCENTS[token], ' stretchy="false"')
            # As an accent the bar would cross the letter where no mathematical font is installed.
            kind = "" if _ACCENTS[token] == "¯" else ' accent="true"'
            return f"<mover{kind}>{self.argument()}{accent}</mover>"
        if token in _ALPHABETS:
            letters = self.raw() if self.peek() == "{" else self.take()
            return f"<mi>{escape(''.join(_ALPHABETS[token].get(c, c) for c in letters))}</mi>"
        if token in _COMMANDS:
            return _COMMANDS[token](self)
        if token in _ATOMS:
            return _ATOMS[token]
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
        words = self.raw()
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

    def negated(self) -> str:
        sign = self.take()
        return _operator(_RELATIONS.get(sign, sign) + "\u0338", ' form="infix"')


def _fence(token: str, form: str) -> str:
    if token == ".":
        return ""
    if token not in _BRACKETS:
        raise _Unreadable(f"{token} is no bracket")
    return _operator(_BRACKETS[token], f' form="{form}" stretchy="true"')


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
    r"\not": _Reader.negated,
}
