"""Compiling a program with a chain of optimizers, in budget and resumable."""

from optimize.compiling.candidates import PromptCandidate
from optimize.compiling.checkpoints import Checkpoints
from optimize.compiling.compilation import Compilation
from optimize.compiling.compile import compile_program
from optimize.compiling.plan import CompilePlan, CompileSettings
from optimize.compiling.registry import OPTIMIZERS, OptimizerStep, parse_optimizers

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
