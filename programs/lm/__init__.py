"""Language models: the embedded engine, budgets and meters, limits, and the probabilities of replies."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from programs.lm.budget import EXPENSES, Budget, Expenses, SuitedAdapter
    from programs.lm.engine import GBNF, AsyncEmbeddedEngine, EmbeddedEngine, quoted
    from programs.lm.guarded import GuardedLM
    from programs.lm.marks import plain_text
    from programs.lm.probabilities import LEAST_SHARE, probability_of, sampling, stated, tokens_of
    from programs.lm.runtime import EngineSettings, file_sha256, find_adapter, load_runtime
else:
    __getattr__ = lazy_exports(__name__, __file__)
