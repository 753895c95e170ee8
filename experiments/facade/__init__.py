"""The API of ``import finpath``: documents of a user's own, and answers about them."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from experiments.facade.answers import Answer, Answers, ask, load
    from experiments.facade.documents import FoundReport, read, resolve_report, split_targets
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = ["Answer", "Answers", "FoundReport", "ask", "load", "read", "resolve_report", "split_targets"]
