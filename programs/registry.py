"""The programs by name.

>>> create_program("agent", ontology=ontology, config=read_config("agent", {"max_iterations": 5}))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from kg.candidates import DerivationConfig
from kg.errors import ConfigError
from kg.ontology import Ontology
from kg.scoring import DerivationScorer
from kg.text import nearest
from programs.agent import AgentConfig, AgentQA
from programs.reports import BeamQA, ConversationQA, ReportReader

KINDS = ("beam", "agent")
"""The kinds of :func:`create_program`: the beam search, and the tool agent, which needs a language model."""

UNFITTED = ("agent",)
"""The kinds that are whole with an ontology alone; nothing of them is fitted before they can be used."""

Config = DerivationConfig | AgentConfig
_CONFIGS: Mapping[str, type[DerivationConfig] | type[AgentConfig]] = {"beam": DerivationConfig, "agent": AgentConfig}


def read_config(kind: str, settings: Mapping[str, Any]) -> Config:
    """The settings of a kind of program, from their names and values.

    Raises:
        ConfigError: There is no such kind or setting, or a setting is out of its range.
    """
    _check(kind)
    try:
        return DerivationConfig.from_saved(settings) if kind == "beam" else AgentConfig.from_saved(settings)
    except TypeError as error:
        names = [one.name for one in fields(_CONFIGS[kind])]
        unknown = next((name for name in settings if name not in names), None)
        if unknown is None:
            raise
        raise ConfigError(f"{kind!r} has no setting {unknown!r}; {nearest(unknown, names)}") from error


def create_program(
    kind: str,
    *,
    ontology: Ontology,
    scorer: DerivationScorer | None = None,
    config: Config | None = None,
) -> ConversationQA:
    """Makes a program.

    Args:
        kind: One of :data:`KINDS`.
        ontology: The frozen ontology.
        scorer: The beam's weights; ``None`` for those that are not fitted to anything, and for the agent.
        config: The settings of that kind.

    Raises:
        ConfigError: There is no such kind, or ``scorer`` or ``config`` are not for it.
    """
    _check(kind)
    if config is not None and not isinstance(config, _CONFIGS[kind]):
        raise ConfigError(f"config of kind {kind!r} must be a {_CONFIGS[kind].__name__}, got {type(config).__name__}")
    if kind == "agent":
        if scorer is not None:
            raise ConfigError("the agent has no scorer: scorer must be None")
        settings = config if isinstance(config, AgentConfig) else None
        return ConversationQA(AgentQA(ReportReader(ontology, DerivationScorer.untrained()), settings), kind)
    reader = ReportReader(ontology, scorer if scorer is not None else DerivationScorer.untrained())
    beam = BeamQA(reader, config if isinstance(config, DerivationConfig) else None, agent=AgentQA)
    return ConversationQA(beam, kind)


def _check(kind: str) -> None:
    if kind not in KINDS:
        raise ConfigError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
