"""The predictor that reads a page; its demonstrations show only the lines of their pages that they use.

>>> PagePredict(ReadPage).demos = [dspy.Example(page=whole_page, calculation="[r1c1]", ...)]
"""

from __future__ import annotations

import re
from typing import Any

import dspy

from programs.lm import NearestPredict
from programs.page.document import excerpt

_IDENTIFIER = re.compile(r"\[((?:r\d+c\d+|s\d+)(?:n\d+)?)\]")


class PagePredict(NearestPredict):
    """``NearestPredict`` whose demonstrations are shortened when they are shown."""

    def _forward_preprocess(self, **inputs: Any) -> Any:
        demonstrations = inputs.pop("demos", None)
        shown = demonstrations if demonstrations is not None else self._chosen(inputs)
        return super()._forward_preprocess(**inputs, demos=shown)

    def _chosen(self, inputs: dict[str, Any]) -> list[Any]:
        chosen = self.demos
        if self.nearest is not None and len(chosen) > self.nearest:
            chosen = self._nearest_demonstrations(str(inputs.get("question", "")))
        return [shortened(one) for one in chosen]


def shortened(demonstration: Any) -> dspy.Example:
    """A demonstration with the lines of its page that its calculation and conversation use, and their neighbours."""
    values = dict(demonstration)
    used = _IDENTIFIER.findall(f"{values.get('calculation', '')} {values.get('history', '')}")
    if isinstance(values.get("page"), str):
        values["page"] = excerpt(values["page"], used)
    return dspy.Example(**values)
