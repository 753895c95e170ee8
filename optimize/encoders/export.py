"""Export of a trained encoder: a smaller vocabulary, int8 weights for onnxruntime, and heads as float16.

>>> encoder = export_encoder(model, base_vocabulary(base), data)
>>> encoder.write(Path("encoder"))                # encoder.onnx, heads.npz, vocab.txt
"""

from __future__ import annotations

import copy
import io
import logging
import tempfile
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from kg.encoders import TextEncoder, TokenSequence
from optimize.encoders.examples import SPECIAL_PIECES, EncoderData
from optimize.encoders.model import Encoder, Reader

FREQUENT = 15_000
"""BERT's vocabulary is sorted by frequency. Of the pieces beyond this number, only those of training texts are kept."""

_SUFFIX = 5
"""Characters of the ``##`` pieces that are kept in any case."""

CALIBRATION = 300
"""Training sequences on which the sizes of inputs are measured."""

STRENGTH = 0.8
"""The part of the inputs' sizes that the weights take over, in [0, 1] (Xiao et al., 2023, SmoothQuant)."""

_PLACES = 256
_LEAST_INPUT, _LEAST_SCALE = 1e-4, 1e-3
_OPSET = 17
_NAMES = ("tokens", "specials", "mask")


def kept_pieces(vocabulary: Sequence[str], used: Collection[int]) -> list[int]:
    """Returns the numbers of the pieces that an exported encoder knows, in order."""
    return [number for number, piece in enumerate(vocabulary) if number in used or _is_kept(number, piece)]


def _is_kept(number: int, piece: str) -> bool:
    if piece in SPECIAL_PIECES or piece == ":":
        return True
    if not piece.isascii() or piece.startswith("[unused"):
        return False
    return number < FREQUENT or (piece.startswith("##") and len(piece) <= _SUFFIX)


def export_encoder(model: Reader, vocabulary: Sequence[str], data: EncoderData) -> TextEncoder:
    """Returns a trained model for inference; the training data's pieces are kept and calibrate the quantization."""
    pages = [one for sequences in data.pages.values() for one in sequences]
    questions = [one.sequence for one in data.examples]
    kept = kept_pieces(vocabulary, {token for one in (*pages, *questions) for token in one.tokens})
    typical = [one for part in (pages, questions) for one in part[:: max(len(part) // (CALIBRATION // 2), 1)]]
    smooth = smoothed(model.encoder, typical)
    files = {
        "encoder.onnx": quantized(to_onnx(_smaller(smooth, kept))),
        "heads.npz": _heads(model),
        "vocab.txt": "".join(f"{vocabulary[number]}\n" for number in kept).encode("utf-8"),
    }
    return TextEncoder(files)


class _Scaled(nn.Module):
    """A linear layer that divides its inputs by a scale each and whose weights make up for it."""

    def __init__(self, layer: nn.Linear, scale: Tensor) -> None:
        super().__init__()
        self.register_buffer("inverse", 1 / scale)
        self.layer = nn.Linear(layer.in_features, layer.out_features)
        self.layer.weight = nn.Parameter(layer.weight.detach() * scale)
        self.layer.bias = layer.bias

    def forward(self, x: Tensor) -> Tensor:
        """Returns the same as the layer."""
        result: Tensor = self.layer(x * self.inverse)
        return result


def smoothed(encoder: Encoder, sequences: Sequence[TokenSequence]) -> Encoder:
    """Returns a copy with the same outputs whose inputs of linear layers are of similar sizes.

    Int8 has one scale for all inputs of a layer, so that a few large ones cost the precision of the others.
    """
    copied: Encoder = copy.deepcopy(encoder).eval()
    layers = {name: one for name, one in copied.named_modules() if isinstance(one, nn.Linear)}
    largest = {name: torch.zeros(one.in_features) for name, one in layers.items()}

    def watch(name: str) -> Callable[[nn.Module, tuple[Tensor, ...], Tensor], None]:
        def see(_: nn.Module, inputs: tuple[Tensor, ...], __: Tensor) -> None:
            sizes = inputs[0].detach().float().abs().reshape(-1, inputs[0].shape[-1]).amax(0)
            largest[name] = torch.maximum(largest[name], sizes)

        return see

    handles = [one.register_forward_hook(watch(name)) for name, one in layers.items()]
    with torch.no_grad():
        for one in sequences:  # without padding, whose states are of no use
            every = torch.ones(1, len(one.tokens), dtype=torch.bool)
            copied(torch.tensor([one.tokens]), torch.tensor([one.specials]), every)
    for handle in handles:
        handle.remove()
    for name, one in layers.items():
        weights = one.weight.detach().abs().amax(0).clamp(min=_LEAST_INPUT)
        inputs = largest[name].clamp(min=_LEAST_INPUT)
        scale = (inputs**STRENGTH / weights ** (1 - STRENGTH)).clamp(min=_LEAST_SCALE)
        parent, _, own = name.rpartition(".")
        setattr(copied.get_submodule(parent), own, _Scaled(one, scale))
    return copied


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
    smaller = copy.deepcopy(encoder)
    places = encoder.places.weight[:_PLACES]
    smaller.words = nn.Embedding.from_pretrained(encoder.words.weight.detach()[list(kept)].clone())
    smaller.places = nn.Embedding.from_pretrained(places.detach().clone())
    return smaller


def _heads(model: Reader) -> bytes:
    weights = {name: value for name, value in model.state_dict().items() if not name.startswith("encoder.")}
    arrays = {name: value.numpy().astype(np.float16) for name, value in weights.items()}
    written = io.BytesIO()
    np.savez(written, forms=np.array(model.templates), **arrays)
    return written.getvalue()
