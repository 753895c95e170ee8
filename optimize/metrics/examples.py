"""The metric of turn examples, in the two forms of DSPy's optimizers.

    >>> score_turn(example, prediction)
    Prediction(score=0.0, feedback='Wrong. ... The right answer is candidate 2 of 10, but ...')
    >>> keep_turn(example, prediction, trace)
    False

:func:`score_turn` has GEPA's five arguments and always gives a reason. :func:`keep_turn` also selects the turns that
become demonstrations: a right answer, by the gold calculation, from a right understanding of the question. The search
may find a right answer despite a wrong understanding, but it would be a misleading demonstration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dspy

from optimize.metrics.equality import program_match
from optimize.metrics.feedback import diagnose, words
from optimize.metrics.labels import misunderstandings
from programs.turns import Turn
from signatures.page import PageReading


def score_turn(
    gold: Any, pred: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
) -> dspy.Prediction:
    """Returns whether a turn is right, with the reason.

    Args:
        gold: A turn example of :mod:`optimize.prompts.turns`.
        pred: The program's prediction, with its ``turn``; one without is a failed turn.
        trace: Not used; GEPA passes one even where it needs a score.
        pred_name: The predictor that the feedback is for.
        pred_trace: Not used.

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
    """Returns the score of a turn in [0, 1]; with a trace, whether it is good enough for a demonstration."""
    score = float(score_turn(gold, pred).score)
    if trace is None:
        return score
    turn = pred.turn
    if isinstance(turn.understanding, PageReading) and not _named_itself(turn):
        return False
    if score < 1 or (turn.derivation is not None and not program_match(turn.derivation, gold.program)):
        return False
    return not misunderstandings(turn.understanding, gold.get("gold"))


def _named_itself(turn: Turn) -> bool:
    """Whether the answer is the calculation that the model named when it read the page."""
    return turn.pick is not None and getattr(turn.evidence, "named", None) == turn.pick
