"""What the signs of LaTeX are called in Unicode."""

from __future__ import annotations

from string import ascii_uppercase


def _signs(table: str) -> dict[str, str]:
    """Commands and signs, in turn."""
    words = table.split()
    return {f"\\{name}": sign for name, sign in zip(words[::2], words[1::2], strict=True)}


LETTERS = _signs("""
    alpha α  beta β  gamma γ  delta δ  epsilon ϵ  varepsilon ε  zeta ζ  eta η  theta θ  vartheta ϑ
    iota ι  kappa κ  lambda λ  mu μ  nu ν  xi ξ  pi π  rho ρ  varrho ϱ  sigma σ  tau τ  upsilon υ
    phi ϕ  varphi φ  chi χ  psi ψ  omega ω
    Gamma Γ  Delta Δ  Theta Θ  Lambda Λ  Xi Ξ  Pi Π  Sigma Σ  Upsilon Υ  Phi Φ  Psi Ψ  Omega Ω
    ell ℓ  infty ∞  nabla ∇  partial ∂  top ⊤  bot ⊥  emptyset ∅  star ⋆
""")
#: A line may be broken before each of them.
RELATIONS = _signs("""
    le ≤  leq ≤  ge ≥  geq ≥  ne ≠  neq ≠  ll ≪  gg ≫  approx ≈  sim ∼  simeq ≃  equiv ≡
    propto ∝  in ∈  notin ∉  subset ⊂  subseteq ⊆  supset ⊃  to →  rightarrow →  leftarrow ←
    mapsto ↦  Rightarrow ⇒  Leftarrow ⇐  Leftrightarrow ⇔  implies ⟹  iff ⟺  Longleftarrow ⟸
    Longrightarrow ⟹  succ ≻  prec ≺  succeq ⪰  preceq ⪯  succcurlyeq ≽  preccurlyeq ≼
    mid ∣  coloneqq ≔  perp ⊥
""") | {sign: sign for sign in ("=", "<", ">", ":=")}
BRACKETS = _signs("langle ⟨  rangle ⟩  lceil ⌈  rceil ⌉  lfloor ⌊  rfloor ⌋  | ‖  { {  } }") | {
    sign: sign for sign in "()[]|"
}
OPERATORS = _signs("""
    cdot ⋅  times ×  odot ⊙  otimes ⊗  oplus ⊕  pm ±  mp ∓  circ ∘  ast ∗  cap ∩  cup ∪
    setminus ∖  wedge ∧  vee ∨  neg ¬  sum ∑  prod ∏  int ∫  exists ∃  forall ∀
    dots …  ldots …  cdots ⋯  # #  % %  & &  _ _
""") | {"-": "−", "*": "∗"}
FUNCTIONS = _signs("""
    ln ln  log log  exp exp  min min  max max  sup sup  inf inf  lim lim  arg arg  det det
    dim dim  ker ker  sin sin  cos cos  tan tan  tanh tanh  Pr Pr  sgn sgn
""") | {r"\limsup": "lim sup", r"\liminf": "lim inf"}
#: What stands under or over these is not beside them.
LIMITS = {r"\min", r"\max", r"\sup", r"\inf", r"\lim", r"\limsup", r"\liminf", r"\sum", r"\prod"}
ACCENTS = _signs("bar ¯  overline ¯  hat ^  widehat ^  tilde ~  widetilde ~  dot ˙  vec →")
#: In em.
SPACES = _signs(", 0.17  : 0.22  ; 0.28  quad 1  qquad 2  ! -0.17") | {r"\ ": "0.25", "~": "0.25"}


def _alphabet(first: int, exceptions: str) -> dict[str, str]:
    """Capital letters from a code point on, but for those that Unicode had before."""
    before = dict(zip(exceptions[::2], exceptions[1::2], strict=True))
    return {c: before.get(c, chr(first + k)) for k, c in enumerate(ascii_uppercase)}


SCRIPT = _alphabet(0x1D49C, "BℬEℰFℱHℋIℐLℒMℳRℛ")
BLACKBOARD = _alphabet(0x1D538, "CℂHℍNℕPℙQℚRℝZℤ") | {"1": "𝟙"}
