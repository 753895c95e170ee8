"""The status of the act that a question asks about, in the sentence that answers: done, planned, possible or failed.

>>> status_in(parse_of("Orvane agreed to buy Brightlane."), "acquire")
'pending'
"""

from __future__ import annotations

from kg.clauses import SyntaxTree, similarity
from kg.sentences import Status, is_proposal, status_of

_ALIKE = 0.7
"""The similarity from which a word of a sentence names the act of the question."""


def status_in(parse: SyntaxTree, lemma: str) -> Status:
    """Returns the status of an act in a sentence; of several words for it, that of the one that is done if any is.

    Args:
        parse: The sentence.
        lemma: The verb of the question.
    """
    places = (place for other, found in parse.places.items() if similarity(lemma, other) > _ALIKE for place in found)
    tokens = [parse.tokens[place] for place in places]
    found = [
        "pending"  # who offers to buy has not bought
        if is_proposal(parse.text[one.start : one.end]) and not is_proposal(lemma)
        else status_of(parse.text, one.start, one.end, one.part in ("NOUN", "PROPN"))
        for one in tokens
    ]
    return next((status for status in _SUREST if status in found), "")


_SUREST: tuple[Status, ...] = ("", "pending", "possible", "failed")
