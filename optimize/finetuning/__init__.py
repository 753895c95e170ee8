"""Fine-tuning of the embedded models: adapters (LoRA) for the choice among candidates, and DSPy's provider."""

from optimize.finetuning.finetune import FinetuneOptimizer, FitAdapter
from optimize.finetuning.provider import EmbeddedProvider
from optimize.finetuning.settings import TrainingConfig

__all__ = [
    "EmbeddedProvider",
    "FinetuneOptimizer",
    "FitAdapter",
    "TrainingConfig",
]
