"""The package ``kg.search``."""

from kg.search.beam import (
    DERIVATIONS,
    Action,
    BeamConfig,
    Expansion,
    FloatArray,
    Frontier,
    IntArray,
    SearchResult,
    SearchStatistics,
    beam_search,
)
from kg.search.merging import merge_key

__all__ = [
    "DERIVATIONS",
    "Action",
    "BeamConfig",
    "Expansion",
    "FloatArray",
    "Frontier",
    "IntArray",
    "SearchResult",
    "SearchStatistics",
    "beam_search",
    "merge_key",
]
