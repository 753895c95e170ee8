"""The choice among candidates, narrowed to the numbers that there are.

>>> pick_among(Aggregate, 3).output_fields["choice"].annotation
typing.Literal[0, 1, 2, 3]
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import TypeAdapter, WithJsonSchema

from programs.lm import ALL_CHOICES


def pick_among(signature: Any, count: int, most: int | None = None) -> Any:
    """A signature with ``choice`` narrowed to 0 (none) and the numbers of ``count`` candidates.

    Args:
        signature: The signature of the choice.
        count: The number of candidates.
        most: The number that a prompt of finpath's own adapter states in place of ``count``. Prompts about fewer
            candidates then begin alike, so instructions and demonstrations are read once.
    """
    if signature.output_fields["choice"].annotation is not int:
        return signature  # an optimizer has given the field a type of its own
    return _picking(signature, count, most)


@lru_cache(maxsize=64)
def _picking(signature: Any, count: int, most: int | None) -> Any:
    among: Any = Literal[tuple(range(count + 1))]
    if most is not None and most >= count:
        listed = {**TypeAdapter(among).json_schema(), ALL_CHOICES: list(range(most + 1))}
        among = Annotated[among, WithJsonSchema(listed)]
    return signature.with_updated_fields("choice", type_=among)
