"""Compiling of the extraction of facts from news: examples with gold facts, a metric, and demonstrations by DSPy."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from optimize.extraction.examples import FactScore, GoldFact, extraction_examples, fact_metric, score_facts
    from optimize.extraction.fit import EXTRACTION_OPTIMIZERS, ExtractionFit, fit_extraction
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "EXTRACTION_OPTIMIZERS",
    "ExtractionFit",
    "FactScore",
    "GoldFact",
    "extraction_examples",
    "fact_metric",
    "fit_extraction",
    "score_facts",
]
