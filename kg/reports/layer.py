"""A conversation's own layer over a frozen report graph: figures that were read from sentences after it was built.

    >>> operation = AddObservation(sentence=3, figure="57.2 million", label="rental expense", period="2009")
    >>> larger = with_layer(graph, [observation_of(operation, graph, ontology)])
    >>> larger.observations[-1].id, larger.observations[-1].created_by, larger.graph is graph.graph
    ('s3a0', 'agent', False)

Whoever reads a sentence, a language model or a rule, can only name what stands there. The **figure** is looked up in
the sentence, and its value is read from there; its own unit and scale ("$", "%", "million") hold, and what the reader
says of them counts where the text says nothing. Of the **label** the words stay that the sentence, or the one before
it, has. The **period** is one that the report names. The frozen graph is copied, not written to: whoever else holds it
sees nothing of the layer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import get_args

from kg.errors import SchemaError
from kg.graphs import frozen_graph, slug
from kg.reports.graph import GENERAL_ITEM, ReportGraph
from kg.reports.kinds import DISCLOSURE
from kg.reports.observation import Observation, SentenceSource
from kg.reports.ontology import Ontology
from kg.reports.report import Report
from kg.reports.sentences import item_phrase, read_sentence
from kg.reports.triples import observation_triples, read_observations, report_base
from kg.reports.vocabulary import SCALE_POWERS
from kg.text import SCALE_WORDS, Quantity, Unit, english_sentence, find_number_words, find_quantities, tokens, years

MOST_WORDS = 12
"""Words of a label that are kept."""

_BESIDE = 5

UNITS: tuple[Unit, ...] = get_args(Unit)
SCALES = tuple(SCALE_POWERS)


@dataclass(frozen=True)
class AddObservation:
    """A figure that somebody read in a sentence.

    Attributes:
        sentence: The sentence's number in ``Report.sentences``.
        figure: The figure as it stands there: ``$ 57.2 million``, ``57.2``, ``twenty-five``.
        label: What it is, in the sentence's words.
        period: The year that it holds for, or ``None``.
        unit: What it counts, where the text does not say.
        scale: What one unit of it stands for, where the text does not say.
        occurrence: Which of several equal figures of the sentence, from 0.
    """

    sentence: int
    figure: str
    label: str
    period: str | None = None
    unit: Unit = "plain"
    scale: int = 1
    occurrence: int = 0


def standing_figures(sentence: str) -> list[Quantity]:
    """Every figure of a sentence, in digits or in words, in the order of their places."""
    text = english_sentence(sentence)
    found = [mention.quantity for mention in read_sentence(text)]
    found += [one for one in find_number_words(text) if not any(q.start < one.end and one.start < q.end for q in found)]
    return sorted((one for one in found if not one.is_overlong), key=lambda one: one.start)


def named_periods(report: Report, observations: Sequence[Observation]) -> tuple[str, ...]:
    """The years that a report names: periods of its figures, then years of its text, each once."""
    found = dict.fromkeys(one.period for one in observations if one.period is not None)
    found |= dict.fromkeys(str(year) for sentence in report.sentences for year in years(sentence))
    return tuple(found)


def observation_of(operation: AddObservation, graph: ReportGraph, ontology: Ontology) -> Observation:
    """The observation that an operation makes, checked against the report.

    Args:
        operation: What was read.
        graph: The report's graph, with or without a layer.
        ontology: The ontology, which names the line item if it covers the label.

    Raises:
        SchemaError: The sentence is not there, the figure does not stand in it, no word of the label does, the report
            does not name the period, or there is no such unit or scale.
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
    """What operations add to a graph that it does not hold yet, and why others are refused, one line each.

    Equal figures of a sentence are taken in the order in which they are named.
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
    """A report's graph with observations that were read later: a new frozen graph; the other stays as it is.

    The places of the observations that were there do not change; those of the layer follow them.
    """
    base = report_base(graph.report.id)
    own = frozen_graph(observation_triples(graph.report.id, read), owner="a layer", identifier=base)
    owner = f"the enlarged graph of report {graph.report.id!r}"
    both = frozen_graph((*graph.graph, *own), owner=owner, identifier=base)
    order = {one.id: place for place, one in enumerate(read)}
    layer = sorted(read_observations(own), key=lambda one: order[one.id])
    return replace(graph, graph=both, observations=(*graph.observations, *layer))


def layer_of(observations: Sequence[Observation]) -> tuple[Observation, ...]:
    """The observations that were read later."""
    return tuple(one for one in observations if one.created_by == "agent")


def read_by_rules(number: int, sentence: str) -> list[AddObservation]:
    """The figures of a sentence, each with a name by rules in place of all the words around it.

    A figure in digits is named by :func:`kg.reports.sentences.item_phrase`, one in words by the words next to it.

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
    for quantity in standing_figures(sentence):
        written = text[quantity.start : quantity.end]
        if not any(map(str.isdigit, written)):
            beside = [*text[: quantity.start].split()[-_BESIDE:], *text[quantity.end :].split()[:_BESIDE]]
            found.append(AddObservation(number, written, " ".join(beside), str(named[-1]) if named else None))
    return found


def _content(one: Observation) -> tuple[object, ...]:
    return one.source, one.quantity, one.label, one.period


def _quantity(operation: AddObservation, sentence: str) -> Quantity:
    """The figure as the sentence has it, with unit and scale by the reader where the text is silent."""
    places = _places(sentence, operation.figure)
    if not places:
        raise SchemaError(f"figure {operation.figure!r} does not stand in sentence {operation.sentence}")
    found = places[min(operation.occurrence, len(places) - 1)]
    unit = found.unit if found.unit != "plain" else operation.unit
    scale = found.scale if found.scale != 1 or unit in ("percent", "per-share", "years", "ratio") else operation.scale
    digits = found.text.removesuffix("%")
    return replace(found, unit=unit, scale=scale, text=digits + ("%" if unit == "percent" else ""))


def _places(sentence: str, figure: str) -> list[Quantity]:
    """The figures of a sentence that are written so: by all that belongs to them, or without their sign and scale."""
    standing = [(one, _folded(sentence[one.start : one.end])) for one in standing_figures(sentence)]
    wanted = _folded(figure)
    if whole := [one for one, written in standing if written == wanted]:
        return whole
    if not any(map(str.isdigit, figure)):
        return [one for one, written in standing if wanted and written.removesuffix(_scale_word(one)) == wanted]
    numbers = find_quantities(figure)
    if len(numbers) != 1:
        return []
    number, digits = numbers[0], numbers[0].text.strip("-%")
    return [
        one
        for one, written in standing
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
    """The words of a label that the sentence or the one before it has."""
    place = operation.sentence
    standing = _stems(sentences[place]) | (_stems(sentences[place - 1]) if place else frozenset())
    words = [word for word in operation.label.lower().split() if tokens(word) and not any(map(str.isdigit, word))]
    kept = [word for word in words if standing.issuperset(tokens(word))]
    if not kept:
        raise SchemaError(f"no word of label {operation.label!r} stands in sentence {place}")
    return " ".join(kept[:MOST_WORDS])


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
