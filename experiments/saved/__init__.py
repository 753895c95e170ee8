"""Saved programs: folders of readable files, found by name, folder, MLflow URI or run."""
