"""The tool agent over a report's graph."""

from programs.reports.agent import AgentConfig, AgentQA

__all__ = ["AgentConfig", "AgentQA"]
