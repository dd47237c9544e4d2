from .answer import solve as solve
from .truth import (
    L1Margin as L1Margin,
    Margin as Margin,
    NegativeMargin as NegativeMargin,
    Truth as Truth,
)
