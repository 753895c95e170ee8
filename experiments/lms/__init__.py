"""Language models by name, and the embedded ones: their catalogue and downloads."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from experiments.lms.catalogue import find_model, written_size
    from experiments.lms.config import LMConfig, check_local, lm_settings, reach_lm
    from experiments.lms.weights import HUB, pull, pull_from_hub
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "HUB",
    "LMConfig",
    "check_local",
    "find_model",
    "lm_settings",
    "pull",
    "pull_from_hub",
    "reach_lm",
    "written_size",
]
