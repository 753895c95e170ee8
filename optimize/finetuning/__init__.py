"""Fine-tuning of the embedded models: adapters (LoRA) that learn replies."""

from optimize.finetuning.adapter import AdapterConfig, train_adapter
from optimize.finetuning.chats import Chat

__all__ = ["AdapterConfig", "Chat", "train_adapter"]
