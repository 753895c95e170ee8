"""The evidence for a derivation as numbers that mean the same in any graph: what is left over, unsaid or unlike.

    >>> dict(zip(FEATURES, ParseEvidence(space).of(state, form), strict=True))["left_nouns"]
    1.0

:mod:`kg.parsing.ranking` weighs them. No feature depends on a particular word or name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cached_property

import numpy as np

from kg.algebra import (
    Compared,
    Extreme,
    Follow,
    Having,
    Lacking,
    Members,
    NamedNodes,
    Query,
    Without,
    kind_of_values,
    relations_of,
    sources,
)
from kg.parsing.derivation import QueryDerivation
from kg.parsing.forms import Form
from kg.parsing.names import joined_masks, named_words, places
from kg.parsing.space import QuerySpace
from kg.parsing.words import AUXILIARIES, NEGATED_AUXILIARIES

LEAD = re.compile(
    r"^\W*(?:(?:and|but|so|then|now|ok|okay|or|no|sorry|actually)\b[ ,]*)*"
    r"(?:(?:what|how)\s+about\b|(?:the\s+)?same(?:\s+question)?\s+(?:for|of)\b|likewise\s+for\b|i\s+meant?\b)?[ ,]*",
    re.IGNORECASE,
)
"""Words that begin a follow-up or a correction: "and", "what about", "no, I meant"."""

_WORDS_TEXT = "who,what,which,when,where,how many,how much,how old,how"
_WORDS_THAT_ASK = tuple(re.compile(rf"\b{one}\b") for one in _WORDS_TEXT.split(","))
_ASKING = (*_WORDS_TEXT.replace(" ", "_").split(","), "yes_or_no", "for_a_list", "otherwise")
"""The forms of questions: the first of the words that is in one, or how it begins."""

_GIVING = ("number", "date", "text", "boolean", "check", "count", "age", "difference", "sum", "mean", "time", "entity")
"""The kinds of answers, by what is done with the nodes or else by what they are."""

FEATURES = (
    "cost", "left_nouns", "left_verbs", "left_head", "left_names", "left_bounds", "left_degrees",
    "left_negations", "left_references", "left_unknown", "left_share", "unsaid", "least_said",
    "not_implied", "name_cost", "reference_cost", "references", "other_cost", "mismatch", "head",
    "sense", "least_sense", "sense_behind", "sense_together", "steps", "follows", "inverse", "conditions",
    "bounds", "extremes", "counted", "lacking", "negated", "without", "count", "check", "false", "age", "total",
    "difference", "several", "whole_class", "names", "unrestricted",
    "replaced_after_lead", "replaced",
    *(f"asks_{name}" for name in _ASKING),
    *(f"gives_{name}" for name in _GIVING),
)  # fmt: skip
"""The names of the features, in order."""

_TIMES = frozenset(("years", "months", "weeks", "days"))
_MODALS = frozenset(("would", "should"))
_LISTING = frozenset(("list", "name", "give", "show", "tell"))
_USUAL_SENSE = 0.52
"""The median cosine of a question with the relations of its right parse, taken where there are no vectors."""


class ParseEvidence:
    """The evidence for the derivations of one question.

    Args:
        space: The space of the derivations.
    """

    def __init__(self, space: QuerySpace) -> None:
        self.space = space
        self.analysis = space.analysis
        self.weights = space.analysis.weights
        analysis = space.analysis
        groups = {
            "left_head": analysis.head,
            "left_names": named_words(analysis.mentions),
            "left_bounds": joined_masks(one.words for one in analysis.bounds),
            "left_degrees": joined_masks(one.words for one in analysis.degrees),
            "left_negations": analysis.negations,
            "left_references": joined_masks(one.words for one in analysis.references),
        }
        self._groups = {name: places(words) for name, words in groups.items()}
        self._total = float(self.weights.sum())
        self._asks = f"asks_{_asking(analysis.text)}"

    def of(self, state: QueryDerivation, form: Form, cost: float) -> tuple[float, ...]:
        """The features of a derivation with the form of its answer, in the order of :data:`FEATURES`."""
        own, left = self.space.costs.supports(state)
        found = dict.fromkeys(FEATURES, 0.0)
        found["cost"] = cost
        self._words(found, left * self.weights)
        self._items(found, state, own)
        self._names(found, state)
        self._sense(found, state.query)
        parts = list(sources(state.query))
        found |= {name: float(sum(map(is_one, parts))) for name, is_one in _OPERATIONS.items()}
        found["whole_class"] = float(isinstance(state.query, Members))
        found["unrestricted"] = float(all(isinstance(part, Members | Follow) for part in parts))
        found["mismatch"], found["head"] = form.mismatch, form.head
        found["count"] = float(form.operation == "count")
        found["check"], found["false"] = float(form.holds is not None), float(form.holds is False)
        found["age"] = float(form.operation.startswith("age"))
        found["total"] = float(form.operation in ("sum", "mean"))
        found["difference"] = float(form.operation in ("difference", "years", "months", "weeks", "days"))
        found["replaced_after_lead"] = float(state.replaced and self._has_lead)
        found["replaced"] = float(state.replaced and not self._has_lead)
        found["several"] = math.log2(max(len(form.nodes), 1))
        found[self._asks] = 1.0
        found[f"gives_{self._giving(form)}"] = 1.0
        return tuple(found.values())

    def _words(self, found: dict[str, float], remaining: np.ndarray) -> None:
        is_noun = self.weights >= 1
        found["left_nouns"] = float(remaining[is_noun].sum())
        found["left_verbs"] = float(remaining[~is_noun].sum())
        for name, inside in self._groups.items():
            found[name] = float(remaining[inside].sum())
        found["left_unknown"] = float(remaining[self.space.costs.unknown].sum()) if len(remaining) else 0.0
        found["left_share"] = float(remaining.sum()) / max(self._total, 1.0)

    def _items(self, found: dict[str, float], state: QueryDerivation, own: np.ndarray) -> None:
        relations = len(self.space.graph.relations)
        said = {item: float(one) for item, one in zip(state.items, own, strict=True)}
        implied = dict(zip(state.items, state.implied, strict=True))
        of_relations = [item for item in said if item < relations]
        found["unsaid"] = sum(1 - said[item] for item in of_relations)
        found["least_said"] = 1 - min((said[item] for item in of_relations), default=1.0)
        found["not_implied"] = sum(1 - max(said[item], implied[item]) for item in of_relations)

    def _names(self, found: dict[str, float], state: QueryDerivation) -> None:
        references = [one for one in state.mentions if one.is_reference]
        found["name_cost"] = sum(one.cost for one in state.mentions if not one.is_reference)
        found["reference_cost"] = sum(one.cost for one in references)
        found["references"] = float(len(references))
        found["names"] = float(len(state.mentions) - len(references))
        found["other_cost"] = max(0.0, state.cost - found["name_cost"] - found["reference_cost"])

    def _sense(self, found: dict[str, float], query: Query) -> None:
        used = sorted(relations_of(query))
        senses = self.analysis.senses
        if self.space.vocabulary.similarity.vectors is None:
            found["sense"] = found["least_sense"] = found["sense_together"] = _USUAL_SENSE
        elif used and len(senses):
            found["sense"] = float(senses[used].mean())
            found["least_sense"] = float(senses[used].min())
            together = np.linalg.norm(self.space.vocabulary.senses[used].sum(axis=0))
            found["sense_together"] = float(senses[used].sum() / max(float(together), 1e-6))
            found["sense_behind"] = float(senses.max() - senses[used].max())

    def _giving(self, form: Form) -> str:
        """The kind of an answer, of :data:`_GIVING`."""
        if form.holds is not None:
            return "check"
        operation = form.operation.split(" ")[0]
        if operation:
            return "time" if operation in _TIMES else operation
        kind = kind_of_values(form.nodes, self.space.graph)
        return kind if kind in _GIVING else "entity"

    @cached_property
    def _has_lead(self) -> bool:
        """Whether the question begins as a follow-up: "and", "what about"."""
        lead = LEAD.match(self.analysis.text)
        return bool(lead and lead.end())


def _asking(text: str) -> str:
    """The form of a question, of :data:`_ASKING`."""
    low = text.lower()
    for name, pattern in zip(_ASKING, _WORDS_THAT_ASK, strict=False):
        if pattern.search(low):
            return name
    first = low.split()[:1]
    if first and first[0] in AUXILIARIES | NEGATED_AUXILIARIES | _MODALS:
        return "yes_or_no"
    return "for_a_list" if first and first[0] in _LISTING else "otherwise"


_OPERATIONS: dict[str, Callable[[Query], bool]] = {
    "steps": lambda part: not isinstance(part, NamedNodes | Members),
    "follows": lambda part: isinstance(part, Follow),
    "inverse": lambda part: isinstance(part, Follow) and part.inverse,
    "conditions": lambda part: isinstance(part, Having),
    "bounds": lambda part: isinstance(part, Compared),
    "extremes": lambda part: isinstance(part, Extreme),
    "counted": lambda part: isinstance(part, Extreme) and part.counted,
    "lacking": lambda part: isinstance(part, Lacking),
    "negated": lambda part: isinstance(part, Having) and part.negated,
    "without": lambda part: isinstance(part, Without),
}
"""Features that count some parts of a query."""
