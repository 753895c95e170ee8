"""A page to ask, and the HTTP API under it (:mod:`experiments.ui.server`)."""
