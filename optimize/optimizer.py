"""The interface of an optimizer: its settings, its need of language models, and the DSPy optimizer that it makes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Literal

from optimize.needs import Extras, Need, Sizes

if TYPE_CHECKING:
    from dspy.teleprompt import Teleprompter


class Optimizer(ABC):
    """One optimizer of a chain; a subclass is a frozen dataclass whose fields are its settings.

    Attributes:
        summary: Its effect in a few words.
        needs_lm: Whether it cannot work without a language model.
        level: The program that it changes: the one for a conversation, or the one for a single turn.
    """

    summary: ClassVar[str]
    needs_lm: ClassVar[bool] = False
    level: ClassVar[Literal["conversation", "turn"]] = "conversation"

    def need(self, sizes: Sizes) -> Need:  # noqa: ARG002 - subclasses use it
        """Returns the most that it asks of language models; by default nothing."""
        return Need()

    @abstractmethod
    def make(self, seed: int, extras: Extras) -> Teleprompter:
        """Returns the DSPy optimizer for these settings.

        Args:
            seed: Of all that is random.
            extras: Models, threads and folders.
        """
