"""Data sets: their download, formats, checks and sources."""
