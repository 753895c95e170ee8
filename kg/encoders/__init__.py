"""Pretrained transformers: the encoder of reports, and the larger one of readers with its low-rank changes."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from kg.encoders.encoder import EncodedPage, EncodedQuestion, Heads, JoinedTurns, TextEncoder, TurnOperands
    from kg.encoders.sequences import TokenSequence, page_sequences, question_sequence
    from kg.encoders.session import (
        WordPiece,
        batches,
        inference_session,
        mean_vectors,
        padded,
        states_of,
        vocabulary,
        word_pieces,
    )
    from kg.encoders.transformer import (
        FIRST_POSITION,
        HEADS,
        LAYERS,
        WIDTH,
        LowRankTransformer,
        installed_archive,
        installed_weights,
        relative_buckets,
    )
else:
    __getattr__ = lazy_exports(__name__, __file__)
