"""Reports, graphs, candidates and answers as text, for prompts and for people."""

from programs.wording.answers import currency_sign, spoken_answer
from programs.wording.graphs import node_names, rendered_graph, rendered_rows, rendered_types
from programs.wording.narrowing import pick_among
from programs.wording.queries import completed, types_for
from programs.wording.reports import written_answer, written_number, written_quantity

__all__ = [
    "completed",
    "currency_sign",
    "node_names",
    "pick_among",
    "rendered_graph",
    "rendered_rows",
    "rendered_types",
    "spoken_answer",
    "types_for",
    "written_answer",
    "written_number",
    "written_quantity",
]
