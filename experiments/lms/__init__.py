"""Language models by name, and the embedded ones: their catalogue, download and verification."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from experiments.lms.adapters import install_adapters, save_adapters
    from experiments.lms.catalogue import find_model, installed_models, model_named, models_folder, verify, written_size
    from experiments.lms.config import LMConfig, check_local, lm_settings, reach_lm
    from experiments.lms.download import pull
    from experiments.lms.weights import HUB, find_weights, pull_from_hub
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "HUB",
    "LMConfig",
    "check_local",
    "find_model",
    "find_weights",
    "install_adapters",
    "installed_models",
    "lm_settings",
    "model_named",
    "models_folder",
    "pull",
    "pull_from_hub",
    "reach_lm",
    "save_adapters",
    "verify",
    "written_size",
]
