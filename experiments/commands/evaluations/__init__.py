"""The verbs that compile programs, evaluate them and show their runs."""

__all__ = ["compare", "compile", "demo", "evaluate", "inspect", "promote", "report"]
