"""The measurement of a turn: its calls, tokens and time, and the prompts that it asks, from a few answered turns.

>>> measured = measure(program.turn, lm, split.train[:2])
>>> measured.calls, measured.active
(2.0, ('turn.understand', 'turn.aggregate'))
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import dspy

from kg.errors import ConfigError, LMError
from optimize.compiling.candidates import CalledModules
from optimize.prompts import TurnStudent
from programs.lm import Expenses, GuardedLM


@dataclass(frozen=True)
class Measured:
    """The mean use of a turn.

    Attributes:
        calls: Calls to the language model.
        tokens: Tokens of prompts and replies together.
        usd: Dollars a call; ``None`` where the price is not known.
        seconds: Wall time.
        active: The predictors that were asked, by name.
    """

    calls: float
    tokens: float
    usd: Decimal | None
    seconds: float
    active: tuple[str, ...] = ()


def measure(turn: Any, lm: dspy.LM, examples: Sequence[dspy.Example]) -> Measured:
    """Answers turns without DSPy's cache, and returns their mean use.

    Args:
        turn: The program for one question.
        lm: The model it asks.
        examples: Turn examples; without any the use is 0.

    Raises:
        ConfigError: No predictor is asked, so that prompt optimizers have nothing to work on.
        LMError: An error stopped every turn.
    """
    if not examples:
        return Measured(0.0, 0.0, Decimal(0) if getattr(lm, "free", False) else None, 0.0)
    probe, spent, asked = lm.copy(cache=False), Expenses(), CalledModules()
    if isinstance(probe, GuardedLM):
        probe.spent = spent
    student = TurnStudent(turn)
    start = time.perf_counter()
    with dspy.context(lm=probe, callbacks=[*dspy.settings.callbacks, asked]):
        turns = [student(**example.inputs()).turn for example in examples]
    took, count = time.perf_counter() - start, len(examples)
    if all(one.failure in ("lm_error", "error") for one in turns):
        raise LMError(f"none of the {count} turns that were answered for measure has an answer: {turns[0].message}")
    active = tuple(name for name, predictor in student.named_predictors() if id(predictor) in asked.seen)
    if not active:
        raise ConfigError(
            "prompt optimizers have nothing to work on: as the program is set, it asks the language model through "
            "none of its prompts (set understand=true or evidence=index)"
        )
    usd = None if spent.unpriced_calls or not spent.calls else spent.usd / spent.calls
    return Measured(spent.calls / count, spent.tokens / count, usd, took / count, active)


def measured_from(known: Mapping[str, Any]) -> Measured:
    """Reads the plain values of a :class:`Measured`."""
    usd = known["usd"]
    price = None if usd is None else Decimal(usd)
    return Measured(known["calls"], known["tokens"], price, known["seconds"], tuple(known["active"]))
