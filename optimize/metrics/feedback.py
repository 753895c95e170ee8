"""The metric of turns and conversations, for ``dspy.Evaluate`` and every optimizer of DSPy, with its reason in words.

    >>> metric(example, prediction)
    Prediction(score=0.0, feedback='Wrong. ... The right answer is candidate 2 of 10, but ...')
    >>> metric(example, prediction, trace)                  # may it become a demonstration?
    False

A demonstration must have a right answer, by the gold calculation, from a right understanding of the question. The
search may find a right answer despite a wrong understanding, but it would be a misleading demonstration.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import dspy

from kg.errors import DataError
from kg.search import Answer
from optimize.metrics.abstention import read_gold
from optimize.metrics.graphs import score_question
from optimize.metrics.turns import Diagnosis, Difference, diagnose, exact_match, program_match
from programs.turns import Turn
from signatures.understand import Understanding

_WRONG_SHOWN = 3
_ARTICLES, _NO_WORD, _UNIT = map(re.compile, (r"\b(?:a|an|the)\b", r"[^\w\s.%-]", r"(?<=\d) [^\W\d]+$"))
_UNREADABLE = "Wrong. The program did not answer: its reply could not be read."
_IN_WORDS: dict[Difference, str] = {
    "sign": "The figures are right, and so is the result but for its sign: the operands are the wrong way round.",
    "scale": "The result is off by a power of ten only: a percentage, a unit or a constant is wrong.",
    "order": "The figures and operations are right, but their order is not.",
    "operation": "The figures are right, but the operations are not.",
    "period": "A figure comes from the right row but the wrong column: most likely another period was meant.",
    "line_item": "A figure comes from the right column but the wrong row: another line item was meant.",
    "figures": "Other figures were needed.",
}


def metric(
    gold: Any, pred: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
) -> dspy.Prediction | bool:
    """Returns whether a turn is right, or the share of a conversation's turns that are, with the reason.

    Args:
        gold: A turn example of :mod:`optimize.examples`, a conversation example of :mod:`experiments.data`, a question
            about a graph with ``id``, ``topics`` and ``answers``, a question with ``files`` and an ``answer``, or an
            example with an ``answer`` alone.
        pred: The program's prediction, with its ``turn`` or ``turns``; one without is a failed turn. Against an answer
            alone also another program's ``answer``, or the answer itself: a text, a number, names or ``None``.
        trace: The calls of the predictors; DSPy passes it where it selects demonstrations.
        pred_name: Only GEPA passes it, also with a trace: it asks for the feedback.
        pred_trace: Not used.

    Returns:
        ``score`` in [0, 1] and ``feedback``, which counts as its score; with a trace and without ``pred_name``,
        whether the turn may become a demonstration.
    """
    del pred_trace
    score = _score(gold, pred)
    return score if trace is None or pred_name is not None else _is_demonstration(gold, pred, float(score.score))


def _score(gold: Any, pred: Any) -> dspy.Prediction:
    if "questions" in gold:
        return _score_conversation(gold, pred)
    turn = getattr(pred, "turn", None)
    if "topics" in gold:
        if turn is None:
            return dspy.Prediction(score=0.0, feedback=_UNREADABLE)
        own = score_question(gold, turn)
        answered = f"Answered {own.answer}, gold {own.gold}." if own.answer is not None else own.message
        return dspy.Prediction(score=float(own.rank == 1), feedback=f"Question: {gold.question}. {answered}")
    if "files" in gold:
        answer = getattr(pred, "answer", None)
        right = is_same_answer(str(answer), str(gold.answer))  # None is the answer where the files do not say
        why = "; ".join(getattr(getattr(pred, "thoughts", None), "refused", ()))
        feedback = f"Question: {gold.question} Answered {answer}, gold {gold.answer}. {why}"
        return dspy.Prediction(score=float(right), feedback=feedback)
    if "program" not in gold:
        return _score_answer(gold.answer, turn.answer if turn is not None else getattr(pred, "answer", pred))
    if turn is None:
        return dspy.Prediction(score=0.0, feedback=_UNREADABLE)
    found = diagnose(turn, gold.program, gold.answer, getattr(gold.report, "report", gold.report))
    feedback = " ".join([words(turn, gold.program, gold.answer, found), *misunderstandings(turn.understanding)])
    return dspy.Prediction(score=float(found.stage == "right"), feedback=feedback)


def _score_answer(gold: Any, answer: Any) -> dspy.Prediction:
    """Returns whether an answer is the gold one; each is a number, also as text, ``yes`` or ``no``, names or none."""
    try:
        right = exact_match(read_gold(answer), read_gold(gold))
    except DataError as error:
        return dspy.Prediction(score=0.0, feedback=f"Wrong. {error}")
    return dspy.Prediction(score=float(right), feedback="Right." if right else f"Wrong. Answered {answer}, not {gold}.")


def is_same_answer(answer: str, right: str) -> bool:
    """Returns whether two answers are the same: without case, articles, commas of numbers and the order of a list."""
    number = _number(right)
    if number is not None:
        return _number(answer) == number
    flat = (re.sub(r",(?=\d{3}\b)", "", text) for text in (answer, right))
    given, wanted = (sorted(map(_normal, re.split(r"[;,\n]| and ", text))) for text in flat)
    return [part for part in given if part] == [part for part in wanted if part]


def _normal(text: str) -> str:
    flat = " ".join(_NO_WORD.sub(" ", _ARTICLES.sub(" ", text.casefold())).split()).strip(" .")
    number = _number(flat)
    return f"{number.normalize():f}" if number is not None else flat


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(_UNIT.sub("", text.strip()).rstrip(".%").lstrip("$€£").replace(",", "").strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _score_conversation(gold: Any, pred: Any) -> dspy.Prediction:
    """Returns the share of right turns, with the reasons of the first wrong ones."""
    turns: Sequence[Turn] = getattr(pred, "turns", ())
    answers = gold.answers if gold.answers is not None else gold.gold
    pairs = zip(turns, gold.programs or [None] * len(answers), answers, strict=False)
    found = [(turn, program, answer, diagnose(turn, program, answer, gold.report)) for turn, program, answer in pairs]
    wrong = [words(*one) for one in found if one[-1].stage != "right"]
    score = (len(found) - len(wrong)) / len(answers)
    feedback = "\n".join(wrong[:_WRONG_SHOWN]) or ("Right." if score == 1 else "The program did not answer.")
    return dspy.Prediction(score=score, feedback=feedback)


def _is_demonstration(gold: Any, pred: Any, score: float) -> bool:
    if "questions" in gold or "program" not in gold:
        return score == 1
    turn = pred.turn
    if isinstance(turn.understanding, Understanding) and (
        turn.pick is None or getattr(turn.evidence, "named", None) != turn.pick
    ):
        return False  # the answer is not the calculation that the model named when it read the page
    if score < 1 or (turn.derivation is not None and not program_match(turn.derivation, gold.program)):
        return False
    return not misunderstandings(turn.understanding)


def words(turn: Turn, gold_program: str | None, gold_answer: Answer | None, found: Diagnosis) -> str:
    """Returns the diagnosis as feedback.

    Args:
        turn: The answered turn.
        gold_program: The gold calculation; ``None`` where the answer alone is known.
        gold_answer: Its result; ``None`` where the report does not answer.
        found: The diagnosis.
    """
    gold = f"{gold_program} = {gold_answer}" if gold_program not in (None, str(gold_answer)) else str(gold_answer)
    parts = [f"{'Right' if found.stage == 'right' else 'Wrong'}.", f"Question: {turn.question}", f"Gold: {gold}."]
    if found.stage == "right":
        return " ".join([*parts, f"Derivation: {turn.derivation}."])
    if turn.answer is not None:
        parts.append(f"Answered: {turn.derivation} = {turn.answer}.")
    if turn.failure is not None:
        parts.append(f"No answer ({turn.failure}): {turn.message}.")
    parts.append(_stage_words(turn, found))
    if found.difference is not None:
        parts.append(_IN_WORDS[found.difference])
    return " ".join(parts)


def _stage_words(turn: Turn, found: Diagnosis) -> str:
    if found.stage == "failed":
        return "An error stopped the turn."
    if found.rank is None:
        return f"None of the {len(turn.candidates)} candidates has the right answer."
    choice = f"candidate {turn.pick + 1} was picked" if turn.pick is not None else "none was picked"
    return f"The right answer is candidate {found.rank} of {len(turn.candidates)}, but {choice}."


def misunderstandings(understanding: Any) -> list[str]:
    """Returns a sentence on what was refused of an understanding, if anything; none where it is ``None``."""
    if not isinstance(understanding, Understanding):
        return []
    refused = [f"a calculation was refused: {reason}" for reason in understanding.refused]
    refused += ["the page was said not to answer"] * understanding.says_none
    return [f"Misunderstood: {'; '.join(refused)}."] if refused else []
