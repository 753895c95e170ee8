"""Answer: the typed answer of a choice with words, path and sources, or an abstention with the nearest facts.

    >>> turn = answer(search, choice, config)
    >>> turn.answer, turn.words, turn.confidence
    (Decimal('50652'), '$50,652 thousand', 0.96)

The words have unit, sign and scale: ``$9,362.2 million``, ``a decrease of 4.2%``. They follow from the units of the
figures and the steps of the calculation only. A part of a like amount is in percent, a difference of percentages in
percentage points; a sum of thousands and millions has no scale. Without a known unit the bare number is shown. Words
are rounded; ``Turn.answer`` is exact.

With ``explain=True`` a language model writes one sentence on the answer, whose numbers and names must be those of the
question, the derivation and its sources; any other sentence is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Literal

import dspy

from kg.reports import Observation, Report
from kg.search import Answer as KGAnswer
from kg.search import Constant, Derivation, Number, Operand, Step, StepResult
from kg.text import SCALE_WORDS, Unit, content_tokens, years
from programs.aggregate import Choice, EvidenceConfig
from programs.lm import plain_text
from programs.turns import Turn
from programs.wording import is_grounded, written_number
from programs.worlds.base import Search
from signatures.answer import Answer as ExplainAnswer

Kind = Unit | Literal["points", "fraction", "relative", "constant", "unknown"]

_AMOUNTS: frozenset[Kind] = frozenset({"currency", "shares", "plain", "per-share", "years", "ratio"})
_POWERS = {Decimal(1_000): 1_000, Decimal(1_000_000): 1_000_000, Decimal(1_000_000_000): 1_000_000_000}
_PLACES = 4


class Answer(dspy.Module):
    """Makes the turn of a choice.

    Args:
        explain: Whether a language model explains the answer, in one call.
    """

    def __init__(self, *, explain: bool = False) -> None:
        super().__init__()
        self.explain = explain
        if explain:
            self.predict = dspy.Predict(ExplainAnswer)

    def forward(self, search: Search, choice: Choice, config: EvidenceConfig) -> Turn[Any, Any]:
        """Answers, or abstains.

        Args:
            search: The question, with its candidates.
            choice: Their probabilities.
            config: Whether a turn may abstain.
        """
        turn, facts = search.turn(choice, config), search.figures()
        if facts is not None and turn.derivation is not None and turn.answer is not None:
            words = spoken_answer(turn.derivation, turn.answer, facts[0], currency_sign(facts[1]))
            turn = replace(turn, words=words)
        explains = self.explain and turn.answer is not None and dspy.settings.lm is not None
        return self._explained(search, turn) if explains else turn

    def _explained(self, search: Search, turn: Turn[Any, Any]) -> Turn[Any, Any]:
        meaning = turn.understanding.description if turn.understanding is not None else "none"
        sentence = self.explanation(search.question, turn.words, meaning, **search.grounds(turn))
        return replace(turn, explanation=sentence) if sentence else turn

    def explanation(self, question: str, answer: str, meaning: str = "none", **grounds: str) -> str:
        """Returns a sentence on an answer; empty where it has a number or a name that is not shown.

        Args:
            question: The question.
            answer: The answer in words.
            meaning: The question spelled out by a model, which proves nothing.
            grounds: The fields ``calculation`` and ``facts`` of the signature.
        """
        shown = {"question": plain_text(question), "answer": answer, **grounds}
        sentence = " ".join(str(self.predict(meaning=meaning, **shown).sentence).split())
        text = " ".join(shown.values()).replace("_", " ")
        return sentence if is_grounded(sentence, text, shown["question"]) else ""


@dataclass(frozen=True)
class Measure:
    """The measure of a number.

    Attributes:
        kind: A unit of figures; ``points`` between percentages, ``fraction`` of like amounts, ``relative`` change.
        scale: The amount of one unit.
        shown: The factor from the value to the shown number: 100 for percentages that are stored as fractions.
        places: Decimal places that are exact.
        figures: Its figures, where it is one or the difference of two.
        risen: Whether it is the difference of one line item between two periods, the later one first.
    """

    kind: Kind
    scale: int = 1
    shown: int = 1
    places: int | None = None
    figures: tuple[Observation, ...] = ()
    risen: bool = False


UNKNOWN = Measure("unknown")


def spoken_answer(derivation: Derivation, answer: KGAnswer, observations: Iterable[Observation], sign: str = "") -> str:
    """Returns an answer in words.

    Args:
        derivation: Its calculation.
        answer: Its exact value.
        observations: The report's figures.
        sign: The currency's sign; empty where it is not known.
    """
    if not isinstance(answer, Decimal):
        return written_number(answer)
    measure = measured(derivation, {observation.id: observation for observation in observations})
    if measure.kind == "relative" or (measure.kind == "fraction" and abs(answer) <= 1):
        measure = replace(measure, kind="percent", shown=100, risen=measure.risen and measure.kind == "relative")
    return _said(answer * measure.shown if measure.shown != 1 else answer, measure, sign)


def measured(derivation: Derivation, observations: Mapping[str, Observation]) -> Measure:
    """Returns the measure of a derivation's result."""
    results: list[Measure] = []
    for step in derivation.steps:
        operands = [_of_operand(operand, results, observations) for operand in step.operands]
        results.append(_of_step(step, operands))
    return results[-1]


