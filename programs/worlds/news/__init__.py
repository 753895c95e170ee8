"""Readings of news: answers by rules, numbered sentences, quotations and calculations, each with its confidence."""
