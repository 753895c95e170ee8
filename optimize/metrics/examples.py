"""The metric of turns and conversations, for ``dspy.Evaluate`` and every optimizer of DSPy.

    >>> metric(example, prediction)
    Prediction(score=0.0, feedback='Wrong. ... The right answer is candidate 2 of 10, but ...')
    >>> metric(example, prediction, trace)                  # may it become a demonstration?
    False

A demonstration must have a right answer, by the gold calculation, from a right understanding of the question. The
search may find a right answer despite a wrong understanding, but it would be a misleading demonstration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dspy

from optimize.metrics.equality import program_match
from optimize.metrics.feedback import diagnose, words
from optimize.metrics.labels import misunderstandings
from programs.turns import Turn
from signatures.understand import Understanding

_WRONG_SHOWN = 3


def metric(
    gold: Any, pred: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
) -> dspy.Prediction | bool:
    """Returns whether a turn is right, or the share of a conversation's turns that are, with the reason.

    Args:
        gold: A turn example of :mod:`optimize.examples`, or a conversation example of :mod:`experiments.data`.
        pred: The program's prediction, with its ``turn`` or ``turns``; one without is a failed turn.
        trace: The calls of the predictors; DSPy passes it where it selects demonstrations.
        pred_name: The predictor that the feedback is for; only GEPA passes it, also with a trace.
        pred_trace: Not used.

    Returns:
        ``score`` in [0, 1] and ``feedback``, which counts as its score; with a trace and without ``pred_name``,
        whether the turn may become a demonstration.
    """
    del pred_trace
    score = _score(gold, pred, pred_name)
    return score if trace is None or pred_name is not None else _is_demonstration(gold, pred, float(score.score))


def _score(gold: Any, pred: Any, pred_name: str | None) -> dspy.Prediction:
    if "questions" in gold:
        return _score_conversation(gold, pred, pred_name)
    turn = getattr(pred, "turn", None)
    if turn is None:
        return dspy.Prediction(score=0.0, feedback="Wrong. The program did not answer: its reply could not be read.")
    found = diagnose(turn, gold.program, gold.answer, getattr(gold.report, "report", gold.report))
    understood = misunderstandings(turn.understanding)
    feedback = words(turn, gold.program, gold.answer, found, pred_name, understood)
    return dspy.Prediction(score=float(found.stage == "right"), feedback=feedback)


def _score_conversation(gold: Any, pred: Any, pred_name: str | None) -> dspy.Prediction:
    """Returns the share of right turns, with the reasons of the first wrong ones."""
    turns: Sequence[Turn] = getattr(pred, "turns", ())
    pairs = list(zip(turns, gold.programs, gold.answers, strict=False))
    found = [(turn, program, answer, diagnose(turn, program, answer, gold.report)) for turn, program, answer in pairs]
    wrong = [words(*one, pred_name) for one in found if one[-1].stage != "right"]
    score = (len(found) - len(wrong)) / len(gold.programs)
    feedback = "\n".join(wrong[:_WRONG_SHOWN]) or ("Right." if score == 1 else "The program did not answer.")
    return dspy.Prediction(score=score, feedback=feedback)


def _is_demonstration(gold: Any, pred: Any, score: float) -> bool:
    if "questions" in gold:
        return score == 1
    turn = pred.turn
    if isinstance(turn.understanding, Understanding) and not _named_itself(turn):
        return False
    if score < 1 or (turn.derivation is not None and not program_match(turn.derivation, gold.program)):
        return False
    return not misunderstandings(turn.understanding)


def _named_itself(turn: Turn) -> bool:
    """Whether the answer is the calculation that the model named when it read the page."""
    return turn.pick is not None and getattr(turn.evidence, "named", None) == turn.pick
