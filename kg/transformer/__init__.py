"""The pretrained transformer of the extra ``news``, and its low-rank changes for one task or another."""

from kg.transformer.changes import LowRankTransformer, TransformerReader, stored_matrices
from kg.transformer.weights import WIDTH, Pieces, batches, inference_session, installed_weights, padded, word_pieces

__all__ = [
    "WIDTH",
    "LowRankTransformer",
    "Pieces",
    "TransformerReader",
    "batches",
    "inference_session",
    "installed_weights",
    "padded",
    "stored_matrices",
    "word_pieces",
]
