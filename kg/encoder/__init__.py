"""A small pretrained transformer that reads a report's lines and sentences and a conversation's questions.

It says which template a question asks for, and points at the figures and earlier answers that fill it. Fitted by
:mod:`optimize.encoders.encoder`; inference needs onnxruntime and NumPy alone.
"""

from kg.encoder.encoder import EncodedPage, EncodedQuestion, TextEncoder
from kg.encoder.heads import Heads, JoinedTurns, TurnOperands
from kg.encoder.sequences import TokenSequence, page_sequences, question_sequence
from kg.encoder.wordpiece import WordPiece

__all__ = [
    "EncodedPage",
    "EncodedQuestion",
    "Heads",
    "JoinedTurns",
    "TextEncoder",
    "TokenSequence",
    "TurnOperands",
    "WordPiece",
    "page_sequences",
    "question_sequence",
]
