"""Fits of the scorer and the ranker of relation paths in entity graphs."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from optimize.relations.paths import locate
    from optimize.relations.ranking import fit_path_ranker
    from optimize.relations.scorer import RelationExample, RelationTrainingConfig, fit_relation_scorer
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "RelationExample",
    "RelationTrainingConfig",
    "fit_path_ranker",
    "fit_relation_scorer",
    "locate",
]
