"""Coreference of questions about reports: the same row in another year, an earlier answer, "the two years".

    >>> resolve_report("and in 2008?", past, ["what was the net income in 2009?"], index, model).canonical
    'what was the net income in 2008?'

Which earlier turns are meant is said by :mod:`kg.coreference.turns`; the words come from those turns' own questions,
and
periods from the figures that their answers used in the report's graph. The result is for a reader, and for programs
that take one question at a time; the beam reads the question as it was asked, with its own histories.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kg.coreference.resolution import ReferenceKind, Resolution
from kg.coreference.turns import ReferenceModel, used_turns
from kg.derivations import Number, PastTurn, Reference, TurnOperation, collapse
from kg.discourse import LEAD, Discourse, Spoken
from kg.figures import ReportIndex
from kg.text import content_tokens, years

_YEAR = re.compile(r"(?<![\d.,$])(?:19[5-9]\d|20[0-4]\d)(?![\d,]|\.\d)")
_AFTER_LEAD = re.compile(r"(?:for|of|in)\b[ ,]*", re.IGNORECASE)
_PERIODS = re.compile(
    r"\b(?:(?:the|these|those)\s+)?(?:two|both|these|those|same)\s+(?:years|periods)\b",
    re.IGNORECASE,
)
_THAT_YEAR = re.compile(r"\b(?:that|this|the same|same)\s+(?:year|period)\b", re.IGNORECASE)
_NOUN = (
    r"(?:values?|amounts?|numbers?|figures?|changes?|differences?|totals?|sums?|results?|percentages?|ratios?|increases?"
    r"|decreases?|declines?|growth|products?|averages?|answers?)"
)
_PRONOUN = re.compile(
    rf"\b(?:this|that|these|those)\s+(?:two\s+|net\s+|total\s+)?{_NOUN}\b"
    r"|\b(?:it|them|they|these|those|this)\b(?!\s+(?:year|company))|\bthe two\b(?!\s+(?:years|periods|\w+s\b))"
    r"|\bthat\b(?=\s*(?:\?|$|,|\b(?:represent|is|was|in|as|to|by|from)\b))",
    re.IGNORECASE,
)
_OPERATIONS = frozenset(
    content_tokens(
        "change difference total sum average ratio percentage percent increase decrease growth decline net variation "
        "fluctuation product combined portion rate range"
    )
)
_ONE = frozenset(("this", "that", "it"))
_LONGEST = 120
_PHRASES = {
    "select": "{0}",
    "add": "the sum of {0} and {1}",
    "subtract": "the difference between {0} and {1}",
    "multiply": "the product of {0} and {1}",
    "divide": "the ratio of {0} to {1}",
    "greater": "whether {0} is greater than {1}",
    "exp": "{0} to the power of {1}",
    "change_ratio": "the relative change of {0} from {1}",
    "average": "the average of {0} and {1}",
    "drop_ratio": "the relative excess of {0} over {1}",
    "share": "the share of {0} in {0} and {1}",
    "divide_thousands": "the ratio of {0} in thousands to {1}",
    "divide_millions": "the ratio of {0} in millions to {1}",
    "multiply_to_millions": "the product of {0} and {1} in millions",
}
_ASKING = re.compile(
    r"^(?:(?:and|so|then|now|but)\b[ ,]*)*(?:what|how much)\s+(?:was|is|were|are|would be|will be|did|does)\s+",
    re.IGNORECASE,
)


def resolve_report(
    question: str,
    past: Sequence[PastTurn],
    canonicals: Sequence[str],
    index: ReportIndex,
    model: ReferenceModel,
) -> Resolution:
    """Spells a question out.

    Args:
        question: The question as asked.
        past: The turns before it, with the answers that were given.
        canonicals: Their questions, spelled out.
        index: The report's index.
        model: Which earlier turns a question uses.
    """
    used = used_turns(model, question, past, index)
    if not past:
        return Resolution(question, question)
    figures = _Figures(index, past)
    kind: ReferenceKind = "none"
    text = question.strip()
    found = _same_row(text, canonicals, past)
    if found is not None:
        text, turn = found
        return _made(question, text, "ellipsis", (turn,), figures)
    with_periods = _with_periods(text, figures)
    if with_periods != text:
        text, kind = with_periods, "periods"
    if used:
        with_results = _with_results(text, used, figures, canonicals)
        if with_results != text:
            text, kind = with_results, "result"
        elif kind == "none":
            kind = "implicit"
    if kind == "none":
        return Resolution(question, question)
    turns = used or figures.latest_turns
    return _made(question, text, kind, turns, figures)


class _Figures:
    """The figures that earlier answers used, as the graph has them."""

    def __init__(self, index: ReportIndex, past: Sequence[PastTurn]) -> None:
        self.index = index
        self.past = past
        derivations = [turn.derivation for turn in past]
        self.collapsed = [
            None if one is None else collapse(one, derivations[:place]) for place, one in enumerate(derivations)
        ]
        self.of_turn = [
            index.align(turn.derivation, turn.question) if turn.derivation is not None else () for turn in past
        ]

    def phrase(self, turn: int, canonicals: Sequence[str]) -> str:
        """Returns a turn's answer in the words of its question, or of the figures in the graph."""
        collapsed = self.collapsed[turn]
        own = _noun_phrase(canonicals[turn])
        is_figure = collapsed is None or collapsed.operation == "select"
        if own is not None and (is_figure or not set(content_tokens(own)) <= _OPERATIONS):
            return own
        if collapsed is None:
            return f"the answer to question {turn + 1}"
        written = self._written(collapsed, self.of_turn[turn], canonicals)
        return written if len(written) <= _LONGEST else f"the answer to question {turn + 1}"

    def _written(self, collapsed: TurnOperation, places: Sequence[int], canonicals: Sequence[str]) -> str:
        figures = iter(places)
        parts = []
        for operand in collapsed.operands:
            if isinstance(operand, Reference):
                parts.append(self.phrase(operand.turn, canonicals))
                continue
            place = next(figures, None) if isinstance(operand, Number) else None
            parts.append(str(operand.value.normalize()) if place is None else self._label(place))
        return _PHRASES[collapsed.operation].format(*parts)

    def _label(self, place: int) -> str:
        observation = self.index.observations[place]
        period = (
            f" in {observation.period}" if observation.period and observation.period not in observation.label else ""
        )
        return f"{observation.label}{period}"

    def is_look_up(self, turn: int) -> bool:
        """Whether a turn's answer is a figure as it stands in the report."""
        derivation = self.past[turn].derivation
        return derivation is None or derivation.is_look_up

    def paths(self, turns: Sequence[int]) -> tuple[str, ...]:
        """Instance and line item of the figures of some turns."""
        observations = [self.index.observations[place] for turn in turns for place in self.of_turn[turn]]
        return tuple(dict.fromkeys(f"{one.entity} -> {one.property}" for one in observations))

    def periods(self, most: int) -> list[str]:
        """The periods of the latest figures, in order of time."""
        named = [[years(self.index.observations[place].period or "") for place in places] for places in self.of_turn]
        spoken = [Spoken(tuple(str(found[-1]) for found in some if found)) for some in named]
        return sorted(Discourse(spoken).latest(most))

    @property
    def latest_turns(self) -> tuple[int, ...]:
        """The latest turn with figures."""
        known = [turn for turn, places in enumerate(self.of_turn) if places]
        return tuple(known[-1:])


