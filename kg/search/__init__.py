"""The language of calculations with its arithmetic, and beam search over any space with the merging of answers."""

from kg.search.beam import BeamConfig, SearchResult, SearchStatistics, beam_search, merge
from kg.search.derivation import Derivation
from kg.search.history import (
    COMPOUNDS,
    OPERATIONS,
    SERIES_OPERATIONS,
    PastTurn,
    Reference,
    TurnOperation,
    collapse,
    expand,
    spelled_out,
)
from kg.search.space import Action, Expansion, Frontier, Space
from kg.search.steps import (
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
    merge_key,
)
