"""Training turns as token sequences with the right observations, which the encoder is fitted on, and its settings.

>>> data = encoder_data(turns, WordPiece(vocabulary))
>>> data.examples[0].template, data.examples[0].right
('subtract(A, A)', ((4,), (5,)))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from pydantic import NonNegativeFloat, NonNegativeInt, PositiveInt
from pydantic.dataclasses import dataclass as checked_dataclass

from kg.calculations import ParsedForm
from kg.encoders import TokenSequence, TurnOperands, WordPiece, page_sequences, question_sequence
from kg.errors import DataError
from kg.search import Constant, Number
from optimize.scorers import TrainingTurn, right_items, right_turns

NO_PAGE = ""
"""The page of a report without figures."""

MASK = "[MASK]"
SPECIAL_PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", MASK)


@checked_dataclass(frozen=True)
class EncoderConfig:
    """The training of the encoder.

    Attributes:
        epochs: Passes over all turns.
        rate: Largest learning rate of the transformer.
        head_rate: Largest learning rate of the heads and the special tokens.
        decay: Weight decay of all matrices.
        frozen: The lowest layers, and the embeddings with them, that stay as they are.
        tokens: Approximate number of tokens of a batch.
        word_dropout: Share of the questions' words that are masked, in [0, 1).
        form_count: Turns in which a template must occur to be scored.
        half: Whether the transformer calculates in bfloat16.
        threads: Threads of torch.
    """

    epochs: PositiveInt = 4
    rate: NonNegativeFloat = 2.5e-4
    head_rate: NonNegativeFloat = 1e-3
    decay: NonNegativeFloat = 0.01
    frozen: NonNegativeInt = 2
    tokens: PositiveInt = 5000
    word_dropout: NonNegativeFloat = 0.08
    form_count: PositiveInt = 3
    half: bool = True
    threads: PositiveInt = 1


@dataclass(frozen=True)
class EncoderExample:
    """A turn.

    Attributes:
        page: The name of its report; :data:`NO_PAGE` for one without figures.
        sequence: The conversation's questions.
        places: The place of each earlier turn in the sequence.
        past: The earlier turns with their gold calculations.
        template: The gold one; empty where the turn needs more than one operation.
        kinds: ``A``, ``R`` or ``C`` for each operand of the template.
        right: For each operand the right observations (``A``) or earlier turns (``R``); empty for a constant and for
            a figure that the report's graph does not hold.
        first: The observation or the turn that the second operand's query sees; -1 for none.
        weight: How much it counts.
    """

    page: str
    sequence: TokenSequence
    places: dict[int, int]
    past: tuple[TurnOperands, ...]
    template: str
    kinds: tuple[str, ...]
    right: tuple[tuple[int, ...], ...]
    first: int
    weight: float

    def figures(self) -> set[int]:
        """Returns the observations that the turn or an earlier one uses."""
        own = {one for kind, right in zip(self.kinds, self.right, strict=True) if kind == "A" for one in right}
        return own.union(*(turn.figures for turn in self.past))


@dataclass(frozen=True)
class EncoderData:
    """Examples, and the sequences of their pages by name."""

    pages: dict[str, list[TokenSequence]]
    examples: list[EncoderExample]


def base_vocabulary(folder: Path) -> list[str]:
    """Reads the pieces of a base model.

    Raises:
        DataError: The folder has no ``vocab.txt``, or a special piece or the colon is missing in it.
    """
    path = folder / "vocab.txt"
    try:
        pieces = path.read_text(encoding="utf-8").split("\n")[:-1]
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the base model's vocabulary cannot be read: {error}", file=str(path)) from error
    missing = {*SPECIAL_PIECES, ":"} - set(pieces)
    if missing:
        raise DataError(f"the base model's vocabulary must hold {min(missing)}", file=str(path))
    return pieces


def encoder_data(turns: Sequence[TrainingTurn], wordpiece: WordPiece) -> EncoderData:
    """Returns all turns as examples; turns of one group share a page."""
    pages: dict[str, list[TokenSequence]] = {}
    for turn in turns:
        if turn.has_report and turn.group not in pages:
            pages[turn.group] = page_sequences(turn.index.observations, turn.index.sentences, wordpiece)
    return EncoderData(pages, [encoder_example(turn, wordpiece) for turn in turns])


def encoder_example(turn: TrainingTurn, wordpiece: WordPiece) -> EncoderExample:
    """Returns a turn as an example."""
    sequence, places = question_sequence(turn.questions, wordpiece)
    right = _right(turn)
    template = turn.collapsed.form if turn.collapsed is not None else ""
    return EncoderExample(
        page=turn.group if turn.has_report else NO_PAGE,
        sequence=sequence,
        places=places,
        past=tuple(replace(form, figures=one.figures[:2]) for form, one in zip(turn.forms, turn.history, strict=True)),
        template=template,
        kinds=ParsedForm.parse(template).kinds if template else (),
        right=right,
        first=_first(turn, right),
        weight=turn.weight,
    )


def _right(turn: TrainingTurn) -> tuple[tuple[int, ...], ...]:
    """The right observations or earlier turns of each operand."""
    if turn.collapsed is None:
        return ()
    found: list[tuple[int, ...]] = []
    index = turn.index
    for operand in turn.collapsed.operands:
        if isinstance(operand, Constant):
            found.append(())
        elif isinstance(operand, Number):
            items = np.flatnonzero(right_items(index, operand)) if turn.has_report else ()
            observations = sorted({int(index.base[item]) for item in items})
            found.append(tuple(one for one in observations if not index.observations[one].in_header))
        else:
            found.append(tuple(np.flatnonzero(right_turns(turn, operand)).tolist()))
    return tuple(found)


def _first(turn: TrainingTurn, right: Sequence[Sequence[int]]) -> int:
    """The right first operand; of several, one that the gold figures are aligned with."""
    if turn.collapsed is None or not right[0]:
        return -1
    if not isinstance(turn.collapsed.operands[0], Number):
        return right[0][0]
    aligned = set(turn.index.align(turn.derivation, turn.questions[-1]))
    return next((one for one in right[0] if one in aligned), right[0][0])
