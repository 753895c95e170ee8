"""The adapter as the file that llama.cpp loads beside its base."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from optimize.finetuning.model import Block, Decoder


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
    for number, block in enumerate(model.blocks):
        assert isinstance(block, Block)
        for group in (block.attention_in, block.attention_out, block.feed_in, block.feed_out):
            for projection in group.down:
                for end, matrix in (("a", group.down[projection]), ("b", group.up[projection])):
                    values = matrix.detach().float().cpu().numpy().astype(np.float16)
                    writer.add_tensor(f"blk.{number}.{projection}.weight.lora_{end}", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    new.replace(path)
