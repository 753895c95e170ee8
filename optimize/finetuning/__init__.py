"""Fine-tuning of the embedded models: adapters (LoRA) for the choice among candidates."""

from optimize.finetuning.adapter import AdapterConfig, train_adapter
from optimize.finetuning.chats import Chat
from optimize.finetuning.finetune import FinetuneSettings, FitAdapter

__all__ = ["AdapterConfig", "Chat", "FinetuneSettings", "FitAdapter", "train_adapter"]
