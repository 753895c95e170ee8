"""The pretrained transformer of the extra ``news``, and its low-rank changes for one task or another.

The sentence encoder of :mod:`kg.clauses` shares its word pieces and sessions.
"""

from kg.transformer.changes import LowRankTransformer, TransformerReader
from kg.transformer.installed import (
    ARCHIVE,
    FIRST_POSITION,
    HEADS,
    LAYERS,
    WIDTH,
    installed_parts,
    installed_weights,
    relative_buckets,
)
from kg.transformer.network import inference_session
from kg.transformer.pieces import batches, padded, vocabulary, word_pieces

__all__ = [
    "ARCHIVE",
    "FIRST_POSITION",
    "HEADS",
    "LAYERS",
    "WIDTH",
    "LowRankTransformer",
    "TransformerReader",
    "batches",
    "inference_session",
    "installed_parts",
    "installed_weights",
    "padded",
    "relative_buckets",
    "vocabulary",
    "word_pieces",
]
