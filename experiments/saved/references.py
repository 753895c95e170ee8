"""The shipped models that programs share: of coreference between turns, and of texts as vectors."""

from __future__ import annotations

from functools import lru_cache

from experiments.files import SHIPPED_FOLDER
from kg.coreference import ReferenceModel
from kg.encoder import TextEncoder
from kg.schema import TypeMeaning
from kg.vocabulary import Thesaurus


@lru_cache(maxsize=1)
def shipped_references() -> ReferenceModel:
    """The shipped model, fitted on training conversations."""
    return ReferenceModel.from_json((SHIPPED_FOLDER / "references.json").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def shipped_encoder() -> TextEncoder:
    """The encoder of the shipped program, whose vectors know words that are not in a graph."""
    return TextEncoder.read(SHIPPED_FOLDER / "beam" / "encoder")


@lru_cache(maxsize=1)
def shipped_thesaurus() -> Thesaurus:
    """The shipped table of senses, from WordNet."""
    return Thesaurus.read(SHIPPED_FOLDER / "thesaurus" / "thesaurus.npz")


@lru_cache(maxsize=1)
def shipped_meaning() -> TypeMeaning:
    """The comparison of types by meaning, with the shipped encoder and thesaurus."""
    return TypeMeaning(shipped_encoder().vectors, shipped_thesaurus().likeness)
