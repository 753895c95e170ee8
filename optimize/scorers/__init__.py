"""Fits of the beam's scorer, its confidence, its choice of names and the coreference model on conversations."""

from optimize.scorers.confidence import ConfidenceExample, fit_confidence
from optimize.scorers.derivations import FitScorer, ScorerConfig, fit_scorer, right_items, right_turns
from optimize.scorers.standalone import fit_standalone
from optimize.scorers.turns import (
    TrainingTurn,
    content_sha256,
    describe_data,
    page_key,
    page_keys,
    read_index,
    training_data,
    training_turns,
    unanswerable_turn,
)
