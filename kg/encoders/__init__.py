"""Pretrained transformers: the encoder of reports, and the larger one of readers with its low-rank changes."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from kg.encoders.encoder import TextEncoder
    from kg.encoders.heads import EncodedPage, EncodedQuestion, Heads, JoinedTurns, TurnOperands
    from kg.encoders.low_rank import FIRST_POSITION, LowRankTransformer, relative_buckets
    from kg.encoders.pieces import WordPiece, vocabulary, word_pieces
    from kg.encoders.sentence_encoder import ENCODER_PACKAGE, SentenceEncoder
    from kg.encoders.sequences import TokenSequence, page_sequences, question_sequence
    from kg.encoders.session import batches, padded
    from kg.encoders.weights import ARCHIVE, HEADS, LAYERS, WIDTH, installed_archive, installed_weights
else:
    __getattr__ = lazy_exports(__name__, __file__)
