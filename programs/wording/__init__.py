"""Reports, graphs, candidates and answers as text, for prompts and for people."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from programs.wording.answers import currency_sign, spoken_answer
    from programs.wording.graphs import completed, node_names, rendered_graph, rendered_rows, rendered_types, types_for
    from programs.wording.grounding import figures_in, is_grounded
    from programs.wording.reports import written_answer, written_number, written_quantity
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "completed",
    "currency_sign",
    "figures_in",
    "is_grounded",
    "node_names",
    "rendered_graph",
    "rendered_rows",
    "rendered_types",
    "spoken_answer",
    "types_for",
    "written_answer",
    "written_number",
    "written_quantity",
]
