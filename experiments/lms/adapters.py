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
    """Copies the adapters of embedded models into a program's folder.

    Args:
        models: Names of language models; ``local/NAME+ADAPTER`` has an adapter. One that is not here is left out.
        folder: The program's folder.
    """
    from programs.lm import find_adapter

    for name in models:
        base, plus, adapter = name.removeprefix("local/").partition("+")
        if not name.startswith("local/") or not plus:
            continue
        try:
            found = find_adapter(models_folder() / model_named(base).file, adapter)
        except (LMError, ConfigError, OSError):
            continue
        target = folder / FOLDER
        target.mkdir(exist_ok=True)
        for path in (found, found.with_suffix(".json")):
            shutil.copyfile(path, target / path.name)


def install_adapters(folder: Path) -> None:
    """Copies the adapters of a program's folder to the folders of their models."""
    from programs.lm import adapter_files

    for card in sorted((folder / FOLDER).glob("*.json")):
        stem, _, adapter = card.stem.partition("+")
        files = adapter_files(models_folder() / f"{stem}.gguf", adapter)
        if files.card.exists():
            continue
        files.card.parent.mkdir(parents=True, exist_ok=True)
        for source, target in ((card.with_suffix(".gguf"), files.weights), (card, files.card)):
            with replacing(target) as file:
                file.write(source.read_bytes())
