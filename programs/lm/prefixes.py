"""The share of a prompt that a server may have computed before: its longest common beginning with an earlier prompt.

    >>> prompts = PromptMemory()
    >>> prompts.share("page A, question 1"), prompts.share("page A, question 2")
    (0.0, 0.94)

It is an estimate for servers that do not return the number of cached tokens.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

KEPT = 256
"""Prompts that are compared, the latest ones; as many conversations may be under way."""


class PromptMemory:
    """The latest prompts of a language model and all its copies; safe to use from several threads."""

    def __init__(self) -> None:
        self._kept: deque[str] = deque(maxlen=KEPT)
        self._lock = threading.Lock()

    def __deepcopy__(self, memo: dict[int, Any]) -> PromptMemory:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (PromptMemory, ())

    def share(self, prompt: str) -> float:
        """The share in [0, 1] of a prompt with which an earlier one begins; later prompts are compared with it."""
        with self._lock:
            longest = max((shared_beginning(prompt, known) for known in self._kept), default=0)
            self._kept.append(prompt)
        return longest / len(prompt) if prompt else 0.0


def shared_beginning(first: str, second: str) -> int:
    """The length of the common beginning of two texts, by bisection."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if first[low:middle] == second[low:middle] else (low, middle - 1)
    return low


def text_of(prompt: Any) -> str:
    """A prompt or messages as one text, in the order in which a server reads them."""
    if isinstance(prompt, str):
        return prompt
    if isinstance(prompt, Mapping):
        return f"{prompt.get('role', '')}\n{text_of(prompt.get('content', prompt.get('text', '')))}\n"
    if isinstance(prompt, Sequence):
        return "".join(text_of(part) for part in prompt)
    parts = [getattr(prompt, name, None) for name in ("system", "messages", "role", "parts", "text")]
    return "".join(text_of(part) for part in parts if part is not None)
