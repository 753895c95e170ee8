"""The tool agent over a report's graph."""

from programs.agent.agent import AgentConfig, AgentQA