def currency_sign(report: Report) -> str:
    """The sign of the currency that a report writes most, in its table or else in its text; empty without any."""
    for texts in ((cell for row in report.table for cell in row), report.sentences):
        counts = Counter(character for text in texts for character in text if character in "$€£¥")
        if counts:
            return max(counts, key=lambda character: (counts[character], character))
    return ""


def _of_operand(operand: Operand, results: Sequence[Measure], observations: Mapping[str, Observation]) -> Measure:
    if isinstance(operand, StepResult):
        return results[operand.index]
    if isinstance(operand, Constant):
        return Measure("constant")
    if not isinstance(operand, Number) or operand.source is None or operand.source not in observations:
        return UNKNOWN
    observation = observations[operand.source]
    quantity = observation.quantity
    places = max(0, -int(Decimal(operand.text.removesuffix("%")).as_tuple().exponent))
    shown = 100 if operand.text.endswith("%") else 1
    return Measure(quantity.unit, quantity.scale, shown, places, (observation,))


def _of_step(step: Step, operands: Sequence[Measure]) -> Measure:
    if step.operation == "select":
        return operands[0]
    if len(operands) != 2:
        return UNKNOWN
    first, second = operands
    rules = {"add": _sum, "subtract": _difference, "multiply": _product, "divide": _quotient}
    rule = rules.get(step.operation)
    return rule(first, second, step) if rule is not None else UNKNOWN


def _alike(first: Measure, second: Measure) -> bool:
    same = (first.kind, first.scale, first.shown) == (second.kind, second.scale, second.shown)
    return same and first.kind not in ("unknown", "constant")


def _exact(first: Measure, second: Measure) -> int | None:
    return max(first.places, second.places) if first.places is not None and second.places is not None else None


def _sum(first: Measure, second: Measure, step: Step) -> Measure:  # noqa: ARG001 - the rules' common form
    if not _alike(first, second):
        return UNKNOWN
    return Measure(first.kind, first.scale, first.shown, _exact(first, second))


def _difference(first: Measure, second: Measure, step: Step) -> Measure:
    if first.kind == "fraction" and _constant(step, 1) == 1:
        return Measure("relative", risen=first.risen)
    if not _alike(first, second):
        return UNKNOWN
    kind: Kind = "points" if first.kind == "percent" else first.kind
    figures = (*first.figures, *second.figures)
    risen = len(figures) == 2 and _is_later(*figures)
    return Measure(kind, first.scale, first.shown, _exact(first, second), figures, risen)


def _is_later(first: Observation, second: Observation) -> bool:
    """Whether two figures are one line item's, the first of a later year."""
    if not first.period or not second.period:
        return False
    before, after = years(second.period), years(first.period)
    same = first.property == second.property or set(content_tokens(first.label)) == set(content_tokens(second.label))
    return bool(same and before and after and after[-1] > before[-1])


