"""A report's page as a language model reads it, and the calculations that it names over identifiers of figures."""

from programs.worlds.page.calculation import NamedCalculation, read_calculation
from programs.worlds.page.document import PageText, excerpt, shortened, written_page
from programs.worlds.page.evidence import merged, written_evidence
from programs.worlds.page.figures import IDENTIFIER, CalculationError, PageFigures
from programs.worlds.page.relevance import Relevance, relevance_of
from programs.worlds.page.writing import written_calculation, written_turns

__all__ = [
    "IDENTIFIER",
    "CalculationError",
    "NamedCalculation",
    "PageFigures",
    "PageText",
    "Relevance",
    "excerpt",
    "merged",
    "read_calculation",
    "relevance_of",
    "shortened",
    "written_calculation",
    "written_evidence",
    "written_page",
    "written_turns",
]
