"""Turns, comparisons and conversations as text, as figures, and as HTML pages."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from experiments.pages.html import make_pages, render
    from experiments.pages.text import (
        answer_figures,
        basis_of,
        describe_basis,
        describe_comparison,
        describe_scored_turn,
        describe_source,
        describe_trace,
        describe_turn,
        scored_turn_figures,
        short_names,
        turn_figures,
        written,
    )
else:
    __getattr__ = lazy_exports(__name__, __file__)
