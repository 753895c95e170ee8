"""Engines, on which the work of an evaluation or a fit runs: this process, or a cluster of Ray."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from experiments.engines.base import Engine
    from experiments.engines.cluster import RayEngine
    from experiments.engines.local import LocalEngine
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = ["Engine", "LocalEngine", "RayEngine"]
