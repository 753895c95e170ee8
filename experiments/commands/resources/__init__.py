"""The verbs that fetch and check data sets and language models."""

__all__ = ["data", "lm"]
