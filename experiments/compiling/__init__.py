"""Compiles of programs of every kind, with their runs and saved folders."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from experiments.compiling.compile import Compiled, CompileJob, compile_program
    from experiments.compiling.graphs import fit_graphs, graph_job
    from experiments.compiling.reports import report_job
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "CompileJob",
    "Compiled",
    "compile_program",
    "fit_graphs",
    "graph_job",
    "report_job",
]
