"""The metric of turn examples, in the two forms that DSPy's optimizers ask for.

    >>> score_turn(example, prediction)
    Prediction(score=0.0, feedback='Wrong. ... The right answer is candidate 2 of 10, but ...')
    >>> keep_turn(example, prediction, trace)
    False

:func:`score_turn` has GEPA's five arguments and always says why. :func:`keep_turn` also decides which turns become
demonstrations: those answered rightly, by the gold calculation, from a question that was understood rightly; a right
answer that the search found in spite of a wrong understanding would teach the wrong thing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dspy

from optimize.metrics.equality import program_match
from optimize.metrics.feedback import diagnose, words
from optimize.metrics.labels import misunderstandings


def score_turn(
    gold: Any, pred: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
) -> dspy.Prediction:
    """Whether a turn is right, and why not.

    Args:
        gold: A turn example of :mod:`optimize.prompts.turns`.
        pred: The program's prediction, with its ``turn``; one without is a failed turn.
        trace: Not looked at: GEPA gives one where it wants a score too.
        pred_name: The predictor that feedback is wanted for.
        pred_trace: Not looked at.

    Returns:
        ``score`` (1.0 or 0.0) and ``feedback``.
    """
    del trace, pred_trace
    turn = getattr(pred, "turn", None)
    if turn is None:
        return dspy.Prediction(score=0.0, feedback="Wrong. The program did not answer: its reply could not be read.")
    found = diagnose(turn, gold.program, gold.answer, gold.report.report)
    understood = misunderstandings(turn.understanding, gold.get("gold"))
    feedback = words(turn, gold.program, gold.answer, found, pred_name, understood)
    return dspy.Prediction(score=float(found.stage == "right"), feedback=feedback)


def keep_turn(gold: Any, pred: Any, trace: Sequence[Any] | None = None) -> float | bool:
    """The score of a turn, in [0, 1]; with a trace, whether it is good enough to be shown as a demonstration."""
    score = float(score_turn(gold, pred).score)
    if trace is None:
        return score
    turn = pred.turn
    if score < 1 or (turn.derivation is not None and not program_match(turn.derivation, gold.program)):
        return False
    return not misunderstandings(turn.understanding, gold.get("gold"))
