"""A predictor that can choose the demonstrations it shows: those whose questions are nearest to the one asked.

    >>> predictor = NearestPredict("question -> operation")
    >>> predictor.demos, predictor.nearest = pool, 4        # what the optimizer knn-few-shot sets
    >>> predictor(question="what was the change from 2007 to 2008?")     # shows the 4 nearest of the pool

With ``nearest`` at its default ``None``, it is ``dspy.Predict``. Similarity is the cosine of hashed words and letter
triples, which needs no model; ``dspy.KNN`` does the search. A prompt that changes with every question shares less with
the previous one, so a local model computes more of it again.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from typing import Any

import dspy
import numpy as np
from dspy.predict.knn import KNN
from numpy.typing import NDArray

_WIDTH = 1024
_WORD = re.compile(r"[a-z]+|\d+")


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Texts as unit vectors of hashed words and letter triples; a year counts as a year, whichever it is."""
    vectors = np.zeros((len(texts), _WIDTH), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in _WORD.findall(text.lower()):
            name = "<year>" if re.fullmatch(r"(19|20)\d\d", word) else word
            parts = [name, *(f"#{name[i : i + 3]}" for i in range(len(name) - 2))]
            for part in parts:
                vectors[row, zlib.crc32(part.encode()) % _WIDTH] += 1.0 if part is name else 0.3
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float32] = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return unit


class NearestPredict(dspy.Predict):
    """``dspy.Predict`` that may show the nearest of its demonstrations only.

    Attributes:
        nearest: The number of shown demonstrations; ``None`` for all.
    """

    nearest: int | None = None

    def dump_state(self, json_mode: bool = True) -> dict[str, Any]:
        """DSPy's state, with ``nearest`` where it is set."""
        state: dict[str, Any] = super().dump_state(json_mode)
        return state if self.nearest is None else {**state, "nearest": self.nearest}

    def load_state(self, state: dict[str, Any], **options: Any) -> NearestPredict:
        """Reads what :meth:`dump_state` wrote."""
        self.nearest = state.get("nearest")
        super().load_state(state, **options)
        return self

    def reset(self) -> None:
        """Back to no demonstrations."""
        super().reset()
        self.nearest = None

    def _forward_preprocess(self, **inputs: Any) -> Any:
        if self.nearest is not None and "demos" not in inputs and len(self.demos) > self.nearest:
            inputs["demos"] = self._nearest_demonstrations(str(inputs.get("question", "")))
        return super()._forward_preprocess(**inputs)

    def _nearest_demonstrations(self, question: str) -> list[Any]:
        """Returns the nearest demonstrations, the most similar last, next to the question."""
        asked = [dspy.Example(question=str(demo.get("question", ""))).with_inputs("question") for demo in self.demos]
        places = {id(example): place for place, example in enumerate(asked)}
        found = KNN(self.nearest, asked, dspy.Embedder(embed, caching=False))(question=question)
        return [self.demos[places[id(example)]] for example in reversed(found)]
