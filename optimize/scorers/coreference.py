"""The fit of the coreference model of reports: the earlier turns that a question uses.

    model = fit_references([ReferenceExample(questions, programs, index), ...], sees="graph")

Logistic regression with an L2 penalty. Each example is an earlier turn of a question; it is right if
the gold program uses that turn. Dialogues without a report have features of their words only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import dspy
import numpy as np
from scipy.sparse import csr_matrix

from kg.coreference import ReferenceModel, Sight, references_of, turn_features
from kg.derivations import Derivation, PastTurn
from kg.errors import ConfigError, FinpathError
from kg.figures import ReportIndex
from optimize.fitting import Dialogues
from optimize.logistic import fit_logistic
from programs.worlds.reader import ReportReader


@dataclass(frozen=True)
class ReferenceExample:
    """A conversation to learn from.

    Attributes:
        questions: In order.
        programs: The gold program of each.
        index: The report's index, if there is a report.
    """

    questions: Sequence[str]
    programs: Sequence[Derivation]
    index: ReportIndex | None = None


def reference_examples(
    conversations: Sequence[dspy.Example], reader: ReportReader, dialogues: Dialogues = ()
) -> list[ReferenceExample]:
    """Returns the examples of conversations with reports, then those of dialogues without.

    Args:
        conversations: Conversation examples: ``report``, ``questions`` and ``programs``.
        reader: Reads their reports.
        dialogues: Conversations without their reports.

    Raises:
        ProgramError: A gold program cannot be parsed.
    """
    found = []
    for one in conversations:
        _, index = reader.read(one.report)
        found.append(ReferenceExample(one.questions, [Derivation.parse(text) for text in one.programs], index))
    for _, questions, programs in dialogues:
        found.append(ReferenceExample(questions, [Derivation.parse(text) for text in programs]))
    return found


def gold_past(questions: Sequence[str], programs: Sequence[Derivation]) -> list[PastTurn]:
    """Returns the turns with their gold answers."""
    past = []
    for question, program in zip(questions, programs, strict=True):
        try:
            answer = program.execute()
        except FinpathError:  # the few gold programs over table rows
            answer = None
        past.append(PastTurn(question, program, answer))
    return past


def reference_rows(example: ReferenceExample, sees: Sight) -> list[tuple[list[str], bool]]:
    """Returns the features of every earlier turn of every question, and whether gold uses it."""
    past = gold_past(example.questions, example.programs)
    rows = []
    for place in range(1, len(past)):
        groups = references_of(example.programs[place], example.programs[:place])
        right = {turn for group in (*groups.embedded, *groups.reused) for turn in group}
        features = turn_features(example.questions[place], past[:place], example.index, sees)
        rows += [(names, turn in right) for turn, names in enumerate(features)]
    return rows


def fit_references(
    examples: Sequence[ReferenceExample], *, sees: Sight = "graph", penalty: float = 4.0, least: int = 2
) -> ReferenceModel:
    """Fits the weights.

    Args:
        examples: Training conversations.
        sees: The source of the features; examples without a report have none of the graph.
        penalty: Of the squared weights, larger than 0.
        least: The number of examples in which a feature must occur.

    Raises:
        ConfigError: There is nothing to learn from, or ``penalty`` is not larger than 0.
    """
    if penalty <= 0:
        raise ConfigError(f"penalty must be larger than 0, got {penalty}")
    rows = [row for example in examples for row in reference_rows(example, sees)]
    if not rows:
        raise ConfigError("examples must hold at least one question with an earlier one, got none")
    counts = Counter(name for names, _ in rows for name in set(names))
    known = sorted(name for name, count in counts.items() if count >= least)
    place = {name: number for number, name in enumerate(known)}
    columns = [place[name] for names, _ in rows for name in dict.fromkeys(names) if name in place]
    lengths = [sum(name in place for name in dict.fromkeys(names)) for names, _ in rows]
    matrix = csr_matrix(
        (np.ones(len(columns)), np.array(columns), np.concatenate([[0], np.cumsum(lengths)])),
        shape=(len(rows), len(known)),
    )
    weights = fit_logistic(matrix, [used for _, used in rows], penalty=penalty / 2)
    return ReferenceModel({name: round(float(weights[place[name]]), 5) for name in known}, sees)
