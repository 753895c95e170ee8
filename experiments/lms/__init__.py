"""Language models by name, and the embedded ones: their catalogue and downloads."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from experiments.lms.config import LMConfig, check_local, lm_settings, reach_lm
    from experiments.lms.weights import CATALOGUE, fetch_reader, find_weights, pull
else:
    __getattr__ = lazy_exports(__name__, __file__)