def _made(question: str, text: str, kind: ReferenceKind, turns: Sequence[int], figures: _Figures) -> Resolution:
    canonical = text if text.endswith(("?", ".")) else f"{text}?"
    return Resolution(question, canonical, kind, figures.paths(turns), tuple(turns))


def _same_row(text: str, canonicals: Sequence[str], past: Sequence[PastTurn]) -> tuple[str, int] | None:
    """For "and in 2008?" the latest question for a figure, with its years replaced; also for "and net sales?"."""
    lead = LEAD.match(text)
    begin = lead.end() if lead is not None else 0
    after = _AFTER_LEAD.match(text, begin)
    begin = after.end() if after is not None else begin
    rest = text[begin:].strip(" ?.")
    named = _YEAR.findall(rest)
    words = content_tokens(rest)
    asked = [
        turn
        for turn in range(len(past) - 1, -1, -1)
        if canonicals[turn] and (past[turn].derivation is None or past[turn].derivation.is_look_up)  # type: ignore[union-attr]
    ]
    if named and not words:
        for turn in [*asked, *range(len(past) - 1, -1, -1)]:
            old = _YEAR.findall(canonicals[turn])
            if len(old) == len(named):
                return _with_years(canonicals[turn], named), turn
            if not old and len(named) == 1 and content_tokens(canonicals[turn]):
                return f"{canonicals[turn].rstrip(' ?.')} in {named[0]}?", turn
        return None
    led = begin > 0
    if (
        led
        and words
        and not named
        and len(rest.split()) <= 8
        and not _is_question(rest)
        and not set(words) <= _OPERATIONS
    ):
        for turn in asked:
            old = _YEAR.findall(canonicals[turn])
            if old:
                return f"what was {rest} in {' and '.join(old)}?", turn
    return None


def _with_years(text: str, named: Sequence[str]) -> str:
    parts = _YEAR.split(text)
    return "".join(part + year for part, year in zip(parts, [*named, ""], strict=True))


def _is_question(text: str) -> bool:
    return bool(re.search(r"\b(?:what|which|how|who|when|is|are|was|were|did|does|do)\b", text, re.IGNORECASE))


def _with_periods(text: str, figures: _Figures) -> str:
    if _YEAR.search(text):
        return text
    if _PERIODS.search(text):
        both = figures.periods(2)
        return _PERIODS.sub(" and ".join(both), text, count=1) if len(both) == 2 else text
    last = figures.periods(1)
    return _THAT_YEAR.sub(last[0], text, count=1) if last else text


def _with_results(text: str, used: Sequence[int], figures: _Figures, canonicals: Sequence[str]) -> str:
    """Puts what earlier turns asked for in the place of a pronoun, or behind an operation that names no operands."""
    match = _PRONOUN.search(text)
    if match is not None and match[0].lower().split()[0] in _ONE and len(used) > 1:
        calculated = [turn for turn in used if not figures.is_look_up(turn)]
        if not calculated:
            both = _listed([figures.phrase(turn, canonicals) for turn in used])
            return f"{text[: match.end()]} between {both}{text[match.end() :]}"
        used = calculated[-1:]
    listed = _listed([figures.phrase(turn, canonicals) for turn in used])
    if match is not None:
        return text[: match.start()] + listed + text[match.end() :]
    if set(content_tokens(text)) <= _OPERATIONS:
        joint = "between" if len(used) > 1 and re.search(r"change|difference|ratio|growth", text, re.I) else "of"
        return f"{text.rstrip(' ?.')} {joint} {listed}?"
    return text


def _listed(phrases: Sequence[str]) -> str:
    return phrases[0] if len(phrases) == 1 else f"{', '.join(phrases[:-1])} and {phrases[-1]}"


def _noun_phrase(canonical: str) -> str | None:
    """Returns the object of a question: "what was the net income in 2009?" asks for "the net income in 2009"."""
    text = canonical.strip().rstrip("?. ")
    match = _ASKING.match(text)
    if match is None or len(text) > _LONGEST or _PRONOUN.search(text) or not content_tokens(text):
        return None
    return text[match.end() :]
