"""The runtime of an embedded model: its settings, the adapters of its weights, and its start."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kg.errors import ConfigError, LMError

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_MOST_THREADS = 4
_SLOTS = 4
"""Prompts whose beginnings are cached at the same time."""

_CACHE_MIB = 512
"""Memory for prompts that no longer have a slot. A token of the 1.5B model takes 28 KiB, so it holds about 40 documents
of news, and each is read once for several questions."""


@dataclass(frozen=True)
class EngineSettings:
    """The weights of an embedded model, and its limits on the machine.

    Attributes:
        path: The model's file (GGUF).
        name: The model's name, as ``dspy.LM`` has it.
        threads: Threads that compute; by default as many as there are cores, at most 4.
        context: Tokens of prompt and reply that fit together, over all slots.
        adapter: The file of an adapter (LoRA) that is loaded with the weights; ``None`` for none.
        adapters: Folders in which adapters of the weights may be, after the one next to them.
    """

    path: Path
    name: str
    threads: int | None = None
    context: int = 8192
    adapter: Path | None = None
    adapters: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        for name, value in (("threads", self.threads), ("context", self.context)):
            if value is not None and value < 1:
                raise ConfigError(f"{name} must be at least 1, got {value}")


def find_adapter(base: Path, name: str, further: Sequence[Path] = ()) -> Path:
    """The file of an adapter (LoRA) of a model's file, after the card in JSON next to it was checked.

    Args:
        base: The model's file.
        name: The adapter's name.
        further: Folders in which it may be, after the folder ``adapters`` next to the model.

    Raises:
        LMError: There is none, it is for other weights, or its file is not the one that the card names.
        ConfigError: The name has characters that are not allowed.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"an adapter's name must be of small letters, digits, '.', '_' and '-', got {name!r}")
    for folder in (base.parent / "adapters", *further):
        weights = folder / f"{base.stem}+{name}.gguf"
        if not weights.is_file() or not weights.with_suffix(".json").is_file():
            continue
        card = json.loads(weights.with_suffix(".json").read_text(encoding="utf-8"))
        if file_sha256(weights) != card["sha256"]:
            raise LMError(f"{weights} is not the adapter that its card describes: its hash differs")
        if base.stat().st_size != card["base"]["size"]:
            raise LMError(f"{weights} is an adapter of other weights than {base.name}: their size differs")
        return weights
    raise LMError(f"there is no adapter {name!r} of {base.name} in {base.parent / 'adapters'}")


def file_sha256(path: Path) -> str:
    """The hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def load_runtime() -> Any:
    """The module of the runtime.

    Raises:
        LMError: It is not installed, or a library that it needs is missing.
    """
    # Threads that wait must not spin: with one other busy process on two cores that makes the model ten times slower.
    # It counts only when it is set before the runtime is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        import xllamacpp
    except (ImportError, OSError) as error:
        raise LMError("the embedded language model needs its runtime: pip install 'finpath[local]'") from error
    return xllamacpp


def server_parameters(settings: EngineSettings) -> Any:
    """The settings as llama.cpp takes them; its server listens on loopback only.

    Raises:
        LMError: The runtime is not installed, or a file is not there.
    """
    xllamacpp = load_runtime()
    for file in (settings.path, settings.adapter):
        if file is not None and not file.is_file():
            raise LMError(f"{file} is not there: fetch models with `finpath lm pull`")
    parameters = xllamacpp.CommonParams()
    if settings.adapter is not None:
        parameters.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(str(settings.adapter), 1.0)]
    threads = settings.threads if settings.threads is not None else min(os.cpu_count() or 1, _MOST_THREADS)
    parameters.model.path = str(settings.path)
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    values = {
        "model_alias": {settings.name},
        "n_ctx": settings.context,
        "n_parallel": _SLOTS,
        "kv_unified": True,
        "slot_prompt_similarity": 0.3,  # a prompt that shares little with what a slot holds must not push it out
        "cache_ram_mib": _CACHE_MIB,
        "hostnames": ["127.0.0.1"],
        "n_gpu_layers": 0,
        "warmup": False,
        "ui": False,
        "cors_origins": "http://127.0.0.1",  # pages in a browser on this machine must not be able to ask it
        "cors_origins_explicit": True,
        "cors_credentials": False,
        "endpoint_slots": False,
        "verbosity": 0,
    }
    for name, value in values.items():
        setattr(parameters, name, value)
    return parameters


def start(parameters: Any, settings: EngineSettings) -> Any:
    """The runtime with the weights loaded.

    Raises:
        LMError: They cannot be loaded.
    """
    try:
        return load_runtime().Server(parameters)
    except (RuntimeError, ValueError) as error:
        raise LMError(f"{settings.path} cannot be loaded: {error}") from error
