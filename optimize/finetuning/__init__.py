"""Fine-tuning of the embedded models: adapters (LoRA) for the choice among candidates, and DSPy's provider."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from optimize.finetuning.finetune import FinetuneOptimizer, FitAdapter
    from optimize.finetuning.provider import EmbeddedProvider
    from optimize.finetuning.settings import TrainingConfig
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "EmbeddedProvider",
    "FinetuneOptimizer",
    "FitAdapter",
    "TrainingConfig",
]
