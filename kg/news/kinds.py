"""The kinds of answers, and the nouns that ask for them: "which watchdog" asks for a company."""

from __future__ import annotations

from kg.text import singular

_KINDS = {
    "company": "company firm group business supplier insurer bank broker house regulator authority airline carmaker maker rival lender customer "  # noqa: E501
    "agency watchdog investor buyer bidder fund stock share drugmaker retailer association partner client brokerage manufacturer startup start-up owner "  # noqa: E501
    "plaintiff developer operator union body organisation",
    "place": "city town place country state location plant factory site base mill",
    "product": "product drug medicine model brand car vehicle treatment device",
    "person": "person man woman executive analyst founder",
    "date": "date day year month",
    "money": "price amount value cost sum dividend fine settlement penalty revenue profit loss investment valuation damages target fee buyback sales consideration bid",  # noqa: E501
    "percent": "percentage percent stake",
    "count": "number headcount",
    "rating": "rating recommendation",
    "ticker": "ticker symbol",
}
ANY = ("money", "percent", "count", "rating", "ticker", "place", "product", "name", "company")
"""The kinds of the answer of a question with "what" alone."""


def kind_of(noun: str) -> str:
    """The kind of answer that a noun asks for, or an empty text."""
    return next((kind for kind, nouns in _KINDS.items() if {noun, singular(noun)} & set(nouns.split())), "")
