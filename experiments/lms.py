"""Language models by name.

    make_lm("none")                                              # no model: the beam's own score picks
    make_lm("openai/gpt-4o-mini")                                # the key is in the environment
    make_lm("openai/qwen", api_base="http://localhost:8080/v1")  # any server that speaks the OpenAI protocol

Keys are read from the environment by the provider's client, and are never written to a file or a run.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kg.errors import ConfigError, LMError

if TYPE_CHECKING:
    import dspy


@dataclass(frozen=True)
class LMConfig:
    """Which language model, and how it is asked.

    Attributes:
        name: ``none``, or a model as DSPy names it: ``provider/model``.
        api_base: The server's address, for a model that is not at its provider's own.
        temperature: 0 for the most probable reply.
        max_tokens: The longest reply, in tokens.
    """

    name: str = "none"
    api_base: str | None = None
    temperature: float = 0.0
    max_tokens: int = 1024

    def __post_init__(self) -> None:
        if not self.name:
            raise ConfigError("lm must be 'none' or 'provider/model', got ''")
        if self.name != "none" and "/" not in self.name:
            raise ConfigError(f"lm must be 'none' or 'provider/model', such as openai/gpt-4o-mini; got {self.name!r}")
        if self.temperature < 0:
            raise ConfigError(f"temperature must be at least 0, got {self.temperature}")
        if self.max_tokens < 1:
            raise ConfigError(f"max_tokens must be at least 1, got {self.max_tokens}")

    @property
    def is_none(self) -> bool:
        """Whether no language model is asked."""
        return self.name == "none"


def make_lm(config: LMConfig) -> dspy.LM | None:
    """The model as DSPy knows it, replies cached; ``None`` for ``none``."""
    if config.is_none:
        return None
    import dspy

    settings: dict[str, object] = {"temperature": config.temperature, "max_tokens": config.max_tokens, "cache": True}
    if config.api_base is not None:
        settings["api_base"] = config.api_base
        if not os.environ.get("OPENAI_API_KEY"):
            settings["api_key"] = "none"  # local servers ask for none, but the client insists on having one
    return dspy.LM(config.name, **settings)


def reach_lm(config: LMConfig) -> dspy.LM | None:
    """The model, after it has answered one short question.

    A wrong address, name or key would otherwise show as an evaluation of which every turn failed.

    Raises:
        LMError: It does not answer.
    """
    lm = make_lm(config)
    if lm is None:
        return None
    import dspy

    try:
        lm("Reply with the word ok.")
    except dspy.utils.exceptions.LMError as error:
        raise LMError(f"the language model {config.name} does not answer: {error}") from error
    return lm
