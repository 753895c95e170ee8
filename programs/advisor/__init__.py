"""The package ``programs.advisor``."""

from programs.advisor.advisor import Advisor, Briefing, Ingested, ModelReader, Portfolio, RuleReader

__all__ = [
    "Advisor",
    "Briefing",
    "Ingested",
    "ModelReader",
    "Portfolio",
    "RuleReader",
]
