"""Language models: the embedded engine, budgets and meters, adapters and grammars for short replies."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from programs.lm.adapter import ALL_CHOICES, ShortPromptAdapter, SuitedAdapter, is_embedded, suited_adapter
    from programs.lm.budget import Budget, Expenses
    from programs.lm.choice import ReplyChoice
    from programs.lm.concurrent import concurrently
    from programs.lm.engine import AsyncEmbeddedEngine, EmbeddedEngine
    from programs.lm.grammar import GBNF, HELD, quoted
    from programs.lm.guarded import GuardedLM
    from programs.lm.lora import AdapterFiles, adapter_files, file_sha256, find_adapter, write_card
    from programs.lm.marks import plain_text
    from programs.lm.meter import CallMeter, failure_of, metered
    from programs.lm.runtime import EngineSettings, load_runtime, serve
    from programs.lm.wire import Prompt
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "ALL_CHOICES",
    "GBNF",
    "HELD",
    "AdapterFiles",
    "AsyncEmbeddedEngine",
    "Budget",
    "CallMeter",
    "EmbeddedEngine",
    "EngineSettings",
    "Expenses",
    "GuardedLM",
    "Prompt",
    "ReplyChoice",
    "ShortPromptAdapter",
    "SuitedAdapter",
    "adapter_files",
    "concurrently",
    "failure_of",
    "file_sha256",
    "find_adapter",
    "is_embedded",
    "load_runtime",
    "metered",
    "plain_text",
    "quoted",
    "serve",
    "suited_adapter",
    "write_card",
]
