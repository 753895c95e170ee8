"""Evidence of language models on the beam's candidates, and its blend with the beam's scores."""

from programs.evidence.blend import (
    BEAM_ALONE,
    CANDIDATE_FEATURES,
    MODEL_DECIDES,
    NONE_FEATURES,
    Blend,
    Choice,
    Evidence,
    EvidenceConfig,
    EvidencePlan,
    PromptForm,
    ScoredCandidates,
    can_choose,
    candidate_features,
    length_of,
    name_of,
    none_features,
)
from programs.evidence.index import evidence_of, probability_of, sampling, stated, tokens_of
from programs.evidence.likelihood import by_likelihood, evidence_of_replies
from programs.evidence.prompt import Demonstration, written_conversation, written_derivation

__all__ = [
    "BEAM_ALONE",
    "CANDIDATE_FEATURES",
    "MODEL_DECIDES",
    "NONE_FEATURES",
    "Blend",
    "Choice",
    "Demonstration",
    "Evidence",
    "EvidenceConfig",
    "EvidencePlan",
    "PromptForm",
    "ScoredCandidates",
    "by_likelihood",
    "can_choose",
    "candidate_features",
    "evidence_of",
    "evidence_of_replies",
    "length_of",
    "name_of",
    "none_features",
    "probability_of",
    "sampling",
    "stated",
    "tokens_of",
    "written_conversation",
    "written_derivation",
]