def _product(first: Measure, second: Measure, step: Step) -> Measure:
    for one, other, place in ((first, second, 1), (second, first, 0)):
        constant = _constant(step, place)
        if constant is not None:
            return _times_constant(one, constant)
        if (
            other.kind in ("percent", "fraction", "relative")
            and one.kind in _AMOUNTS
            and other.shown == 100 ** (other.kind == "percent")
        ):
            return Measure(one.kind, one.scale, one.shown)
        if one.kind == "per-share" and other.kind == "shares" and one.scale == 1:
            return Measure("currency", other.scale)
    return UNKNOWN


def _times_constant(one: Measure, constant: Decimal) -> Measure:
    if constant == 100 and one.kind in ("fraction", "relative"):
        return Measure("percent", risen=one.risen and one.kind == "relative")
    if abs(constant) == 1:
        return replace(one, risen=False)
    factor = _POWERS.get(constant)
    if factor is not None and one.kind in _AMOUNTS and one.scale % factor == 0:
        return Measure(one.kind, one.scale // factor, places=one.places)
    return UNKNOWN


def _quotient(first: Measure, second: Measure, step: Step) -> Measure:
    constant = _constant(step, 1)
    if constant is not None:
        factor = _POWERS.get(constant)
        if factor is not None:
            return replace(first, scale=first.scale * factor, places=None) if first.kind in _AMOUNTS else UNKNOWN
        # An average, or a part: what it counts stays the same.
        is_count = constant == constant.to_integral_value() and 0 < constant < 100
        return replace(first, places=None, figures=(), risen=False) if is_count else UNKNOWN
    if len(first.figures) == 2 and first.figures[1:] == second.figures and first.scale == second.scale:
        return Measure("relative", risen=first.risen)
    if _alike(first, second):
        risen = len(first.figures) == len(second.figures) == 1 and _is_later(*first.figures, *second.figures)
        return Measure("fraction", risen=risen)
    if first.kind == "points" and second.kind == "percent" and first.shown == second.shown:
        return Measure("fraction")
    if first.kind == "currency" and second.kind == "shares" and first.scale == second.scale:
        return Measure("per-share")
    if second.kind in ("percent", "fraction") and first.kind in _AMOUNTS:
        return Measure(first.kind, first.scale) if second.shown == 100 ** (second.kind == "percent") else UNKNOWN
    return UNKNOWN


def _constant(step: Step, place: int) -> Decimal | None:
    operand = step.operands[place]
    return operand.value if isinstance(operand, Constant) else None


def _said(value: Decimal, measure: Measure, sign: str) -> str:
    if measure.kind in ("unknown", "constant", "fraction"):
        return _grouped(value, measure)
    size = _in_units(abs(value), measure, sign)
    if measure.risen and value:
        return f"{'an increase' if value > 0 else 'a decrease'} of {size}"
    return f"-{size}" if value < 0 else size


def _in_units(value: Decimal, measure: Measure, sign: str) -> str:
    number = _grouped(value, measure)
    scale = f" {SCALE_WORDS[measure.scale]}" if measure.scale in SCALE_WORDS else ""
    said: dict[Kind, str] = {
        "currency": f"{sign}{number}{scale}",
        "per-share": f"{sign}{number}{scale} per share",
        "percent": f"{number}%",
        "points": f"{number} percentage point{'' if value == 1 else 's'}",
        "shares": f"{number}{scale} share{'' if value == 1 and not scale else 's'}",
        "years": f"{number} year{'' if value == 1 else 's'}",
    }
    return said.get(measure.kind, f"{number}{scale}")


def _grouped(value: Decimal, measure: Measure) -> str:
    """Returns digits in groups of three; a figure has its own decimal places, a quotient the significant ones."""
    if value.adjusted() >= 20:  # more digits than the default context rounds
        return written_number(value)
    if measure.places is not None and measure.places <= _PLACES:
        return f"{value.quantize(Decimal(1).scaleb(-measure.places), ROUND_HALF_EVEN):,f}"
    places = 1 if abs(value) >= 10 else 2 if abs(value) >= Decimal("0.1") else _PLACES
    if measure.kind in ("percent", "points") and abs(value) >= 1:
        places = 1
    if measure.kind in ("unknown", "fraction"):
        places = max(places, 3)
    text = f"{value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN):,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
