"""Coreference: follow-up questions rewritten so that they refer to nothing outside themselves."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from kg.coreference.entities import asked_properties, resolve
    from kg.coreference.referents import PastQuestion
    from kg.coreference.reports import resolve_report
    from kg.coreference.resolution import EntityReferenceKind, Resolution
    from kg.coreference.turns import ReferenceModel, Sight, references_of, turn_features
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "EntityReferenceKind",
    "PastQuestion",
    "ReferenceModel",
    "Resolution",
    "Sight",
    "asked_properties",
    "references_of",
    "resolve",
    "resolve_report",
    "turn_features",
]
