"""Adapters of the embedded models in saved programs.

A program whose plans are for a model with an adapter is saved with the adapter's files. Where such a program is read,
they are copied to the model's folder, unless an adapter of that name is there.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from experiments.lms.catalogue import model_named, models_folder
from kg.errors import ConfigError, LMError
from kg.files import replacing

FOLDER = "adapters"
"""The folder of the adapters in that of a program."""


def save_adapters(models: Iterable[str], folder: Path) -> None:
    """Copies the adapters of embedded models, ``local/NAME+ADAPTER``, that are here into a program's folder."""
    from programs.lm import find_adapter

    for name in models:
        base, plus, adapter = name.removeprefix("local/").partition("+")
        if name.startswith("local/") and plus:
            try:
                weights = find_adapter(model_named(base).path, adapter)
            except (LMError, ConfigError, OSError):
                continue
            (folder / FOLDER).mkdir(exist_ok=True)
            for path in (weights, weights.with_suffix(".json")):
                shutil.copyfile(path, folder / FOLDER / path.name)


def install_adapters(folder: Path) -> None:
    """Copies the adapters of a program's folder to the folder of their models' adapters."""
    for card in sorted((folder / FOLDER).glob("*.json")):
        target = models_folder() / "adapters" / card.name
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            for path in (card.with_suffix(".gguf"), card):
                with replacing(target.with_name(path.name)) as file:
                    file.write(path.read_bytes())
