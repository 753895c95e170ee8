"""The few sentences of a report that a question points at, by its words and the years that it names.

>>> relevant_sentences(index, ["what was the rental expense in 2009?"], most=2)
[3, 11]
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kg.figures.figure_index import ReportIndex
from kg.report_graphs import sentence_figures
from kg.text import content_tokens, years

CHARACTERS_A_TOKEN = 4
"""By which a sentence's tokens are estimated: nothing here knows the model that reads it."""

_EARLIER = 0.5
_YEAR = 2.0


def relevant_sentences(
    index: ReportIndex,
    questions: Sequence[str],
    missing: str = "",
    *,
    skip: Collection[int] = (),
    most: int = 4,
    tokens: int = 400,
) -> list[int]:
    """The numbers of the sentences to read, in the order of the report.

    A sentence counts by the inverse document frequencies of the words that it shares with the question, half as much
    with the question before it and with what is said to be missing, and by the years that are asked for. Sentences
    without a figure, or that share nothing, are left out.

    Args:
        index: The report's index.
        questions: All questions so far; the last is the one asked.
        missing: What is missing, in words.
        skip: Sentences that were read already.
        most: Sentences at the most.
        tokens: Their tokens together at the most; a sentence that does not fit is passed over.
    """
    asked = set(content_tokens(questions[-1]))
    beside = (set(content_tokens(missing)) | set(content_tokens(questions[-2] if len(questions) > 1 else ""))) - asked
    named = set(next((found for found in map(years, reversed(questions)) if found), ()))
    scored: list[tuple[float, int]] = []
    for number, sentence in enumerate(index.sentences):
        if number in skip or not sentence_figures(sentence):
            continue
        words = set(content_tokens(sentence))
        shared = sum(map(index.idf, words & asked)) + _EARLIER * sum(map(index.idf, words & beside))
        if shared > 0:
            scored.append((-shared - _YEAR * bool(named & index.sentence_years[number]), number))
    chosen: list[int] = []
    left = tokens
    for _, number in sorted(scored):
        needed = len(index.sentences[number]) // CHARACTERS_A_TOKEN + 1
        if len(chosen) < most and needed <= left:
            chosen.append(number)
            left -= needed
    return sorted(chosen)
