"""Remote language models: a pool of servers, and limits on each reply's time, its size, its keys and the call rate."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from programs.remote.bounded import BoundedEngines
    from programs.remote.pool import AsyncServerPool, ServerPool
    from programs.remote.rate import RateLimit
    from programs.remote.secrets import Redacting, redact
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = ["AsyncServerPool", "BoundedEngines", "RateLimit", "Redacting", "ServerPool", "redact"]
