"""Beam search over any space, and the merging of equal answers."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from kg.search.beam import BeamConfig, SearchResult, SearchStatistics, beam_search
    from kg.search.merging import merge, merge_key
    from kg.search.space import Action, Expansion, Frontier, Space
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "Action",
    "BeamConfig",
    "Expansion",
    "Frontier",
    "SearchResult",
    "SearchStatistics",
    "Space",
    "beam_search",
    "merge",
    "merge_key",
]
