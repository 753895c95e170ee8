"""Training of the encoder that reads questions and pages for the beam's scorer."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from optimize.encoders.encoder import EncoderOptimizer, FitEncoder, split_reports
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "EncoderOptimizer",
    "FitEncoder",
    "split_reports",
]
