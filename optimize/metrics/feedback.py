"""The diagnosis of a wrong turn: a stage, a difference, and feedback for an optimizer or a person.

>>> found = diagnose(turn, "subtract(206588, 181001)", Decimal("25587"), report)
>>> found
Diagnosis(stage='not_picked', rank=3, difference='sign')
>>> words(turn, "subtract(206588, 181001)", Decimal("25587"), found)
'Wrong. Question: what is the difference? Gold: subtract(206588, 181001) = 25587. ...'
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from kg.candidates import Candidate
from kg.derivations import Answer, Derivation
from kg.reports import Report
from kg.search import merge_key
from kg.text import find_quantities
from programs.turns import Turn

Stage = Literal["right", "failed", "not_in_beam", "not_picked"]
"""The stage of an error: an exception; no candidate with the right answer; or one that was not selected."""

Difference = Literal["sign", "scale", "order", "operation", "period", "line_item", "figures"]
"""The difference of a wrong derivation. The right figures may have the wrong sign, power of ten, order or operations. A
wrong figure may be from the right row (``period``), from the right column (``line_item``), or from elsewhere."""

_IN_WORDS: dict[Difference, str] = {
    "sign": "The figures are right, and so is the result but for its sign: the operands are the wrong way round.",
    "scale": "The result is off by a power of ten only: a percentage, a unit or a constant is wrong.",
    "order": "The figures and operations are right, but their order is not.",
    "operation": "The figures are right, but the operations are not.",
    "period": "A figure comes from the right row but the wrong column: most likely another period was meant.",
    "line_item": "A figure comes from the right column but the wrong row: another line item was meant.",
    "figures": "Other figures were needed.",
}


@dataclass(frozen=True)
class Diagnosis:
    """The error of a turn.

    Attributes:
        stage: The stage of the error.
        rank: Place of the gold answer among the candidates, from 1, if it is among them.
        difference: Its difference from the gold derivation; ``None`` for a right turn or one without a derivation.
    """

    stage: Stage
    rank: int | None
    difference: Difference | None


def rank_of_gold(candidates: Sequence[Candidate], gold: Answer) -> int | None:
    """Returns the place, counted from 1, of the first candidate with the gold answer; ``None`` if none has it.

    The candidates are those of :class:`programs.turns.turn.Turn`: best first, equal answers already merged.
    """
    wanted = merge_key(gold)
    return next((place for place, one in enumerate(candidates, start=1) if merge_key(one.answer) == wanted), None)


def diagnose(turn: Turn, gold_program: str, gold_answer: Answer, report: Report) -> Diagnosis:
    """Returns the error of a turn.

    Raises:
        ProgramError: The gold program cannot be parsed.
    """
    rank = rank_of_gold(turn.candidates, gold_answer)
    if turn.answer is not None and merge_key(turn.answer) == merge_key(gold_answer):
        return Diagnosis("right", rank, None)
    stage: Stage = "not_in_beam" if rank is None else "not_picked"
    if turn.failure in ("lm_error", "error"):
        stage = "failed"
    difference = None
    if turn.derivation is not None and turn.answer is not None:
        difference = _difference(turn.derivation, turn.answer, Derivation.parse(gold_program), gold_answer, report)
    return Diagnosis(stage, rank, difference)


def _difference(
    derivation: Derivation, answer: Answer, gold: Derivation, gold_answer: Answer, report: Report
) -> Difference:
    used, needed = _figures(derivation), _figures(gold)
    if isinstance(answer, Decimal) and isinstance(gold_answer, Decimal) and used == needed:
        if merge_key(answer) == merge_key(-gold_answer):
            return "sign"
        if _is_power_of_ten(answer, gold_answer):
            return "scale"
    if used.keys() == needed.keys():
        same = Counter(s.operation for s in derivation.steps) == Counter(s.operation for s in gold.steps)
        return "order" if same else "operation"
    return _misplaced(used.keys() - needed.keys(), needed.keys() - used.keys(), report)


def _figures(derivation: Derivation) -> Counter[Decimal]:
    """Returns the figures as read, with their counts; 5% is the figure 5, on another scale."""
    return Counter(Decimal(number.text.removesuffix("%")) for number in derivation.numbers)


def _is_power_of_ten(answer: Decimal, gold: Decimal) -> bool:
    if not answer or not gold:
        return False
    # The gold is rounded to five digits, so a small ratio times 100 agrees only as far as those go.
    return any(
        merge_key(answer.scaleb(-shift)) == merge_key(gold) or merge_key(gold.scaleb(-shift)) == merge_key(answer)
        for shift in (2, 3, 6, 9)
    )


def _misplaced(wrong: set[Decimal], missing: set[Decimal], report: Report) -> Difference:
    """Returns whether a wrong figure is in the row or in the column of a missing one."""
    places = _places(report)
    pairs = [(a, b) for x in wrong for y in missing for a in places.get(x, ()) for b in places.get(y, ())]
    if any(a[0] == b[0] for a, b in pairs):
        return "period"
    if any(a[1] == b[1] for a, b in pairs):
        return "line_item"
    return "figures"


def _places(report: Report) -> dict[Decimal, list[tuple[int, int]]]:
    """Returns the cells, as (row, column), of each figure."""
    places: dict[Decimal, list[tuple[int, int]]] = {}
    for row, cells in enumerate(report.table):
        for column, cell in enumerate(cells):
            for quantity in find_quantities(cell):
                places.setdefault(quantity.value, []).append((row, column))
    return places


def words(
    turn: Turn,
    gold_program: str,
    gold_answer: Answer,
    found: Diagnosis,
    predictor: str | None = None,
    understood: Sequence[str] = (),
) -> str:
    """Returns the diagnosis as feedback, for one predictor (``understand…``, ``aggregate…``) or for the whole program.

    Args:
        turn: The answered turn.
        gold_program: The gold calculation.
        gold_answer: Its result.
        found: The diagnosis.
        predictor: The predictor that the feedback is for; ``None`` for the whole program.
        understood: The wrong fields of the understanding, in words (:func:`optimize.metrics.labels.misunderstandings`).
    """
    gold = f"{gold_program} = {gold_answer}" if gold_program != str(gold_answer) else gold_program
    parts = [f"{'Right' if found.stage == 'right' else 'Wrong'}.", f"Question: {turn.question}", f"Gold: {gold}."]
    if found.stage == "right":
        return " ".join([*parts, f"Derivation: {turn.derivation}.", *_misunderstood(understood)])
    if turn.answer is not None:
        parts.append(f"Answered: {turn.derivation} = {turn.answer}.")
    if turn.failure is not None:
        parts.append(f"No answer ({turn.failure}): {turn.message}.")
    parts.append(_stage_words(turn, found))
    if found.difference is not None:
        parts.append(_IN_WORDS[found.difference])
    return " ".join([*parts, *_misunderstood(understood), *_hint(found, predictor, bool(understood))])


def _misunderstood(understood: Sequence[str]) -> list[str]:
    return [f"Misunderstood: {'; '.join(understood)}."] if understood else []


def _stage_words(turn: Turn, found: Diagnosis) -> str:
    if found.stage == "failed":
        return "An error stopped the turn."
    if found.rank is None:
        return f"None of the {len(turn.candidates)} candidates has the right answer."
    choice = f"candidate {turn.pick + 1} was picked" if turn.pick is not None else "none was picked"
    return f"The right answer is candidate {found.rank} of {len(turn.candidates)}, but {choice}."


def _hint(found: Diagnosis, predictor: str | None, misunderstood: bool) -> list[str]:
    """Returns advice for the named predictor."""
    name = (predictor or "").lower()
    if "understand" in name and found.stage == "not_picked" and not misunderstood:
        return ["The understanding was good enough for the search to find the answer."]
    if "understand" in name and found.stage == "not_in_beam":
        return [
            "The search follows the understanding: its properties, periods and operation must lead to the gold program."
        ]
    if "aggregate" in name and found.stage == "not_in_beam":
        return ["No choice among the candidates could have been right: the best choice was none."]
    return []
