"""The tools of the thoughts and the advisor; :mod:`programs.tools.catalogue` makes them by name."""
