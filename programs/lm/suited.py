"""One adapter for several language models: each call goes through the adapter that suits the model it is for.

    >>> with dspy.context(lm=embedded, adapter=SuitedAdapter()):
    ...     dspy.Predict("question -> answer")(question="2 + 2?")                 # short lines, held to a grammar
    ...     with dspy.context(lm=remote):
    ...         dspy.Predict("question -> answer")(question="2 + 2?")             # DSPy's own layout

While a program is compiled, the model that proposes instructions may be another than the one that answers.
"""

from __future__ import annotations

from typing import Any

import dspy

from programs.lm.adapter import suited_adapter


class SuitedAdapter(dspy.Adapter):
    """Hands every call to the adapter of :func:`programs.lm.adapter.suited_adapter`, or DSPy's default."""

    def __call__(
        self, lm: Any, lm_kwargs: dict[str, Any], signature: Any, demos: list[dict[str, Any]], inputs: dict[str, Any]
    ) -> list[dict[str, Any]]:
        """Asks the model."""
        outputs: list[dict[str, Any]] = _adapter_of(lm)(lm, lm_kwargs, signature, demos, inputs)
        return outputs

    async def acall(
        self, lm: Any, lm_kwargs: dict[str, Any], signature: Any, demos: list[dict[str, Any]], inputs: dict[str, Any]
    ) -> list[dict[str, Any]]:
        """Asks the model asynchronously."""
        outputs: list[dict[str, Any]] = await _adapter_of(lm).acall(lm, lm_kwargs, signature, demos, inputs)
        return outputs


def _adapter_of(lm: Any) -> dspy.Adapter:
    adapter = suited_adapter(lm)
    return adapter if adapter is not None else dspy.ChatAdapter()
