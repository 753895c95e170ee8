"""Compiling a program with a chain of optimizers, in budget and resumable."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from optimize.compiling.candidates import PromptCandidate
    from optimize.compiling.checkpoints import Checkpoints
    from optimize.compiling.compilation import Compilation
    from optimize.compiling.compile import compile_program
    from optimize.compiling.plan import CompilePlan, CompileSettings
    from optimize.compiling.registry import OPTIMIZERS, OptimizerStep, parse_optimizers
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "OPTIMIZERS",
    "Checkpoints",
    "Compilation",
    "CompilePlan",
    "CompileSettings",
    "OptimizerStep",
    "PromptCandidate",
    "compile_program",
    "parse_optimizers",
]
