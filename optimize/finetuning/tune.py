"""From chat examples to the files of an adapter.

>>> card = tune(engine, examples, held_out, name="reports", config=TrainingConfig(hours=1), seed=0)
>>> card["base"]["file"], card["curves"][-1]["held_out_accuracy"]
('qwen2.5-coder-0.5b-instruct-q4_k_m.gguf', 0.61)
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

from kg.errors import ConfigError
from optimize.finetuning.sequences import ChatExample, MemoTokeniser, TokenSequence, joined, tokenised
from optimize.finetuning.settings import TrainingConfig
from optimize.needs import Plot, Progress, silent
from programs.lm import EmbeddedEngine, adapter_files, file_sha256, write_card

CHECKPOINT = "adapter.pt"
"""The file of the training's state in the folder of a step."""


def tune(
    engine: EmbeddedEngine,
    examples: Sequence[ChatExample],
    held_out: Sequence[ChatExample],
    *,
    name: str,
    config: TrainingConfig,
    seed: int,
    folder: Path | None = None,
    progress: Progress = silent,
    about: Mapping[str, Any] | None = None,
    is_cancelled: Callable[[], bool] | None = None,
    plot: Plot | None = None,
) -> dict[str, Any]:
    """Trains an adapter and writes it to the folder of the model's file; returns its card.

    Args:
        engine: The embedded model. If it has an adapter, training continues from that one, with its shape.
        examples: What is learned.
        held_out: What is only measured, for the curves.
        name: The adapter's name.
        config: The settings.
        seed: Of the adapters' start and the order of the examples.
        folder: Where checkpoints are kept, to continue from; ``None`` keeps nothing.
        progress: Receives a line for each stage and each point.
        about: Further facts for the card.
        is_cancelled: Asked after every step; the training then ends early with what it has.
        plot: Receives each point of the curves.

    Raises:
        ConfigError: A package is missing, or the model cannot be trained.
        DataError: No example can be learned, or the checkpoint is of another training.
    """
    check_packages()
    import torch

    from optimize.finetuning.export import adapter_shape, read_adapter, write_adapter
    from optimize.finetuning.model import AdapterShape, Decoder
    from optimize.finetuning.training import Training
    from optimize.finetuning.weights import read_weights

    files = adapter_files(engine.settings.path, name)
    progress(f"tokens of {len(examples)} conversations")
    memo = MemoTokeniser(engine)
    sequences, measured = (_sequences(part, memo, config) for part in (examples, held_out))
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    start = engine.settings.adapter
    chosen = AdapterShape(config.rank, config.alpha, config.blocks)
    threads = torch.get_num_threads()
    if device.type == "cpu":
        torch.set_num_threads(config.threads)
    try:
        torch.manual_seed(seed)
        progress("weights")
        model = Decoder(
            read_weights(engine.settings.path, torch.bfloat16, device),
            chosen if start is None else adapter_shape(start),
        )
        if start is not None:
            read_adapter(model, start)
        checkpoint = folder / CHECKPOINT if folder is not None else None
        training = Training(model, sequences, measured, config, seed, checkpoint, progress, is_cancelled, plot)
        curves = training.run()
    finally:
        torch.set_num_threads(threads)
    write_adapter(model, files.weights, name)
    return write_card(
        files,
        engine.settings.path,
        {
            "data_sha256": data_sha256(examples),
            "examples": len(sequences),
            "replies": sum(one.replies for one in sequences),
            "seed": seed,
            "device": device.type,
            "start": {"file": start.name, "sha256": file_sha256(start)} if start is not None else None,
            "settings": {**dataclasses.asdict(config), **dataclasses.asdict(model.adapters)},
            "tokens": curves.tokens,
            "seconds": round(curves.seconds),
            "curves": [dataclasses.asdict(one) for one in curves.points],
            **(about or {}),
        },
    )


def check_packages() -> None:
    """Raises a :class:`ConfigError` where a package of the extra is missing."""
    missing = [name for name in ("torch", "gguf") if find_spec(name) is None]
    if missing:
        raise ConfigError(f"fine-tuning needs {missing[0]}, which is not installed: pip install 'finpath[finetune]'")


def data_sha256(examples: Sequence[ChatExample]) -> str:
    """The hash of what is learned."""
    content = [[list(one.messages), sorted(one.replies), one.group] for one in examples]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _sequences(examples: Sequence[ChatExample], memo: MemoTokeniser, config: TrainingConfig) -> list[TokenSequence]:
    found = []
    for _, group in groupby(examples, key=lambda one: one.group if config.together > 1 else id(one)):
        read = [one for one in (tokenised(example, memo, config.longest) for example in group) if one.targets]
        found += [joined(read[place : place + config.together]) for place in range(0, len(read), config.together)]
    return found
