"""Fits of the beam's scorer and its confidence on conversations."""

from optimize.scorers.confidence import fit_confidence
from optimize.scorers.derivations import (
    FitScorer,
    ScorerConfig,
    TrainingTurn,
    content_sha256,
    describe_data,
    fit_forms_further,
    fit_scorer,
    page_keys,
    read_index,
    right_items,
    right_turns,
    training_data,
    training_turns,
)
from optimize.scorers.standalone import fit_standalone
