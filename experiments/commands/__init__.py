"""The ``finpath`` command.

:mod:`experiments.commands.main` is the entry point; a module has the name of its verb.
Nothing heavy is imported before a verb is used.
"""
