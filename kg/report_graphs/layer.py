"""A conversation's layer over a frozen report graph: figures that were later read from sentences.

    >>> operation = AddObservation(sentence=3, figure="57.2 million", label="rental expense", period="2009")
    >>> larger = with_layer(graph, [observation_of(operation, graph, ontology)])
    >>> larger.observations[-1].id, larger.observations[-1].created_by, larger.graph is graph.graph
    ('s3a0', 'agent', False)

The reader of a sentence is a language model or a rule. It can only add figures that occur in the sentence. The value
comes from the sentence, as do the unit and scale ("$", "%", "million"); the reader's unit and scale fill gaps only. The
**label** is limited to words of the sentence and of the one before it. The **period** must occur in the report. The
frozen graph is copied, so other conversations do not see the layer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import get_args

from kg.errors import SchemaError
from kg.graphs import slug
from kg.ontology import DISCLOSURE, SCALE_POWERS, Ontology
from kg.report_graphs.graph import GENERAL_ITEM, ReportGraph
from kg.report_graphs.observation import Observation, SentenceSource
from kg.reports import Report, item_phrase, read_sentence
from kg.text import SCALE_WORDS, Quantity, Unit, english_sentence, find_number_words, find_quantities, tokens, years

MOST_WORDS = 12
"""The most words of a label."""

_NEAR = 5

UNITS: tuple[Unit, ...] = get_args(Unit)
SCALES = tuple(SCALE_POWERS)


@dataclass(frozen=True)
class AddObservation:
    """A figure that a reader found in a sentence.

    Attributes:
        sentence: The sentence's number in ``Report.sentences``.
        figure: The figure as written: ``$ 57.2 million``, ``57.2``, ``twenty-five``.
        label: Its name, in the sentence's words.
        period: Its year, or ``None``.
        unit: Its unit, if the text has none.
        scale: Its scale, if the text has none.
        occurrence: Its number among equal figures of the sentence, from 0.
    """

    sentence: int
    figure: str
    label: str
    period: str | None = None
    unit: Unit = "plain"
    scale: int = 1
    occurrence: int = 0


def sentence_figures(sentence: str) -> list[Quantity]:
    """The figures of a sentence, in digits or in words, in order."""
    text = english_sentence(sentence)
    found = [mention.quantity for mention in read_sentence(text)]
    found += [one for one in find_number_words(text) if not any(q.start < one.end and one.start < q.end for q in found)]
    return sorted((one for one in found if not one.is_overlong), key=lambda one: one.start)


def named_periods(report: Report, observations: Sequence[Observation]) -> tuple[str, ...]:
    """The distinct years of a report: periods of its figures, then years of its text."""
    found = dict.fromkeys(one.period for one in observations if one.period is not None)
    found |= dict.fromkeys(str(year) for sentence in report.sentences for year in years(sentence))
    return tuple(found)


def observation_of(operation: AddObservation, graph: ReportGraph, ontology: Ontology) -> Observation:
    """The observation of an operation, checked against the report.

    Args:
        operation: The operation.
        graph: The report's graph, with or without a layer.
        ontology: The ontology, which names the line item if it covers the label.

    Raises:
        SchemaError: There is no such sentence, unit, scale or period, or the sentence lacks the figure or all words of
            the label.
    """
    sentences = graph.report.sentences
    if not 0 <= operation.sentence < len(sentences):
        raise SchemaError(f"sentence must be from 0 to {len(sentences) - 1}, got {operation.sentence}")
    if operation.unit not in UNITS:
        raise SchemaError(f"unit must be one of {', '.join(UNITS)}, got {operation.unit!r}")
    if operation.scale not in SCALES:
        raise SchemaError(f"scale must be one of {', '.join(map(str, SCALES))}, got {operation.scale!r}")
    quantity = _quantity(operation, sentences[operation.sentence])
    label = _label(operation, sentences)
    period = _period(operation, graph)
    name = ontology.property_for(label)
    number = len(layer_of(graph.observations))
    return Observation(
        id=f"s{operation.sentence}a{number}",
        entity=DISCLOSURE if period is None else f"{DISCLOSURE}_{slug(period)}",
        entity_type=DISCLOSURE,
        property=name if name is not None else slug(label, GENERAL_ITEM),
        label=label,
        column_label="",
        section="",
        period=period,
        quantity=quantity,
        source=SentenceSource(operation.sentence, quantity.start, quantity.end),
        mapped=name is not None,
        created_by="agent",
    )


def checked_observations(
    operations: Sequence[AddObservation], graph: ReportGraph, ontology: Ontology
) -> tuple[list[Observation], list[str]]:
    """The new observations of operations, and a message for each rejected operation.

    Operations with equal figures of a sentence refer to its occurrences in order.
    """
    known = {_content(one) for one in graph.observations}
    named: Counter[tuple[int, str]] = Counter()
    found: list[Observation] = []
    refused: list[str] = []
    first = len(layer_of(graph.observations))
    for operation in operations:
        key = (operation.sentence, _folded(operation.figure))
        try:
            one = observation_of(replace(operation, occurrence=named[key]), graph, ontology)
        except SchemaError as error:
            refused.append(str(error))
            continue
        named[key] += 1
        if _content(one) not in known:
            known.add(_content(one))
            found.append(replace(one, id=f"s{operation.sentence}a{first + len(found)}"))
    return found, refused


def with_layer(graph: ReportGraph, read: Sequence[Observation]) -> ReportGraph:
    """A new graph of a report with observations that were read later.

    The layer's observations follow the others, whose indices do not change.
    """
    return replace(graph, observations=(*graph.observations, *read))


def layer_of(observations: Sequence[Observation]) -> tuple[Observation, ...]:
    """The observations that were read later."""
    return tuple(one for one in observations if one.created_by == "agent")


def read_by_rules(number: int, sentence: str) -> list[AddObservation]:
    """The figures of a sentence with labels by rules.

    The label of a figure in digits is its :func:`kg.reports.sentences.item_phrase`, of a figure in words its context.

    Args:
        number: The sentence's number.
        sentence: The sentence.
    """
    text = english_sentence(sentence)
    found = [
        AddObservation(number, text[one.quantity.start : one.quantity.end], item_phrase(one) or one.label, one.period)
        for one in read_sentence(text)
        if not one.is_date
    ]
    named = years(text)
    for quantity in sentence_figures(sentence):
        written = text[quantity.start : quantity.end]
        if not any(map(str.isdigit, written)):
            context = [*text[: quantity.start].split()[-_NEAR:], *text[quantity.end :].split()[:_NEAR]]
            found.append(AddObservation(number, written, " ".join(context), str(named[-1]) if named else None))
    return found


def _content(one: Observation) -> tuple[object, ...]:
    return one.source, one.quantity, one.label, one.period


def _quantity(operation: AddObservation, sentence: str) -> Quantity:
    """The figure of the sentence, with the reader's unit and scale if the text has none."""
    places = _places(sentence, operation.figure)
    if not places:
        raise SchemaError(f"figure {operation.figure!r} does not stand in sentence {operation.sentence}")
    found = places[min(operation.occurrence, len(places) - 1)]
    unit = found.unit if found.unit != "plain" else operation.unit
    scale = found.scale if found.scale != 1 or unit in ("percent", "per-share", "years", "ratio") else operation.scale
    digits = found.text.removesuffix("%")
    return replace(found, unit=unit, scale=scale, text=digits + ("%" if unit == "percent" else ""))


