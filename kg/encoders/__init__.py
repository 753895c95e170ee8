"""Pretrained transformers: the encoder of reports, and the larger one of readers with its low-rank changes."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from kg.encoders.changes import LowRankTransformer, TransformerReader
    from kg.encoders.encoder import TextEncoder
    from kg.encoders.heads import EncodedPage, EncodedQuestion, Heads, JoinedTurns, TurnOperands
    from kg.encoders.installed import (
        ARCHIVE,
        FIRST_POSITION,
        HEADS,
        LAYERS,
        WIDTH,
        installed_parts,
        installed_weights,
        relative_buckets,
    )
    from kg.encoders.network import inference_session
    from kg.encoders.pieces import WordPiece, batches, padded, vocabulary, word_pieces
    from kg.encoders.sentence_encoder import ENCODER_PACKAGE, SentenceEncoder
    from kg.encoders.sequences import TokenSequence, page_sequences, question_sequence
else:
    __getattr__ = lazy_exports(__name__, __file__)
