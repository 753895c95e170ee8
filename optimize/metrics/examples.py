"""The metric of turns and conversations, in the two forms of DSPy's optimizers.

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
from signatures.understand import Understanding

_WRONG_SHOWN = 3


def score_turn(
    gold: Any, pred: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
) -> dspy.Prediction:
    """Returns whether a turn is right, or the share of a conversation's turns that are, with the reason.

    Args:
        gold: A turn example of :mod:`optimize.prompts.turns`; or a turn or conversation example of
            :mod:`experiments.data`.
        pred: The program's prediction, with its ``turn`` or ``turns``; one without is a failed turn.
        trace: Not used; GEPA passes one even where it needs a score.
        pred_name: The predictor that the feedback is for.
        pred_trace: Not used.

    Returns:
        ``score`` in [0, 1] and ``feedback``.
    """
    del trace, pred_trace
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


def keep_turn(gold: Any, pred: Any, trace: Sequence[Any] | None = None) -> float | bool:
    """Returns the score in [0, 1] of a turn or conversation; with a trace, whether it may become a demonstration."""
    score = float(score_turn(gold, pred).score)
    if trace is None:
        return score
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
