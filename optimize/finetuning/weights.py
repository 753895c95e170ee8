"""The weights of an embedded model as torch tensors, from the file that the runtime serves (GGUF).

Training starts from the dequantised weights, so an adapter corrects exactly the model that it is later loaded with.
Tensors stay in the file's own order of rows, which for some families differs from that of other formats.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from kg.errors import ConfigError, DataError

FAMILIES = {"llama": True, "qwen2": False}
"""The families that can be trained, and whether their rotary embedding turns neighbouring dimensions together."""


@dataclass(frozen=True)
class Shape:
    """The sizes of a model.

    Attributes:
        family: The family, as the file names it.
        blocks: Transformer blocks.
        width: Dimensions of a token.
        heads: Query heads.
        key_heads: Key and value heads.
        epsilon: Of the norms.
        rotary_base: Of the rotary embedding.
        vocabulary: Tokens.
    """

    family: str
    blocks: int
    width: int
    heads: int
    key_heads: int
    epsilon: float
    rotary_base: float
    vocabulary: int

    @property
    def head_width(self) -> int:
        """Dimensions of a head."""
        return self.width // self.heads


@dataclass(frozen=True)
class Weights:
    """A model's sizes and tensors, by the file's names."""

    shape: Shape
    tensors: dict[str, torch.Tensor]


def read_weights(path: Path, dtype: torch.dtype, device: torch.device) -> Weights:
    """Reads and dequantises a model's file.

    Args:
        path: The file.
        dtype: Of the tensors.
        device: Where they are put.

    Raises:
        ConfigError: The package that reads the file is missing, or its family cannot be trained.
        DataError: The file cannot be read.
    """
    try:
        import gguf
        from gguf.quants import dequantize
    except ImportError as error:
        raise ConfigError("fine-tuning needs the package gguf: pip install 'finpath[finetune]'") from error
    try:
        reader = gguf.GGUFReader(str(path))
    except (OSError, ValueError) as error:
        raise DataError(f"the weights cannot be read: {error}", file=str(path)) from error
    shape = _shape(reader, path)
    tensors = {
        one.name: torch.from_numpy(dequantize(one.data, one.tensor_type).copy()).to(dtype).to(device)
        for one in reader.tensors
    }
    return Weights(shape, tensors)


def _shape(reader: Any, path: Path) -> Shape:
    def field(name: str) -> Any:
        found = reader.get_field(name)
        if found is None:
            raise DataError(f"the weights do not state {name}", file=str(path))
        return found.contents()

    family = field("general.architecture")
    if family not in FAMILIES:
        raise ConfigError(
            f"models of the families {', '.join(FAMILIES)} can be fine-tuned, and {path.name} is {family}"
        )
    names = {one.name: one for one in reader.tensors}
    if "rope_freqs.weight" in names or reader.get_field(f"{family}.rope.scaling.type") is not None:
        raise ConfigError(f"{path.name} scales its rotary embedding, which training does not support")
    return Shape(
        family=family,
        blocks=field(f"{family}.block_count"),
        width=field(f"{family}.embedding_length"),
        heads=field(f"{family}.attention.head_count"),
        key_heads=field(f"{family}.attention.head_count_kv"),
        epsilon=field(f"{family}.attention.layer_norm_rms_epsilon"),
        rotary_base=field(f"{family}.rope.freq_base"),
        vocabulary=int(names["token_embd.weight"].shape[1]),
    )
