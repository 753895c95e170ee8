"""Training of the encoder that reads questions and pages for the beam's scorer."""

from optimize.encoders.encoder import EncoderSettings, FitEncoder, split_reports
