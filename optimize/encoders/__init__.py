"""Training of the encoder that reads questions and pages for the beam's scorer."""

from optimize.encoders.encoder import EncoderOptimizer, FitEncoder, split_reports

__all__ = [
    "EncoderOptimizer",
    "FitEncoder",
    "split_reports",
]
