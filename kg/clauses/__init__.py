"""Clauses."""
