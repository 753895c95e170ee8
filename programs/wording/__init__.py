"""Reports, graphs, candidates and answers as text, for prompts and for people."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from programs.wording.answers import (
        is_grounded,
        written_answer,
        written_number,
        written_quantity,
    )
    from programs.wording.graphs import rendered_graph, rendered_types
else:
    __getattr__ = lazy_exports(__name__, __file__)
