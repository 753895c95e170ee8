"""The runtime of an embedded model: its settings, and a server of the same weights for other programs.

>>> with serve(EngineSettings(path, "local/qwen2.5-coder-1.5b")) as address:
...     dspy.LM("openai/qwen2.5-coder-1.5b", api_base=f"{address}/v1", api_key="none")("2 + 2?")
['4']
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kg.errors import ConfigError, LMError

_MOST_THREADS = 4


@dataclass(frozen=True)
class EngineSettings:
    """The weights of an embedded model, and its limits on the machine.

    Attributes:
        path: The model's file (GGUF).
        name: The model's name, as ``dspy.LM`` has it.
        threads: Threads that compute; by default as many as there are cores, at most 4.
        context: Tokens of prompt and reply that fit together, over all slots.
        slots: Prompts whose beginnings are cached at the same time.
        cache_mib: Memory for prompts that no longer have a slot, at the most. A token of the 1.5B model takes 28 KiB.
            So 512 MiB hold about 40 documents of news, and each is read once for several questions.
        parallel: Requests that are worked on at the same time, at most ``slots``.
        adapter: The file of an adapter (LoRA) that is loaded with the weights; ``None`` for none.
        adapters: Folders in which adapters of the weights may be, after the one next to them.
    """

    path: Path
    name: str
    threads: int | None = None
    context: int = 8192
    slots: int = 4
    cache_mib: int = 512
    parallel: int = 1
    adapter: Path | None = None
    adapters: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        for field in ("threads", "context", "slots", "parallel"):
            if getattr(self, field) is not None and getattr(self, field) < 1:
                raise ConfigError(f"{field} must be at least 1, got {getattr(self, field)}")
        if self.cache_mib < 0:
            raise ConfigError(f"cache_mib must be at least 0, got {self.cache_mib}")
        if self.parallel > self.slots:
            raise ConfigError(f"parallel must be at most slots ({self.slots}), got {self.parallel}")


def load_runtime() -> Any:
    """The module of the runtime.

    Raises:
        LMError: It is not installed, or a library that it needs is missing.
    """
    # Threads that wait must not spin: with one other busy process on two cores that makes the model ten times slower.
    # It counts only when it is set before the runtime is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        import xllamacpp
    except (ImportError, OSError) as error:
        raise LMError("the embedded language model needs its runtime: pip install 'finpath[local]'") from error
    return xllamacpp


def server_parameters(settings: EngineSettings) -> Any:
    """The settings as llama.cpp takes them; its server listens on loopback only.

    Raises:
        LMError: The runtime is not installed, or the file is not there.
    """
    xllamacpp = load_runtime()
    if not settings.path.is_file():
        raise LMError(f"{settings.path} is not there: fetch it with `finpath lm pull`")
    if settings.adapter is not None and not settings.adapter.is_file():
        raise LMError(f"the adapter {settings.adapter} is not there")
    parameters = xllamacpp.CommonParams()
    if settings.adapter is not None:
        parameters.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(str(settings.adapter), 1.0)]
    parameters.model.path = str(settings.path)
    parameters.model_alias = {settings.name}
    parameters.n_ctx = settings.context
    parameters.n_parallel = settings.slots
    parameters.kv_unified = True
    # A prompt that shares little with what a slot holds must not push it out.
    parameters.slot_prompt_similarity = 0.3
    parameters.cache_ram_mib = settings.cache_mib
    threads = settings.threads if settings.threads is not None else min(os.cpu_count() or 1, _MOST_THREADS)
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.hostnames = ["127.0.0.1"]
    parameters.n_gpu_layers = 0
    parameters.warmup = False
    parameters.ui = False
    # Pages in a browser on this machine must not be able to ask it.
    parameters.cors_origins, parameters.cors_origins_explicit, parameters.cors_credentials = (
        "http://127.0.0.1",
        True,
        False,
    )
    parameters.endpoint_slots = False
    parameters.verbosity = 0
    return parameters


@contextmanager
def serve(settings: EngineSettings, port: int = 0, key: str | None = None) -> Iterator[str]:
    """Offers a model to any client that speaks the OpenAI protocol, from this machine only, while the context lasts.

    Args:
        settings: The weights and the machine's share.
        port: Where to listen; 0 for any port that is free.
        key: The key that clients must send; by default none.

    Yields:
        The server's address; the protocol's paths are below ``/v1``.

    Raises:
        LMError: The weights cannot be loaded, or the port is taken.
    """
    parameters = server_parameters(settings)
    if port and _is_taken(port):
        raise LMError(f"port {port} is taken: choose another one with --port")
    parameters.port = port
    if key is not None:
        parameters.api_keys = [key]
    server = start(parameters, settings)
    yield str(server.listening_address)


def _is_taken(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


def start(parameters: Any, settings: EngineSettings) -> Any:
    """The runtime with the weights loaded.

    Raises:
        LMError: They cannot be loaded.
    """
    import xllamacpp

    try:
        return xllamacpp.Server(parameters)
    except (RuntimeError, ValueError) as error:
        raise LMError(f"{settings.path} cannot be loaded: {error}") from error
