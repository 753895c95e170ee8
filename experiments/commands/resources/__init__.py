"""The verbs that fetch and check data sets and language models, and completion in a shell."""

__all__ = ["completion", "data", "lm"]
