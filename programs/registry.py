"""The programs by name."""

from __future__ import annotations

from kg.beam import BeamConfig
from kg.errors import ConfigError
from kg.ontology import Ontology
from kg.scorer import DerivationScorer
from programs.beam_qa import BeamQA
from programs.conversation import ConversationQA
from programs.reading import ReportReader

KINDS = ("beam",)
"""What :func:`create_program` makes."""


def create_program(
    kind: str,
    *,
    ontology: Ontology,
    scorer: DerivationScorer | None = None,
    config: BeamConfig | None = None,
) -> ConversationQA:
    """Makes a program.

    Args:
        kind: One of :data:`KINDS`.
        ontology: The frozen ontology.
        scorer: The beam's weights; ``None`` for those that are not fitted to anything.
        config: The beam's settings.

    Raises:
        ConfigError: There is no such kind.
    """
    if kind not in KINDS:
        raise ConfigError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    reader = ReportReader(ontology, scorer if scorer is not None else DerivationScorer.untrained())
    return ConversationQA(BeamQA(reader, config), kind)
