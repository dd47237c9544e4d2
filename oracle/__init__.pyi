from .maximum_margin import solve as solve
from .result import (
    L1Margin as L1Margin,
    Margin as Margin,
    NegativeMargin as NegativeMargin,
    Truth as Truth,
)
