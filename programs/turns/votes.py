"""The majority of several votes of a language model; asking stops when it is certain.

>>> majority(ask, 3)
('insert', 'the country of Helixon')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

Vote = tuple[str, str]
"""A choice and its reason."""


def majority(ask: Callable[[dict[str, Any]], Vote | None], votes: int) -> Vote | None:
    """The choice with the most votes, with the reason of its first voter.

    Args:
        ask: Asks for one vote, with settings of the call; ``None`` is an unreadable vote.
        votes: The largest number of votes, odd.

    Returns:
        ``None`` if no vote could be read.
    """
    cast: list[Vote] = []
    for number in range(votes):
        # A vote is an opinion of its own: the first is the model's best, the others are sampled.
        vote = ask({"rollout_id": number, "temperature": 0.7} if number else {})
        if vote is not None:
            cast.append(vote)
        count = Counter(choice for choice, _ in cast)
        if count and count.most_common(1)[0][1] > votes // 2:
            break
    if not cast:
        return None
    choice = Counter(choice for choice, _ in cast).most_common(1)[0][0]
    return choice, next(reason for voted, reason in cast if voted == choice)
