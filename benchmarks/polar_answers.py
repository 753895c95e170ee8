"""Measures yes and no on the passages that are kept out of every reader's fit, at several least confidences.

$ python benchmarks/polar_answers.py

The confidence was fitted on a third of these questions.
"""

from __future__ import annotations

from passage_readings import passage_files, read_file

from kg.clauses import SentenceParser
from kg.comprehension import ClauseAnswers

LEAST = (0.0, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85)


def main() -> None:
    """Answers the questions and prints how many are right."""
    parser = SentenceParser.load()
    if parser is None:
        raise SystemExit("spaCy's model of the extra 'news' is not installed")
    found: list[tuple[float, bool]] = []
    count = 0
    for path in passage_files(kept=True):
        sentences, questions = read_file(path)
        answers = ClauseAnswers(sentences, parser)
        for question in questions:
            asked = answers.parse(question.text)
            if not asked.words.polar:
                continue
            count += 1
            proposal = answers.proposed(asked, ())
            if proposal.values:
                found.append((answers.confidence(proposal), tuple(proposal.values) == question.answers))
    print(f"{count} questions for yes or no")
    for least in LEAST:
        given = [right for confidence, right in found if confidence >= least]
        print(f"least confidence {least}: {len(given)} answered, {sum(given)} right")


if __name__ == "__main__":
    main()
