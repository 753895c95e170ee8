"""Weights of embedded language models: those of the catalogue, a file of a user's own, or a file of the hub.

find_weights(None)                                       # the best installed model of the catalogue
find_weights("models/my.gguf")
find_weights("hf:Qwen/Qwen2.5-0.5B-Instruct-GGUF/qwen2.5-0.5b-instruct-q4_k_m.gguf")
"""

from __future__ import annotations

from pathlib import Path

from experiments.lms.catalogue import find_model
from kg.errors import ConfigError, LMError

HUB = "hf:"
"""The prefix of a file on the Hugging Face hub: ``hf:OWNER/REPOSITORY/FILE``, or with ``@REVISION`` at the end."""

_FILES = ".gguf"


def find_weights(name: str | None) -> tuple[str, Path]:
    """Returns the name and the file of a model that is on this machine.

    Raises:
        LMError: It is not there, or its file is wrong.
        ConfigError: There can be no such model.
    """
    if name is not None and name.startswith(HUB):
        return name, _hub_file(name, local=True)
    if name is not None and name.endswith(_FILES):
        path = Path(name).expanduser()
        if not path.is_file():
            raise LMError(f"there is no file {path}")
        return path.stem, path
    model, path = find_model(name)
    return model.name, path


def pull_from_hub(name: str) -> Path:
    """Downloads a file of the hub into the hub's cache; ``HF_ENDPOINT`` and ``HF_HUB_OFFLINE`` are honoured.

    Raises:
        LMError: It cannot be downloaded.
        ConfigError: The name is not ``hf:OWNER/REPOSITORY/FILE``.
    """
    return _hub_file(name, local=False)


def _hub_file(name: str, *, local: bool) -> Path:
    from huggingface_hub import hf_hub_download

    address, _, revision = name.removeprefix(HUB).partition("@")
    owner, _, rest = address.partition("/")
    repository, _, file = rest.partition("/")
    if not (owner and repository and file.endswith(_FILES)):
        raise ConfigError(f"a model of the hub is named hf:OWNER/REPOSITORY/FILE{_FILES}, got {name!r}")
    try:
        found = hf_hub_download(f"{owner}/{repository}", file, revision=revision or None, local_files_only=local)
    except (OSError, ValueError) as error:  # what the hub's client raises
        reason = str(error).strip().partition("\n")[0]
        advice = f"fetch it with `finpath lm pull {name}`" if local else reason
        raise LMError(f"{name} is not on this machine: {advice}") from error
    return Path(found)
