"""The API of ``import finpath``: documents of a user's own, and answers about them."""

from experiments.facade.answers import Answers, ReportAnswer, ask, load
from experiments.facade.documents import FoundReport, read, resolve_report

__all__ = ["Answers", "FoundReport", "ReportAnswer", "ask", "load", "read", "resolve_report"]
