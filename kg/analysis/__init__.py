"""The words of a question about a graph: what it asks for, what it mentions, its limits and negations."""

from kg.analysis.joints import Joint, joints_of
from kg.analysis.question import Analysis, analyse
from kg.analysis.shorthand import written_out
from kg.analysis.wording import DATED_BY

__all__ = ["DATED_BY", "Analysis", "Joint", "analyse", "joints_of", "written_out"]
