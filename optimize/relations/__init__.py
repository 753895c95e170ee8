"""Fits of the scorer and the ranker of relation paths in entity graphs."""

from optimize.relations.paths import locate, relation_examples
from optimize.relations.ranking import fit_path_ranker
from optimize.relations.scorer import RelationExample, RelationTrainingConfig, fit_relation_scorer
