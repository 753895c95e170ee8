"""Coreference: follow-up questions rewritten so that they refer to nothing outside themselves."""

from kg.coreference.entities import EntityReferenceKind, Resolution, asked_properties, resolve
from kg.coreference.referents import PastQuestion
from kg.coreference.reports import resolve_report
from kg.coreference.turns import ReferenceModel, Sight, references_of, turn_features

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
