"""The ``finpath`` command.

:mod:`experiments.commands.main` is the entry point; a package holds the verbs of one subject, a module each. No verb
is imported before it is used.
"""
