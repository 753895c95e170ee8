"""The majority of several opinions of a language model; asking stops when it is certain.

>>> run(majority(ask, 3))
('insert', 'the country of Helixon')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator
from typing import Any

from programs.turns.steps import Step

Vote = tuple[str, str]
"""What is voted for, and the reason."""


def majority(
    ask: Callable[[dict[str, Any]], Generator[Step, Any, Vote | None]], votes: int
) -> Generator[Step, Any, Vote | None]:
    """What most votes are for, with the reason of the first of its voters.

    Args:
        ask: Asks for one vote, with settings of the call; ``None`` is a vote that could not be read.
        votes: How many at the most, an odd number.

    Returns:
        ``None`` when no vote could be read.
    """
    cast: list[Vote] = []
    for number in range(votes):
        # A vote is an opinion of its own: the first is the model's best, the others are sampled.
        vote = yield from ask({"rollout_id": number, "temperature": 0.7} if number else {})
        if vote is not None:
            cast.append(vote)
        count = Counter(choice for choice, _ in cast)
        if count and count.most_common(1)[0][1] > votes // 2:
            break
    if not cast:
        return None
    choice = Counter(choice for choice, _ in cast).most_common(1)[0][0]
    return choice, next(reason for voted, reason in cast if voted == choice)
