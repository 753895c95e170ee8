"""The tools of the thoughts and the advisor; :mod:`programs.tools.catalogue` makes them by name."""

from programs.tools.addresses import WebLimits, fetch
from programs.tools.catalogue import TOOLS, ToolSettings, load_tools
from programs.tools.manager import ToolLimits, ToolManager
from programs.tools.paging import NOTHING
from programs.tools.prices import Prices, read_prices

__all__ = [
    "NOTHING",
    "TOOLS",
    "Prices",
    "ToolLimits",
    "ToolManager",
    "ToolSettings",
    "WebLimits",
    "fetch",
    "load_tools",
    "read_prices",
]
