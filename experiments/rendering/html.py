"""Pages from templates: one file without scripts or outside resources, readable on paper and on a dark screen.

    page = render("conversations.html", title="Conversations of beam", pages=pages)

Templates escape every value: the text of a report or of a model stays text.
"""

from __future__ import annotations

import functools
import math
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from experiments.console import write_answer, write_points, write_share


@functools.cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        answer=write_answer,
        percent=write_share,
        points=write_points,
        probability=lambda score: write_share(math.exp(min(score, 0.0))),
    )
    return environment


def render(template: str, **values: object) -> str:
    """A page.

    Args:
        template: The file name of a template.
        values: Its variables; a missing one raises ``jinja2.UndefinedError``.
    """
    return _templates().get_template(template).render(**values)
