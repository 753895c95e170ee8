"""The tools of the thoughts and the advisor; :mod:`programs.tools.manager` makes them by name."""

from programs.tools.documents import NOTHING
from programs.tools.manager import TOOLS, ToolManager, ToolSettings, load_tools
from programs.tools.web import WebLimits, fetch
