"""The words of a question about a graph: what it asks for, what it mentions, its limits and negations."""

from kg.analysis.question import Analysis, analyse

__all__ = ["Analysis", "analyse"]
