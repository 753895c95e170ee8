"""The beam search over any space, and the merging of equal answers."""

from kg.search.beam import (
    Action,
    BeamConfig,
    Expansion,
    Frontier,
    SearchResult,
    SearchStatistics,
    beam_search,
)
from kg.search.merging import merge_key

__all__ = [
    "Action",
    "BeamConfig",
    "Expansion",
    "Frontier",
    "SearchResult",
    "SearchStatistics",
    "beam_search",
    "merge_key",
]
