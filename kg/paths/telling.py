"""Paths told in plain clauses, for a model that reads a question together with each of them.

>>> told("Alien", ("directed_by",), ["Ridley Scott"])
'thing: Alien directed by thing = Ridley Scott'

The clauses have the form in which :mod:`kg.algebra.telling` tells queries: subject, relation, object in the order of
the graph, and the first answers at the end. A kind is known where the next relation's name states it
("people.person.place_of_birth").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from kg.paths.features import relation_words

SHOWN, LONGEST = 2, 40
"""Answers that are shown, and the letters of each."""

UNNAMED = re.compile(r"_:|[mg]\.[0-9a-z_]+$")
"""Blank nodes, and Freebase's identifiers, which stand in place of names."""

_THING = "thing"


def told(topic: str, relations: Sequence[str], answers: Sequence[str]) -> str:
    """Returns a path in words.

    Args:
        topic: The entity at its beginning.
        relations: Its relations in order; ``^`` marks one against its direction.
        answers: What it reaches, best first.
    """
    nouns = [topic, *(_noun(one, after) for one, after in pairwise((*relations, "")))]
    clauses = []
    for relation, (first, second) in zip(relations, pairwise(nouns), strict=True):
        own = " ".join(relation_words(relation)[0])
        clauses.append(f"{second} {own} {first}" if relation.startswith("^") else f"{first} {own} {second}")
    named = [name for name in answers if not UNNAMED.match(name)] or [_THING]
    return f"{nouns[-1]}: {'; '.join(clauses)} = {first_names(named, len(answers))}"


def first_names(names: Sequence[str], count: int) -> str:
    """Returns the first names of an answer, and how many more it has.

    Args:
        names: The names; those beyond the first few are not looked at.
        count: All that the answer has.
    """
    shown = ", ".join(name[:LONGEST] for name in names[:SHOWN])
    return f"{shown} and {count - SHOWN} more" if count > SHOWN else shown


def _noun(relation: str, after: str) -> str:
    """The kind of what a relation leads to: of its subjects on the way back, else of those of the next relation."""
    telling = next((one for one, is_back in ((relation, True), (after, False)) if one.startswith("^") == is_back), "")
    return " ".join(relation_words(telling)[1][1:]) or _THING
