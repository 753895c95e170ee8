"""Writes the graph of the transformer without its weights, ``kg/encoders/network.onnx``.

$ python tools/transformer_graph.py

The arrays of :mod:`kg.encoders.quantized` are given when a session begins. The inputs of a matrix are rounded to 8
bits with a scale for each piece, so the states of a sequence do not depend on what is read with it. It needs onnx of
the extra ``train``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

from kg.encoders.installed import HEADS, LAYERS, WIDTH

FILE = Path(__file__).parent.parent / "kg" / "encoders" / "network.onnx"
MICROSOFT = "com.microsoft"

MIDDLE, LOW = np.uint8(128), np.uint8(8)
"""The 8 bits of 0: of numbers of both signs, and of those after the Gelu, which are at least -0.17."""

LEAST = 5.25
"""The least range of numbers after the Gelu, so that -0.17 is at least :data:`LOW` steps below 0."""


class Graph:
    """A graph that is built up: each method adds something and returns its name."""

    def __init__(self) -> None:
        self.nodes: list[object] = []
        self.arrays: list[object] = []

    def constant(self, name: str, values: object) -> str:
        """Adds an array that the graph holds."""
        self.arrays.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def given(self, name: str, *shape: int, kind: int = TensorProto.FLOAT) -> str:
        """Adds an array that is given when a session begins."""
        array = TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
        array.external_data.add(key="location", value="arrays")
        self.arrays.append(array)
        return name

    def node(self, kind: str, *inputs: str, outputs: int = 1, domain: str = "", **settings: object) -> list[str]:
        """Adds an operation, and returns the names of its outputs."""
        names = [f"{kind}_{len(self.nodes)}_{number}" for number in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, domain=domain, **settings))
        return names

    def one(self, kind: str, *inputs: str, **settings: object) -> str:
        """Adds an operation with one output."""
        return self.node(kind, *inputs, **settings)[0]

    def product(self, states: str, name: str, rows: int, columns: int, *, positive: bool = False) -> str:
        """Adds a product with a matrix of 8 bits.

        Args:
            states: What is multiplied.
            name: The name of the matrix.
            rows: Its rows.
            columns: Its columns.
            positive: Whether the states come from a Gelu.
        """
        matrix = self.given(f"{name}.matrix", rows, columns, kind=TensorProto.INT8)
        scale = self.given(f"{name}.scale", columns)
        top = self.one("ReduceMax", states, axes=[-1])
        if positive:
            step = self.one("Mul", self.one("Max", top, "least"), "step_positive")
        else:
            bottom = self.one("Neg", self.one("ReduceMin", states, axes=[-1]))
            step = self.one("Mul", self.one("Max", top, bottom, "tiny"), "step")
        zero = "low" if positive else "middle"
        rounded = self.one("QuantizeLinear", self.one("Div", states, step), "one", zero)
        found = self.one("MatMulIntegerToFloat", rounded, matrix, "one", scale, zero, domain=MICROSOFT)
        return self.one("Mul", found, step)

    def normal(self, states: str, number: int) -> str:
        """Adds a layer normalization."""
        arrays = [self.given(f"norm_{number}.{part}", WIDTH) for part in ("weight", "bias")]
        return self.one("LayerNormalization", states, *arrays, epsilon=1e-5)

    def layer(self, states: str, layer: int) -> str:
        """Adds a layer."""
        read = self.one("Mul", states, self.given(f"attention_{layer}.shares", WIDTH))
        parts = self.product(read, f"attention_{layer}", WIDTH, 3 * WIDTH)
        split = self.node("Split", parts, "parts", outputs=3, axis=2)
        bias = self.given(f"attention_{layer}.bias", 3 * WIDTH)
        mixed = self.one(
            "MultiHeadAttention", *split, bias, "mask", "relative", domain=MICROSOFT, num_heads=HEADS, scale=1.0
        )
        found = self.product(mixed, f"mix_{layer}", WIDTH, WIDTH)
        states = self.normal(self._sum(states, found, f"mix_{layer}"), 2 * layer + 1)
        read = self.one("Mul", states, self.given(f"wide_{layer}.shares", WIDTH))
        wide = self.product(read, f"wide_{layer}", WIDTH, 4 * WIDTH)
        wide = self.one("BiasGelu", wide, self.given(f"wide_{layer}.bias", 4 * WIDTH), domain=MICROSOFT)
        found = self.product(wide, f"narrow_{layer}", 4 * WIDTH, WIDTH, positive=True)
        return self.normal(self._sum(states, found, f"narrow_{layer}"), 2 * layer + 2)

    def _sum(self, states: str, found: str, name: str) -> str:
        return self.one("Add", self.one("Add", found, self.given(f"{name}.bias", WIDTH)), states)


def model() -> object:
    """Returns the whole graph."""
    graph = Graph()
    for name, value in (("one", 1), ("step", 1 / 127), ("least", LEAST), ("tiny", 1e-6)):
        graph.constant(name, np.float32(value))
    graph.constant("step_positive", np.float32(1 / (255 - int(LOW))))
    graph.constant("middle", MIDDLE)
    graph.constant("low", LOW)
    graph.constant("parts", np.array([WIDTH] * 3, dtype=np.int64))
    states = graph.normal("embeddings", 0)
    for layer in range(LAYERS):
        states = graph.layer(states, layer)
    graph.nodes.append(helper.make_node("Identity", [states], ["states"]))

    def value(name: str, shape: list[object], kind: int = TensorProto.FLOAT) -> object:
        return helper.make_tensor_value_info(name, kind, shape)

    inputs = [
        value("embeddings", ["sequences", "length", WIDTH]),
        value("relative", [1, HEADS, "length", "length"]),
        value("mask", ["sequences", "length"], TensorProto.INT32),
    ]
    outputs = [value("states", ["sequences", "length", WIDTH])]
    whole = helper.make_graph(graph.nodes, "transformer", inputs, outputs, graph.arrays)
    domains = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(whole, opset_imports=domains, ir_version=9)


if __name__ == "__main__":
    save(model(), FILE)
