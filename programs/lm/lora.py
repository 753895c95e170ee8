"""Adapters (LoRA) of embedded models: their files, their cards, and the check that they fit the weights.

An adapter is a file that the runtime loads with the weights it was trained for, with a card in JSON:

    models/adapters/qwen2.5-coder-0.5b-instruct-q4_k_m+reports.gguf
    models/adapters/qwen2.5-coder-0.5b-instruct-q4_k_m+reports.json

``optimize.finetuning`` writes them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kg.errors import ConfigError, LMError
from kg.files import replacing

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


@dataclass(frozen=True)
class AdapterFiles:
    """The places of an adapter's files.

    Attributes:
        weights: The adapter, in the runtime's format.
        card: What it was trained on and how, in JSON.
    """

    weights: Path
    card: Path


def adapter_files(base: Path, name: str, folder: Path | None = None) -> AdapterFiles:
    """The place of an adapter of a model's file: by default the folder ``adapters`` next to the model.

    Raises:
        ConfigError: The name has characters that are not allowed.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"an adapter's name must be of small letters, digits, '.', '_' and '-', got {name!r}")
    stem = (folder if folder is not None else base.parent / "adapters") / f"{base.stem}+{name}"
    return AdapterFiles(stem.with_name(f"{stem.name}.gguf"), stem.with_name(f"{stem.name}.json"))


def find_adapter(base: Path, name: str, further: Sequence[Path] = ()) -> Path:
    """The file of an adapter, after its card was checked.

    Args:
        base: The model's file.
        name: The adapter's name.
        further: Folders in which it may be too, after the one next to the model.

    Raises:
        LMError: There is none, it is for other weights, or its file is not the one that the card names.
        ConfigError: The name has characters that are not allowed.
    """
    for files in (adapter_files(base, name, folder) for folder in (None, *further)):
        if files.weights.is_file() and files.card.is_file():
            card = json.loads(files.card.read_text(encoding="utf-8"))
            if file_sha256(files.weights) != card["sha256"]:
                raise LMError(f"{files.weights} is not the adapter that its card describes: its hash differs")
            if base.stat().st_size != card["base"]["size"]:
                raise LMError(f"{files.weights} is an adapter of other weights than {base.name}: their size differs")
            return files.weights
    raise LMError(f"there is no adapter {name!r} of {base.name} in {base.parent / 'adapters'}")


def write_card(files: AdapterFiles, base: Path, about: Mapping[str, Any]) -> dict[str, Any]:
    """Writes the card of an adapter of the model ``base``, with ``about``, what it was trained on; returns it."""
    card = {
        "sha256": file_sha256(files.weights),
        "base": {"file": base.name, "size": base.stat().st_size, "sha256": file_sha256(base)},
        **about,
    }
    with replacing(files.card) as file:
        file.write((json.dumps(card, indent=1) + "\n").encode())
    return card


def file_sha256(path: Path) -> str:
    """The hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
