"""Compiles of programs: their settings, runs and checkpoints."""
