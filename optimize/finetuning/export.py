"""The adapter as the file that llama.cpp loads in addition to its base, written and read back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from kg.errors import DataError
from optimize.finetuning.model import AdapterShape, Block, Decoder


def write_adapter(model: Decoder, path: Path, name: str) -> None:
    """Writes a model's adapters in half precision.

    Args:
        model: The model.
        path: The file, which is replaced.
        name: The adapter's name.
    """
    import gguf

    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    writer = gguf.GGUFWriter(str(new), model.shape.family)
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, float(model.adapters.alpha))
    writer.add_name(name)
    for tensor, matrix in _matrices(model):
        writer.add_tensor(tensor, matrix.detach().float().cpu().numpy().astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    new.replace(path)


def adapter_shape(path: Path) -> AdapterShape:
    """The size of the adapters in a file.

    Raises:
        DataError: The file holds none.
    """
    reader = _opened(path)
    scale = reader.get_field("adapter.lora.alpha")
    downs = [one for one in reader.tensors if one.name.endswith(".lora_a")]
    if scale is None or not downs:
        raise DataError("is no adapter (LoRA)", file=str(path))
    blocks = {one.name.split(".")[1] for one in downs}
    return AdapterShape(int(downs[0].shape[1]), float(scale.contents()), len(blocks))


def read_adapter(model: Decoder, path: Path) -> None:
    """Sets a model's adapters to those of a file.

    Raises:
        DataError: The file's adapters are of other blocks, or of another size.
    """
    known = {one.name: one.data for one in _opened(path).tensors}
    with torch.no_grad():
        for tensor, matrix in _matrices(model):
            values = known.get(tensor)
            if values is None or tuple(values.shape) != tuple(matrix.shape):
                raise DataError(f"the adapter does not fit the model at {tensor}", file=str(path))
            matrix.copy_(torch.from_numpy(values.astype(np.float32)))


def _matrices(model: Decoder) -> Iterator[tuple[str, torch.Tensor]]:
    """The matrices of the adapters, by the names of their tensors in the file."""
    for number, block in enumerate(model.blocks):
        assert isinstance(block, Block)
        for group in (block.attention_in, block.attention_out, block.feed_in, block.feed_out):
            for projection in group.down:
                yield f"blk.{number}.{projection}.weight.lora_a", group.down[projection]
                yield f"blk.{number}.{projection}.weight.lora_b", group.up[projection]


def _opened(path: Path) -> Any:
    import gguf

    try:
        return gguf.GGUFReader(str(path))
    except (OSError, ValueError) as error:
        raise DataError(f"the adapter cannot be read: {error}", file=str(path)) from error
