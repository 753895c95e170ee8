"""The tools of the thoughts and the advisor; :mod:`programs.tools.catalogue` makes them by name."""

from programs.tools.addresses import WebLimits
from programs.tools.catalogue import TOOLS, ToolSettings, load_tools
from programs.tools.manager import ToolLimits, ToolManager

__all__ = [
    "TOOLS",
    "ToolLimits",
    "ToolManager",
    "ToolSettings",
    "WebLimits",
    "load_tools",
]
