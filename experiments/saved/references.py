"""The shipped model of coreference between turns."""

from __future__ import annotations

from functools import lru_cache

from experiments.files import SHIPPED_FOLDER
from kg.coreference import ReferenceModel


@lru_cache(maxsize=1)
def shipped_references() -> ReferenceModel:
    """The shipped model, fitted on training conversations."""
    return ReferenceModel.from_json((SHIPPED_FOLDER / "references.json").read_text(encoding="utf-8"))
