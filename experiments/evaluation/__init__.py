"""Evaluation of programs on tasks: the loop, its journal, comparison and promotion."""
