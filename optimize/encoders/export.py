"""Export of a trained encoder: a smaller vocabulary, int8 weights for onnxruntime, and heads as float16.

>>> encoder = export_encoder(model, base_vocabulary(base), used_pieces(data))
>>> encoder.write(Path("encoder"))                # encoder.onnx, heads.npz, vocab.txt
"""

from __future__ import annotations

import io
import logging
import tempfile
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch

from kg.encoder import TextEncoder
from optimize.encoders.examples import SPECIAL_PIECES, EncoderData
from optimize.encoders.model import Encoder, Reader

FREQUENT = 15_000
"""BERT's vocabulary is sorted by frequency. Of the pieces beyond this number, only those of training texts are kept."""

_SUFFIX = 5
"""Characters of the ``##`` pieces that are kept in any case."""

_PLACES = 256
_OPSET = 17
_NAMES = ("tokens", "specials", "mask")


def used_pieces(data: EncoderData) -> set[int]:
    """Returns the numbers of the pieces in pages and questions."""
    pages = (one for sequences in data.pages.values() for one in sequences)
    return {token for one in (*pages, *(one.sequence for one in data.examples)) for token in one.tokens}


def kept_pieces(vocabulary: Sequence[str], used: Collection[int]) -> list[int]:
    """Returns the numbers of the pieces that an exported encoder knows, in order."""
    return [number for number, piece in enumerate(vocabulary) if number in used or _is_kept(number, piece)]


def _is_kept(number: int, piece: str) -> bool:
    if piece in SPECIAL_PIECES or piece == ":":
        return True
    if not piece.isascii() or piece.startswith("[unused"):
        return False
    return number < FREQUENT or (piece.startswith("##") and len(piece) <= _SUFFIX)


def export_encoder(model: Reader, vocabulary: Sequence[str], used: Collection[int], threads: int = 1) -> TextEncoder:
    """Returns a trained model for inference.

    Args:
        model: The model; it is not changed.
        vocabulary: The base model's pieces.
        used: Pieces that must be kept, see :func:`used_pieces`.
        threads: Threads of one inference.
    """
    kept = kept_pieces(vocabulary, used)
    files = {
        "encoder.onnx": quantized(to_onnx(_smaller(model.encoder, kept))),
        "heads.npz": _heads(model),
        "vocab.txt": "".join(f"{vocabulary[number]}\n" for number in kept).encode("utf-8"),
    }
    return TextEncoder(files, threads)


def to_onnx(encoder: Encoder) -> bytes:
    """Returns the transformer as ONNX with float32 weights."""
    example = (
        torch.ones(2, 40, dtype=torch.long),
        torch.zeros(2, 40, dtype=torch.long),
        torch.ones(2, 40, dtype=torch.bool),
    )
    written = io.BytesIO()
    with _quiet():
        torch.onnx.export(
            encoder.eval(),
            example,
            written,
            input_names=list(_NAMES),
            output_names=["states"],
            dynamic_axes={name: {0: "batch", 1: "length"} for name in (*_NAMES, "states")},
            dynamo=False,
            opset_version=_OPSET,
        )
    return written.getvalue()


def quantized(content: bytes) -> bytes:
    """Returns an ONNX model with int8 weights, each row with its own scale."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with tempfile.TemporaryDirectory() as folder, _quiet():
        whole, smaller = Path(folder) / "float.onnx", Path(folder) / "int8.onnx"
        whole.write_bytes(content)
        quantize_dynamic(whole, smaller, weight_type=QuantType.QInt8, per_channel=True)
        return smaller.read_bytes()


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the advice to export in another way and to simplify the graph first."""
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)


def _smaller(encoder: Encoder, kept: Sequence[int]) -> Encoder:
    """A copy with the embeddings of some pieces and of the first places."""
    inner = encoder.layers[0].up.out_features
    places = min(_PLACES, encoder.places.num_embeddings)
    smaller = Encoder(len(kept), len(encoder.layers), inner, places)
    weights = dict(encoder.state_dict())
    weights["words.weight"] = weights["words.weight"][list(kept)]
    weights["places.weight"] = weights["places.weight"][:places]
    smaller.load_state_dict(weights)
    return smaller


def _heads(model: Reader) -> bytes:
    weights = {name: value for name, value in model.state_dict().items() if not name.startswith("encoder.")}
    arrays = {name: value.numpy().astype(np.float16) for name, value in weights.items()}
    written = io.BytesIO()
    np.savez(written, forms=np.array(model.templates), **arrays)
    return written.getvalue()
