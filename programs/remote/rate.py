"""A rate of calls: each call gets the time of its turn.

>>> limit = RateLimit(60)
>>> limit.reserve(now=100.0), limit.reserve(now=100.0), limit.reserve(now=100.0)
(0.0, 1.0, 2.0)
"""

from __future__ import annotations


class RateLimit:
    """Turns at equal intervals; not safe to use from several threads.

    Args:
        rate: Calls a minute, at least 1.
    """

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self._interval = 60 / rate
        self._next = float("-inf")

    def reserve(self, now: float) -> float:
        """Takes the next turn; returns the seconds until then.

        Args:
            now: The time in seconds, from any zero.
        """
        turn = max(now, self._next)
        self._next = turn + self._interval
        return turn - now

    def give_back(self) -> None:
        """Gives back a turn that was not needed, as a cache had the reply."""
        self._next -= self._interval
