"""Line items that US-GAAP names too: concepts of the FASB taxonomy by the key of their label.

>>> CLOSE_MATCHES[line_item_key("Net income ( loss )")]
('http://fasb.org/us-gaap/2023#NetIncomeLoss',)
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kg.labels import line_item_key

US_GAAP = "http://fasb.org/us-gaap/2023#"

_CONCEPTS = {
    "Revenues": "revenues|revenue|total revenues|net revenue|sales and service revenues",
    "RevenueFromContractWithCustomerExcludingAssessedTax": "net sales|sales|sales net",
    "NetIncomeLoss": "net income|net earnings|net earnings loss",
}
CLOSE_MATCHES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {line_item_key(label): (US_GAAP + concept,) for concept, labels in _CONCEPTS.items() for label in labels.split("|")}
)
