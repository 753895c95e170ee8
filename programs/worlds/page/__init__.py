"""A report's page as a language model reads it, and the calculations that it names over identifiers of figures."""

from programs.worlds.page.calculation import NamedCalculation, read_calculation
from programs.worlds.page.document import (
    PageText,
    Relevance,
    excerpt,
    figure_weights,
    is_serious,
    merged,
    relevance_of,
    shortened,
    written_evidence,
    written_page,
)
from programs.worlds.page.language import (
    IDENTIFIER,
    CalculationError,
    PageFigures,
    written_calculation,
    written_turns,
)
from programs.worlds.page.lines import LinePrompt, likeliest_figures, used_figures
