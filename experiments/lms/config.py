"""Language models by name.

    make_lm(LMConfig("local"))                                   # the embedded one, fetched by `finpath lm pull`
    make_lm(LMConfig("local/qwen2.5-coder-0.5b+reports"))        # a smaller one with an adapter
    make_lm(LMConfig("openai/gpt-4o-mini"))                      # the key is in the environment
    make_lm(LMConfig("openai/qwen", api_base="http://localhost:8080/v1"))  # a server that speaks the OpenAI protocol

Keys are read from the environment by the provider's client, and are never written to a file, a run or a message.
"""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from experiments.console import check_address, say
from kg.errors import ConfigError, LMError

if TYPE_CHECKING:
    import dspy

    from programs.lm import EmbeddedEngine

SHIPPED_ADAPTERS = Path(__file__).resolve().parents[1] / "shipped" / "adapters"
"""The folder of the adapters of embedded models that ship with finpath."""

_REMOTE_THREADS = 8
_RESTRICTED = "finpath_restricted"


@dataclass(frozen=True)
class LMConfig:
    """A language model and the settings of its calls.

    Attributes:
        name: ``local``, ``local/NAME`` or ``local/FILE.gguf`` for an embedded model, ``local/NAME+ADAPTER`` for one
            with an adapter; or a model as DSPy names it: ``provider/model``.
        api_base: The server's address, for a model that is not at its provider's own.
        temperature: 0 for the most probable reply.
        max_tokens: The longest reply, in tokens.
        budget: Caps as ``calls=500,tokens=200000,usd=1.50``; none by default.
        retries: Further attempts after a temporary failure, with growing pauses.
        timeout: Seconds that a remote model may take for a whole reply; an attempt after a failure has as many.
        threads: Threads that an embedded model computes with; by default as many as there are cores, at most 4.
    """

    name: str
    api_base: str | None = None
    temperature: float = 0.0
    max_tokens: int = 1024
    budget: str | None = None
    retries: int = 3
    timeout: float = 120.0
    threads: int | None = None

    def __post_init__(self) -> None:
        if self.name != "local" and "/" not in self.name:
            rule = "lm must be 'none', 'local' or 'provider/model', such as openai/gpt-4o-mini"
            raise ConfigError(f"{rule}; got {self.name!r}")
        if self.is_local and self.api_base is not None:
            raise ConfigError(f"api_base is the address of a server; {self.name} runs in this process")
        if self.api_base is not None:
            check_address(self.api_base)
            if "?" in self.api_base:  # addresses are written on runs
                raise ConfigError("api_base must hold no key: keys are read from the environment")
        for name, least in {"temperature": 0, "max_tokens": 1, "retries": 0, "threads": 1, "timeout": 0.001}.items():
            value = getattr(self, name)
            if value is not None and not least <= value < math.inf:
                raise ConfigError(f"{name} must be at least {least}, got {value}")
        if self.budget is not None:
            from programs.lm import Budget

            Budget.parse(self.budget)

    @classmethod
    def parse(cls, model: str | None = None, settings: Mapping[str, str] | None = None) -> LMConfig | None:
        """Reads a model and its settings as a command takes them; ``None`` for ``none``.

        Settings may follow the model as ``key=value``, such as ``openai/qwen api_base=http://localhost:8080/v1``.
        Without a model, ``FINPATH_LM`` is read; without both it is ``none``.

        Args:
            model: The model's name, perhaps with settings.
            settings: Texts of the values by the names of the settings, which replace those after the model.

        Raises:
            ConfigError: A key or a value that there is not, or settings of no model.
        """
        model, *words = shlex.split(os.environ.get("FINPATH_LM", "") if model is None else model) or ["none"]
        given = {key: value for key, _, value in (word.partition("=") for word in words)} | dict(settings or {})
        if model == "none":
            if settings:
                raise ConfigError("lm-set is for a language model: name one with --lm, or in FINPATH_LM")
            return None
        config = cls(model)
        if given:
            from optimize.optimizers import with_setting

            for key, text in given.items():
                config = with_setting(config, key, text, "a language model")
        return config

    def params(self) -> dict[str, object]:
        """Returns the settings for a run: ``lm.name``, and all others that are set."""
        return {f"lm.{key}": value for key, value in asdict(self).items() if value is not None}

    @property
    def is_local(self) -> bool:
        """Whether the language model runs in this process."""
        return self.name == "local" or self.name.startswith("local/")

    @property
    def default_threads(self) -> int:
        """The number of concurrent questions: 1, or 8 while waiting for a remote model."""
        return 1 if self.is_local else _REMOTE_THREADS


