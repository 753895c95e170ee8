"""Engines, on which the work of an evaluation or a fit runs: this process, or a cluster of Ray."""

from experiments.engines.base import Engine, map_items
from experiments.engines.cluster import RayEngine
from experiments.engines.local import LocalEngine

__all__ = ["Engine", "LocalEngine", "RayEngine", "map_items"]
