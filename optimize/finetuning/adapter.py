"""The training of an adapter (LoRA) by transformers and peft, and its file for llama.cpp.

    >>> card = train_adapter(engine, chats, held_out, name="reports", config=AdapterConfig(), seed=0)
    >>> card["base"]["file"], card["curves"][-1]["eval_loss"]
    ('qwen2.5-coder-0.5b-instruct-q4_k_m.gguf', 0.41)

transformers reads the weights from the file that the runtime serves (GGUF) and dequantises them, so an adapter corrects
exactly the model that it is later loaded with. The tokens are the runtime's own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from pydantic import PositiveFloat, PositiveInt
from pydantic.dataclasses import dataclass

from kg.errors import ConfigError, DataError
from optimize.finetuning.chats import IGNORED, Chat, token_sequence
from optimize.fitting import Plot, Progress, silent
from programs.lm import EmbeddedEngine, adapter_files, write_card

FAMILIES = {"llama": True, "qwen2": False}
"""The families that can be trained, and whether their file has the rows of queries and keys in another order."""

_PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
_PACKAGES = ("torch", "transformers", "peft", "gguf")


@dataclass(frozen=True)
class AdapterConfig:
    """The training of an adapter.

    Attributes:
        epochs: Passes over all chats, perhaps a fraction of one.
        rank: Rank of the matrices, which are scaled by 2.
        blocks: Transformer blocks that get matrices, the last ones. Fewer are faster.
        learning_rate: The largest learning rate; it falls to 0.
        batch: Chats of a step.
        longest: Tokens of a chat at the most; later turns are left out.
    """

    epochs: PositiveFloat = 1.0
    rank: PositiveInt = 8
    blocks: PositiveInt = 12
    learning_rate: PositiveFloat = 5e-4
    batch: PositiveInt = 8
    longest: PositiveInt = 768


def check_packages() -> None:
    """Raises a :class:`ConfigError` where a package of the extra is missing."""
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise ConfigError(f"fine-tuning needs {missing[0]}, which is not installed: pip install 'finpath[finetune]'")


def train_adapter(
    engine: EmbeddedEngine,
    chats: Sequence[Chat],
    held_out: Sequence[Chat],
    *,
    name: str,
    config: AdapterConfig,
    seed: int,
    folder: Path | None = None,
    progress: Progress = silent,
    plot: Plot | None = None,
) -> dict[str, Any]:
    """Trains an adapter, writes it to the folder ``adapters`` next to the model's file, and returns its card.

    Args:
        engine: The embedded model.
        chats: What is learned.
        held_out: What is only measured, for the curves.
        name: The adapter's name.
        config: The settings.
        seed: Of the adapter's start and the order of the chats.
        folder: The place of checkpoints, from which a stopped training continues; ``None`` keeps nothing.
        progress: Receives a line for each stage.
        plot: Receives the points of the curves.

    Raises:
        ConfigError: A package is missing, or the model cannot be trained.
        DataError: No chat has a reply that can be learned.
    """
    check_packages()
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, GgufConfig, Trainer, TrainingArguments, set_seed
    from transformers.trainer_utils import get_last_checkpoint

    base = engine.settings.path
    files = adapter_files(base, name)
    progress(f"tokens of {len(chats)} chats")
    learned, measured = (_sequences(part, engine, config.longest) for part in (chats, held_out))
    if not learned:
        raise DataError("no chat has a reply that can be learned")
    progress(f"weights of {base.name}")
    set_seed(seed)
    model = AutoModelForCausalLM.from_pretrained(
        base.parent, gguf_file=base.name, quantization_config=GgufConfig(dequantize=True), dtype=torch.bfloat16
    )
    if model.config.model_type not in FAMILIES:
        known = ", ".join(FAMILIES)
        raise ConfigError(
            f"models of the families {known} can be trained, and {base.name} is {model.config.model_type}"
        )
    layers = range(model.config.num_hidden_layers)[-config.blocks :]
    lora = LoraConfig(
        task_type="CAUSAL_LM",
        r=config.rank,
        lora_alpha=2 * config.rank,
        target_modules=_PROJECTIONS,
        layers_to_transform=list(layers),
    )
    model = get_peft_model(model, lora)
    with TemporaryDirectory() as temporary:
        output = str(folder) if folder is not None else temporary
        arguments = TrainingArguments(
            output,
            num_train_epochs=config.epochs,
            per_device_train_batch_size=1,
            per_device_eval_batch_size=1,
            gradient_accumulation_steps=config.batch,
            learning_rate=config.learning_rate,
            warmup_steps=0.05,
            logging_steps=0.02,
            eval_strategy="steps" if measured else "no",
            eval_steps=0.1,
            eval_on_start=bool(measured),
            save_steps=0.1,
            save_total_limit=1,
            dataloader_pin_memory=torch.cuda.is_available(),
            prediction_loss_only=True,
            report_to="none",
            seed=seed,
        )
        trainer = Trainer(model, arguments, train_dataset=learned, eval_dataset=measured or None)
        progress(f"training on {len(learned)} chats, {sum(map(_learned_tokens, learned))} tokens of replies")
        trainer.train(resume_from_checkpoint=get_last_checkpoint(output))
        curves = trainer.state.log_history
    if plot is not None:
        for point in curves:
            plot({f"training/{key}": value for key, value in point.items() if key != "step"}, point["step"])
    write_adapter(model, files.weights, name)
    about = {
        "data_sha256": _data_sha256(chats),
        "chats": len(learned),
        "seed": seed,
        "settings": asdict(config),
        "curves": curves,
    }
    return write_card(files, base, about)


def write_adapter(model: Any, path: Path, name: str) -> None:
    """Writes the matrices of a peft model in half precision, as llama.cpp loads them.

    Args:
        model: The model.
        path: The file, which is replaced.
        name: The adapter's name.
    """
    import gguf
    from peft import get_peft_model_state_dict

    config, family = model.config, model.config.model_type
    architecture = next(key for key, known in gguf.MODEL_ARCH_NAMES.items() if known == family)
    names = gguf.get_tensor_name_map(architecture, config.num_hidden_layers)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    writer = gguf.GGUFWriter(str(new), family)
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, float(model.peft_config["default"].lora_alpha))
    writer.add_name(name)
    for key, tensor in get_peft_model_state_dict(model, save_embedding_layers=False).items():
        # base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight
        module, _, side = key.removeprefix("base_model.model.").removesuffix(".weight").rpartition(".lora_")
        matrix = tensor.detach().float().cpu().numpy()
        heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}.get(
            module.rpartition(".")[2]
        )
        if FAMILIES[family] and side == "B" and heads is not None:
            # this family's file has the two halves of each head's rotary dimensions interleaved
            matrix = matrix.reshape(heads, 2, -1, matrix.shape[1]).swapaxes(1, 2).reshape(matrix.shape)
        writer.add_tensor(f"{names.get_name(module)}.weight.lora_{side.lower()}", matrix.astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    new.replace(path)


def _sequences(chats: Sequence[Chat], engine: EmbeddedEngine, longest: int) -> list[dict[str, list[int]]]:
    sequences = (token_sequence(chat, engine, longest) for chat in chats)
    return [sequence for sequence in sequences if _learned_tokens(sequence)]


def _learned_tokens(sequence: Mapping[str, Sequence[int]]) -> int:
    return sum(label != IGNORED for label in sequence["labels"])


def _data_sha256(chats: Sequence[Chat]) -> str:
    content = [[list(chat.messages), sorted(chat.learned), chat.group] for chat in chats]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
