"""Compiling of the extraction of facts from news: examples with gold facts, a metric, and demonstrations by DSPy."""

from optimize.extraction.examples import FactScore, GoldFact, extraction_examples, fact_metric, score_facts
from optimize.extraction.fit import EXTRACTION_OPTIMIZERS, ExtractionFit, fit_extraction

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
