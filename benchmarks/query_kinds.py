"""The kind of a question by the shape of its gold SPARQL query.

    >>> kind_of("SELECT ?x WHERE { ?x <http://e.org/area> ?v } ORDER BY DESC(?v) LIMIT 1")
    'superlative'

A question without an answer is *unanswerable*. A later turn of a conversation is *conversation*, whatever its query.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from rdflib import RDF, Variable
from rdflib.plugins.sparql.algebra import translateQuery
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.plugins.sparql.parserutils import CompValue

KINDS = ("lookup", "two steps", "condition", "superlative", "count", "calculation", "yes or no", "set operation",
         "negation", "conversation", "unanswerable")  # fmt: skip

_CALCULATIONS = ("Aggregate_Sum", "Aggregate_Avg", "AdditiveExpression", "MultiplicativeExpression", "Builtin_YEAR")
_NEGATIONS = ("Builtin_NOTEXISTS", "Minus")
_SETS = ("Union", "ConditionalOrExpression", "ToMultiSet")


def kind_of(query: str | None, *, is_later: bool = False) -> str:
    """The kind of a question.

    Args:
        query: Its gold query; ``None`` if the graph has no answer.
        is_later: Whether it is no first turn.
    """
    if query is None:
        return "unanswerable"
    return "conversation" if is_later else _shape(query)


def _shape(query: str) -> str:
    algebra = translateQuery(parseQuery(query)).algebra
    parts = list(_parts(algebra))
    names = {part.name for part in parts}
    triples = [triple for part in parts if part.name == "BGP" for triple in part.triples]
    first = re.split(r"WHERE|\{", query, maxsplit=1, flags=re.IGNORECASE)[0]
    signs = {part.op for part in parts if part.name == "RelationalExpression"}
    if names & set(_NEGATIONS) or signs & {"!=", "NOT IN"} or "UnaryNot" in names:
        return "negation"
    if names & {"OrderBy", "Aggregate_Max", "Aggregate_Min"}:
        return "superlative"
    if any(name.startswith(_CALCULATIONS[:2]) for name in names) or _calculates(first):
        return "calculation"
    if any(name.startswith("Aggregate_Count") for name in names):
        return "count"
    if algebra.name == "AskQuery":
        return "yes or no"
    if names & set(_SETS) or "IN" in signs or _twice(triples):
        return "set operation"
    if "Filter" in names:
        return "condition"
    return _by_patterns(triples, set(algebra.PV))


def _parts(value: Any) -> Iterator[CompValue]:
    """All parts of an algebra."""
    if isinstance(value, CompValue):
        yield value
        for key in value:
            yield from _parts(value[key])
    elif isinstance(value, list | tuple | set):
        for one in value:
            yield from _parts(one)


def _calculates(select: str) -> bool:
    """Whether the selected expression has an operator."""
    return bool(re.search(r"[?\w)]\s[-+*/]\s[?\w(]", select))


def _twice(triples: list[Any]) -> bool:
    """Whether a variable has two given values of one relation: "both … and …"."""
    given = Counter((subject, relation) for subject, relation, value in triples if not isinstance(value, Variable))
    given.update((value, relation) for subject, relation, value in triples if not isinstance(subject, Variable))
    return any(count > 1 and isinstance(node, Variable) for (node, _), count in given.items())


def _by_patterns(triples: list[Any], selected: set[Any]) -> str:
    """One fact beside the types is a lookup, a further one of the answer is a condition, and two ways meet in a set."""
    facts = [triple for triple in triples if triple[1] != RDF.type]
    variables = {term for triple in facts for term in (triple[0], triple[2]) if isinstance(term, Variable)}
    ways = [{triple[0], triple[2]} for triple in facts if {triple[0], triple[2]} <= variables]
    if len(facts) < 2:
        return "lookup"
    if any(sum(one in way for way in ways) > 1 for one in selected):
        return "set operation"
    return "condition" if variables <= selected else "two steps"