def _places(sentence: str, figure: str) -> list[Quantity]:
    """The figures of a sentence with this spelling, else with these digits or words and another sign or scale."""
    figures = [(one, _folded(sentence[one.start : one.end])) for one in sentence_figures(sentence)]
    wanted = _folded(figure)
    if whole := [one for one, written in figures if written == wanted]:
        return whole
    if not any(map(str.isdigit, figure)):
        return [one for one, written in figures if wanted and written.removesuffix(_scale_word(one)) == wanted]
    numbers = find_quantities(figure)
    if len(numbers) != 1:
        return []
    number, digits = numbers[0], numbers[0].text.strip("-%")
    return [
        one
        for one, written in figures
        if any(map(str.isdigit, written))
        and one.text.strip("-%") == digits
        and number.scale in (1, one.scale)
        and (number.value >= 0 or one.value < 0)
    ]


def _scale_word(quantity: Quantity) -> str:
    return SCALE_WORDS.get(quantity.scale, "")


def _folded(text: str) -> str:
    return "".join(text.lower().split())


def _label(operation: AddObservation, sentences: Sequence[str]) -> str:
    """The words of a label that occur in the sentence or the one before it."""
    place = operation.sentence
    stems = _stems(sentences[place]) | (_stems(sentences[place - 1]) if place else frozenset())
    words = [word for word in operation.label.lower().split() if tokens(word) and not any(map(str.isdigit, word))]
    known = [word for word in words if stems.issuperset(tokens(word))]
    if not known:
        raise SchemaError(f"no word of label {operation.label!r} stands in sentence {place}")
    return " ".join(known[:MOST_WORDS])


@lru_cache(maxsize=4096)
def _stems(sentence: str) -> frozenset[str]:
    return frozenset(tokens(sentence))


def _period(operation: AddObservation, graph: ReportGraph) -> str | None:
    if operation.period is None or operation.period.strip().lower() in ("", "none"):
        return None
    wanted = operation.period.strip()
    known = named_periods(graph.report, graph.observations)
    if wanted in known:
        return wanted
    found = [str(year) for year in years(wanted) if str(year) in known]
    if not found:
        raise SchemaError(f"the report names no period {wanted!r}")
    return found[-1]
