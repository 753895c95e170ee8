"""The common parts of the prompt optimizers: their base class, and the adapter to DSPy's own optimizers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Literal

import dspy
from dspy.teleprompt import Teleprompter
from dspy.utils.hasher import Hasher

from optimize.needs import Extras
from optimize.optimizer import Optimizer


class PromptOptimizer(Optimizer):
    """An optimizer of the prompts of the program for one turn.

    The default settings are for a small model on a few cores, where every demonstration takes time.
    """

    needs_lm: ClassVar[bool] = True
    level: ClassVar[Literal["conversation", "turn"]] = "turn"


class Bound(Teleprompter):
    """One of DSPy's optimizers with the arguments of its ``compile`` other than the program and the data.

    Args:
        optimizer: The optimizer, or a function that returns it for the training data.
        options: Further arguments of its ``compile``.
        trains_on: Selects the training examples that it is given; all by default.
    """

    def __init__(
        self,
        optimizer: Teleprompter | Callable[[list[dspy.Example]], Teleprompter],
        options: Mapping[str, Any] | None = None,
        trains_on: Callable[[list[dspy.Example]], list[dspy.Example]] = list,
    ) -> None:
        super().__init__()
        self.optimizer = optimizer
        self.options = dict(options if options is not None else {})
        self.trains_on = trains_on

    def compile(
        self,
        student: dspy.Module,
        *,
        trainset: list[dspy.Example],
        teacher: dspy.Module | None = None,
        valset: list[dspy.Example] | None = None,
    ) -> dspy.Module:
        """Returns an optimized copy of ``student``; arguments that the optimizer does not take are left out."""
        shown = self.trains_on(trainset)
        optimizer = self.optimizer if isinstance(self.optimizer, Teleprompter) else self.optimizer(shown)
        copied = student.deepcopy()
        for module in [copied, *(module for _, module in copied.named_sub_modules())]:
            module._compiled = False  # DSPy's bootstrapping refuses a program that is compiled already
        given = {"trainset": shown, "teacher": teacher, "valset": valset, **self.options}
        taken = inspect.signature(optimizer.compile).parameters
        with hashed_by_content():
            compiled: dspy.Module = optimizer.compile(copied, **{name: given[name] for name in given if name in taken})
        return compiled


@contextmanager
def hashed_by_content() -> Iterator[None]:
    """Lets DSPy's optimizers hash demonstrations by their text, for the time of the context, in all threads.

    DSPy draws demonstrations by a hash of their pickle. The pickles of equal demonstrations differ if some of their
    strings are one object, so a resumed compile could draw others than the same compile without an interruption.
    """
    before = Hasher.__dict__["hash"]
    Hasher.hash = classmethod(lambda cls, value: cls.hash_bytes(repr(value).encode()))
    try:
        yield
    finally:
        Hasher.hash = before


def teacher_settings(extras: Extras) -> dict[str, Any]:
    """Returns the settings of the turns that are bootstrapped: the teacher's model, also if it is the program's own."""
    return {"lm": extras.lms["teacher"]}
