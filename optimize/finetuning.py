"""Fine-tuning of an embedded model: an adapter (LoRA) that learns the replies of a program's prompts.

    >>> with dspy.context(lm=lm):                                     # local/qwen2.5-coder-0.5b
    ...     FitAdapter(AdapterSettings(name="mine")).compile(program, trainset=conversation_examples(train))
    >>> lm.copy(model="local/qwen2.5-coder-0.5b+mine")                # the model with it, also --lm local/NAME+mine

Each predictor learns its own prompts as DSPy writes them, where an example has a value of each output: of a turn with
a gold program, the meaning, the calculation over the page and the confidence. The loss counts replies only.
transformers reads the weights from the file that the runtime serves (GGUF) and dequantises them, so an adapter corrects
exactly the model that it is later loaded with. The tokens are the runtime's own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, ClassVar

import dspy
import numpy as np
from pydantic import Field, PositiveFloat, PositiveInt
from pydantic.dataclasses import dataclass

from kg.errors import ConfigError, DataError
from optimize.examples import turn_examples
from optimize.optimizers import ConversationFit, Progress, check_packages, silent
from programs.beam import BeamQA
from programs.conversation import ConversationQA
from programs.lm import EmbeddedEngine, file_sha256

FAMILIES = {"llama": True, "qwen2": False}
"""The families that can be trained, and whether their file has the rows of queries and keys in another order."""

IGNORED = -100
"""The label of a token that is read and not learned, which torch's cross-entropy leaves out."""

_PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


@dataclass(frozen=True)
class AdapterSettings:
    """The settings of :class:`FitAdapter`.

    Attributes:
        name: The adapter's name: the model is then ``local/MODEL+NAME``.
        epochs: Passes over all prompts, perhaps a fraction of one.
        rank: Rank of the matrices, which are scaled by 2.
        blocks: Transformer blocks that get matrices, the last ones. Fewer are faster.
        learning_rate: The largest learning rate; it falls to 0.
        batch: Prompts of a step.
        longest: Tokens of a prompt with its reply at the most; longer ones are left out.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")] = "finetuned"
    epochs: PositiveFloat = 1.0
    rank: PositiveInt = 8
    blocks: PositiveInt = 12
    learning_rate: PositiveFloat = 5e-4
    batch: PositiveInt = 8
    longest: PositiveInt = 1536


class FitAdapter(ConversationFit):
    """Trains an adapter of the embedded model that is set in DSPy.

    Attributes:
        card: The card of the adapter, once it is trained.
    """

    Settings: ClassVar = AdapterSettings
    settings: AdapterSettings
    keeps_folder = True
    card: Mapping[str, Any] = {}

    def fit(self, program: ConversationQA, turn: BeamQA, trainset: Sequence[dspy.Example]) -> None:  # noqa: ARG002
        """Writes the adapter to the folder ``adapters`` next to the model's file, with a card in JSON.

        Raises:
            ConfigError: A package is missing, or the model cannot be trained.
            DataError: No prompt has a reply that can be learned.
        """
        engine = getattr(dspy.settings.lm, "engine", None)
        if not isinstance(engine, EmbeddedEngine) or engine.settings.adapter is not None:
            model = getattr(dspy.settings.lm, "model", "none")
            raise ConfigError(f"optimizer 'finetune' trains an embedded model without an adapter, got {model}")
        check_packages(("torch", "transformers", "peft", "gguf"), "finetune", "finetune")
        examples = turn_examples(trainset, program)
        replies = [reply for predict in program.predictors() for reply in gold_replies(predict, examples)]
        self.card = train_adapter(engine, replies, self.settings, self.seed, self.folder, self.progress)


def gold_replies(predict: Any, examples: Iterable[dspy.Example]) -> list[tuple[list[dict[str, Any]], str]]:
    """The messages of a predictor with the reply that gives its gold outputs; examples without them are left out."""
    adapter, signature = dspy.JSONAdapter(), predict.signature
    replies = []
    for example in examples:
        values = {**example, **({"history": example.conversation} if "conversation" in example else {})}
        if all(name in values for name in signature.fields):
            outputs = {name: values[name] for name in signature.output_fields}
            messages = adapter.format(signature, predict.demos, {name: values[name] for name in signature.input_fields})
            replies.append((messages, adapter.format_assistant_message_content(signature, outputs)))
    return replies


def token_sequence(
    messages: Sequence[Mapping[str, Any]], reply: str, engine: Any, longest: int
) -> dict[str, list[int]]:
    """The ``input_ids`` and ``labels`` of a prompt with its reply; empty where they are longer than ``longest``."""
    prompt = engine.template(messages)
    whole = engine.template([*messages, {"role": "assistant", "content": reply}, {"role": "user", "content": ""}])
    read, learned = engine.token_ids(prompt, begins=True, marks=True), engine.token_ids(reply)
    end = engine.token_ids(whole[len(prompt) + len(reply) :], marks=True)[:1]
    tokens = [*read, *learned, *end]
    if len(tokens) > longest:
        return {"input_ids": [], "labels": []}
    return {"input_ids": tokens, "labels": [IGNORED] * len(read) + [*learned, *end]}


def train_adapter(
    engine: Any,
    replies: Sequence[tuple[Sequence[Mapping[str, Any]], str]],
    settings: AdapterSettings,
    seed: int,
    folder: Path | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Trains an adapter on messages and their replies, writes it with its card, and returns the card."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, GgufConfig, Trainer, TrainingArguments, set_seed
    from transformers.trainer_utils import get_last_checkpoint

    base = engine.settings.path
    file = base.parent / "adapters" / f"{base.stem}+{settings.name}.gguf"
    sequences = (token_sequence(messages, reply, engine, settings.longest) for messages, reply in replies)
    learned = [sequence for sequence in sequences if sequence["input_ids"]]
    if not learned:
        raise DataError("no prompt has a reply that can be learned")
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
    layers = range(model.config.num_hidden_layers)[-settings.blocks :]
    lora = LoraConfig(
        task_type="CAUSAL_LM",
        r=settings.rank,
        lora_alpha=2 * settings.rank,
        target_modules=_PROJECTIONS,
        layers_to_transform=list(layers),
    )
    model = get_peft_model(model, lora)
    with TemporaryDirectory() as temporary:
        output = str(folder) if folder is not None else temporary
        arguments = TrainingArguments(
            output,
            num_train_epochs=settings.epochs,
            per_device_train_batch_size=1,
            gradient_accumulation_steps=settings.batch,
            learning_rate=settings.learning_rate,
            warmup_steps=0.05,
            logging_steps=0.02,
            save_steps=0.1,
            save_total_limit=1,
            dataloader_pin_memory=torch.cuda.is_available(),
            prediction_loss_only=True,
            report_to="none",
            seed=seed,
        )
        trainer = Trainer(model, arguments, train_dataset=learned)
        progress(f"training on {len(learned)} of {len(replies)} prompts")
        trainer.train(resume_from_checkpoint=get_last_checkpoint(output))
        curves = trainer.state.log_history
    write_adapter(model, file, settings.name)
    card = {
        "sha256": file_sha256(file),
        "base": {"file": base.name, "size": base.stat().st_size, "sha256": file_sha256(base)},
        "prompts": len(learned),
        "seed": seed,
        "settings": asdict(settings),
        "curves": curves,
    }
    file.with_suffix(".json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    return card


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