def make_lm(config: LMConfig) -> dspy.LM:
    """The model as DSPy knows it, replies cached.

    Raises:
        LMError: An embedded model that is not in the cache, or whose file is wrong.
    """
    from programs.lm import AsyncEmbeddedEngine, Budget, GuardedLM

    restrict_cache()
    settings: dict[str, Any] = {
        "temperature": config.temperature,
        "max_tokens": config.max_tokens,
        "num_retries": config.retries,
        "budget": Budget.parse(config.budget) if config.budget is not None else None,
    }
    if config.is_local:
        engine = _engine(config.name, config.threads)
        return GuardedLM(engine.name, engine=engine, async_engine=AsyncEmbeddedEngine(engine), free=True, **settings)
    settings["timeout"] = config.timeout
    if config.api_base is not None:
        settings |= {"api_base": config.api_base, "own_server": True}
        if not os.environ.get("OPENAI_API_KEY"):
            settings["api_key"] = "none"  # local servers ask for none, but the client insists on having one
    return GuardedLM(config.name, **settings)


def check_local(config: LMConfig) -> None:
    """Raises LMError where an embedded model or its runtime is missing, without loading its weights."""
    if config.is_local:
        _engine(config.name, config.threads)


def restrict_cache() -> None:
    """Lets DSPy's cache on disk hold plain data alone: a row that others wrote could else run code when it is read."""
    import dspy

    cache = dspy.cache
    if cache.enable_disk_cache and not hasattr(cache, _RESTRICTED):
        folder, memory = cache.disk_cache_dir, cache.enable_memory_cache
        dspy.configure_cache(enable_memory_cache=memory, disk_cache_dir=folder, restrict_pickle=True)
        setattr(dspy.cache, _RESTRICTED, True)


def lm_settings(config: LMConfig) -> dict[str, Any]:
    """Returns a model and its adapter as settings of ``dspy.context``."""
    from programs.turns import suited_adapter

    lm = make_lm(config)
    adapter = suited_adapter(lm)
    return {"lm": lm} if adapter is None else {"lm": lm, "adapter": adapter}


@cache
def _engine(name: str, threads: int | None) -> EmbeddedEngine:
    """One engine a model: its weights are in memory once, however many language models ask it."""
    from experiments.lms.weights import find_weights
    from programs.lm import EmbeddedEngine, EngineSettings, load_runtime

    weights = name.partition("/")[2]
    # The name of a file may have a plus of its own.
    base, _, adapter = (weights, "", "") if weights.endswith(".gguf") else weights.partition("+")
    model, path = find_weights(base or None)
    load_runtime()
    engine = EmbeddedEngine(EngineSettings(path, f"local/{model}", threads=threads, adapters=(SHIPPED_ADAPTERS,)))
    return engine.with_adapter(f"{engine.name}+{adapter}") if adapter else engine


def reach_lm(config: LMConfig | None, program: object = None) -> dict[str, Any]:
    """Returns settings of ``dspy.context`` after the model has answered one short question.

    Otherwise a wrong address, name or key would become an evaluation with only failed turns.

    Args:
        config: The model; ``None`` for none.
        program: The program that will use it, if known.

    Raises:
        LMError: It does not answer.
        ConfigError: There is none, and the program answers nothing without one.
    """
    if config is None:
        if getattr(program, "needs_lm", False):
            kind = getattr(program, "kind", "program")
            raise ConfigError(f"the {kind} asks a language model: name one with --lm (such as local), got none")
        return {"lm": None}
    settings = lm_settings(config)
    lm, turn = settings["lm"], cast("Any", getattr(program, "turn", None))
    if hasattr(turn, "evidence_for") and not turn.evidence_for(lm).plan_for(lm).asks(lm):
        reason = "in this program its evidence has no weight, so the search answers alone"
        say(f"note: {lm.model} is not asked about reports: {reason}; compile prompts or 'evidence' for it")
    if config.is_local:
        return settings
    import dspy

    try:
        lm("Reply with the word ok.", cache=False)
    except dspy.utils.exceptions.LMError as error:
        # What follows the first line is advice on DSPy's Python API.
        reason = str(error).strip().partition("\n")[0].partition(", or pass api_key=")[0]
        raise LMError(f"the language model {config.name} does not answer: {reason}") from error
    return settings
