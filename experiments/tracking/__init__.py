"""Runs, models and traces in MLflow."""
