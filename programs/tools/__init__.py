"""The tools of the thoughts and the advisor; :mod:`programs.tools.manager` makes them by name."""

from programs.tools.documents import NOTHING, read_document
from programs.tools.manager import FILE_TOOLS, TOOLS, ToolManager, ToolSettings, load_tools, within
from programs.tools.web import WebLimits, fetch
from programs.tools.workspace import Workspace, unpack_all
