"""The language of calculations: derivations, their arithmetic and how they build on earlier turns."""

from kg.derivations.calculator import CalculatorOperation, calculate
from kg.derivations.derivation import Derivation
from kg.derivations.history import (
    COMPOUNDS,
    OPERATIONS,
    SERIES_OPERATIONS,
    PastTurn,
    Reference,
    TurnOperation,
    collapse,
    expand,
)
from kg.derivations.steps import (
    LABELLED_OPERATIONS,
    LONG_OPERATIONS,
    NAMED_OPERATIONS,
    Answer,
    Constant,
    Labelled,
    Names,
    Number,
    Operand,
    Step,
    StepResult,
)

__all__ = [
    "COMPOUNDS",
    "LABELLED_OPERATIONS",
    "LONG_OPERATIONS",
    "NAMED_OPERATIONS",
    "OPERATIONS",
    "SERIES_OPERATIONS",
    "Answer",
    "CalculatorOperation",
    "Constant",
    "Derivation",
    "Labelled",
    "Names",
    "Number",
    "Operand",
    "PastTurn",
    "Reference",
    "Step",
    "StepResult",
    "TurnOperation",
    "calculate",
    "collapse",
    "expand",
]
