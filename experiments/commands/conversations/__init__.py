"""The verbs that answer questions one after the other: ``ask`` and ``chat``."""

__all__ = ["ask", "chat"]
