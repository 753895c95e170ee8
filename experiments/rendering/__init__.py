"""Texts and HTML pages of turns, conversations, and inspections."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from experiments.rendering.comparison_text import describe_comparison, short_names, written
    from experiments.rendering.inspection_text import (
        describe_paths,
        describe_scored_turn,
        describe_trace,
        scored_turn_figures,
    )
    from experiments.rendering.pages import CAUTION, briefings_page, make_pages
    from experiments.rendering.turn_text import answer_figures, basis_of, describe_source, describe_turn, turn_figures
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "CAUTION",
    "answer_figures",
    "basis_of",
    "briefings_page",
    "describe_comparison",
    "describe_paths",
    "describe_scored_turn",
    "describe_source",
    "describe_trace",
    "describe_turn",
    "make_pages",
    "scored_turn_figures",
    "short_names",
    "turn_figures",
    "written",
]
