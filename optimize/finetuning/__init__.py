"""Fine-tuning of the embedded models: adapters (LoRA) for the choice among candidates."""

from optimize.finetuning.adapter import TrainingConfig, train_adapter
from optimize.finetuning.chats import Chat
from optimize.finetuning.finetune import FinetuneOptimizer, FitAdapter

__all__ = ["Chat", "FinetuneOptimizer", "FitAdapter", "TrainingConfig", "train_adapter"]
