"""The words of a question about a graph: what it asks for, what it mentions, its limits and negations."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from kg.analysis.joints import Joint, joints_of
    from kg.analysis.question import Analysis, analyse
    from kg.analysis.shorthand import written_out
    from kg.analysis.wording import DATED_BY
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = ["DATED_BY", "Analysis", "Joint", "analyse", "joints_of", "written_out"]
