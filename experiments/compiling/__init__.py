"""Compiles of programs: their settings, runs and checkpoints."""

from experiments.compiling.compilation import compile_and_evaluate
from experiments.compiling.crossvalidation import SplitBy, crossvalidate
from experiments.compiling.demonstrations import CompiledDemonstrations, DemonstrationConfig
from experiments.compiling.graphs import GraphCompileConfig, compile_graphs
from experiments.compiling.provenance import CompileConfig
from experiments.compiling.queries import QueryCompileConfig, compile_queries
from experiments.compiling.references import compile_references
from experiments.compiling.run import compiles_folder

__all__ = [
    "CompileConfig",
    "CompiledDemonstrations",
    "DemonstrationConfig",
    "GraphCompileConfig",
    "QueryCompileConfig",
    "SplitBy",
    "compile_and_evaluate",
    "compile_graphs",
    "compile_queries",
    "compile_references",
    "compiles_folder",
    "crossvalidate",
]
