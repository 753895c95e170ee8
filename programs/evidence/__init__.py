"""Evidence of language models on the beam's candidates, and its blend with the beam's scores."""

from programs.evidence.abstention import ABSTENTION_FEATURES, Abstention, abstention_features
from programs.evidence.blend import (
    BEAM_DECIDES,
    CANDIDATE_FEATURES,
    NONE_FEATURES,
    Blend,
    Evidence,
    ScoredCandidates,
    candidate_features,
    length_of,
    none_features,
)
from programs.evidence.config import (
    BEAM_ALONE,
    EvidenceConfig,
    EvidencePlan,
    PromptForm,
    Trust,
    can_choose,
    name_of,
    trusting,
)
from programs.evidence.likelihood import evidence_beside_none, evidence_of_replies
from programs.evidence.prompt import Demonstration, written_conversation, written_derivation

__all__ = [
    "ABSTENTION_FEATURES",
    "BEAM_ALONE",
    "BEAM_DECIDES",
    "CANDIDATE_FEATURES",
    "NONE_FEATURES",
    "Abstention",
    "Blend",
    "Demonstration",
    "Evidence",
    "EvidenceConfig",
    "EvidencePlan",
    "PromptForm",
    "ScoredCandidates",
    "Trust",
    "abstention_features",
    "can_choose",
    "candidate_features",
    "evidence_beside_none",
    "evidence_of_replies",
    "length_of",
    "name_of",
    "none_features",
    "trusting",
    "written_conversation",
    "written_derivation",
]
