"""The tools of the thoughts and the advisor; :mod:`programs.tools.catalogue` makes them by name."""

from programs.tools.catalogue import ToolSettings, load_tools
from programs.tools.manager import ToolManager

__all__ = [
    "ToolManager",
    "ToolSettings",
    "load_tools",
]
