"""A report's page as a language model reads it, and the calculations that it names over identifiers of figures."""

from programs.page.brief import NO_ANSWER, BriefPage, brief_prompt, brief_reply
from programs.page.calculation import NamedCalculation, read_calculation
from programs.page.document import PageText, excerpt, written_page
from programs.page.evidence import merged, written_evidence
from programs.page.figures import IDENTIFIER, CalculationError, PageFigures
from programs.page.grammar import START, answered, calculation_grammar, comparable, function_rules, stated_numbers
from programs.page.predictor import PagePredict, shortened
from programs.page.relevance import Relevance, relevance_of
from programs.page.writing import written_calculation, written_turns

__all__ = [
    "IDENTIFIER",
    "NO_ANSWER",
    "START",
    "BriefPage",
    "CalculationError",
    "NamedCalculation",
    "PageFigures",
    "PagePredict",
    "PageText",
    "Relevance",
    "answered",
    "brief_prompt",
    "brief_reply",
    "calculation_grammar",
    "comparable",
    "excerpt",
    "function_rules",
    "merged",
    "read_calculation",
    "relevance_of",
    "shortened",
    "stated_numbers",
    "written_calculation",
    "written_evidence",
    "written_page",
    "written_turns",
]
