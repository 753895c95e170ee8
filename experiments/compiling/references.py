"""A fit of the model of coreference between the turns of a conversation about a report.

model = compile_references(load_conversations("sample:train"), None, out="references.json")
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from experiments.data import Dialogues, LoadedData, conversation_examples
from experiments.files import write_text
from experiments.saved import find_program
from kg.coreference import ReferenceModel
from kg.errors import DataError
from optimize.scorers import fit_references, reference_examples


def compile_references(train: LoadedData, dialogues: Dialogues | None, out: str | Path) -> ReferenceModel:
    """Fits the model and writes it as JSON, as :func:`experiments.saved.shipped_references` reads it.

    Args:
        train: Conversations with gold programs; the shipped beam reads their reports.
        dialogues: Further conversations, without reports; those that ``train`` holds too are left out.
        out: The file.

    Raises:
        DataError: A conversation has no gold programs, or ``out`` cannot be written.
        ConfigError: No question has an earlier one.
    """
    if any(one.programs is None for one in train.conversations):
        raise DataError("has conversations without gold programs", file=train.name)
    known = {one.id for one in train.conversations}
    others = dialogues.without(known).items if dialogues is not None else ()
    reader = find_program("beam").program.turn.reader
    with threadpool_limits(limits=1):
        model = fit_references(reference_examples(conversation_examples(train.conversations), reader, others))
    write_text(out, model.to_json() + "\n")
    return model
