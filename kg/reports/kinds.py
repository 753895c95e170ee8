"""Kinds of financial statements and notes, and the cue words that a table of that kind holds.

    >>> detect_kind("net cash from operating activities | net cash used in investing activities", "liquidity")
    'CashFlow'
    >>> detect_kind("apples | pears", "fruit")
    'GeneralTable'

The kinds are a fixed list of the field's common statements and notes; which of them an ontology has, and what stands in
them, is counted on its training reports. A cue counts in proportion to its words, three times in the table's own
labels; ties go to the kind that stands first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

GENERAL = "GeneralTable"
DISCLOSURE = "Disclosure"
_TABLE_WEIGHT = 3
_APOSTROPHE = re.compile(r"'| ?2019(?=s\b)|(?<=s) 2019(?= )")


@dataclass(frozen=True)
class Kind:
    """A kind of statement or note: its class's local name, its label and its cue phrases (singular, lower-case)."""

    name: str
    label: str
    cues: tuple[str, ...]


def _kind(name: str, label: str, cues: str) -> Kind:
    return Kind(name, label, tuple(cue.strip() for cue in cues.split(",")))


KINDS: tuple[Kind, ...] = (
    _kind(
        "StockPerformance",
        "stock performance",
        "s&p 500, cumulative total return, total shareholder return, performance graph, peer group, stock "
        "index, dow jones, total stockholder return, composite index, kbw bank, invested on, reinvestment of "
        "dividend",
    ),
    _kind(
        "ShareRepurchase",
        "share repurchases",
        "share purchased, shares purchased as part, average price paid, publicly announced, repurchase "
        "program, may yet be purchased, share repurchase, treasury stock, stock repurchase",
    ),
    _kind(
        "EquityCompensationPlan",
        "equity compensation plans",
        "equity compensation plan, number of securities, security holder, issued upon exercise",
    ),
    _kind(
        "StockOption",
        "stock options and awards",
        "stock option, exercise price, exercisable, granted, vested, nonvested, non-vested, unvested, "
        "forfeited, expected volatility, risk-free, dividend yield, expected life, expected term, restricted "
        "stock, stock-based compensation, share-based compensation, grant date, grant-date, performance "
        "share, black-scholes",
    ),
    _kind(
        "Pension",
        "pensions and other retirement benefits",
        "pension, benefit obligation, plan asset, service cost, postretirement, post-retirement, defined "
        "benefit, funded status, rate of compensation increase, expected return on plan, benefit payment, "
        "health care cost, retiree, actuarial, 401k",
    ),
    _kind(
        "Lease",
        "leases",
        "operating lease, capital lease, minimum lease, lease payment, rental, sublease, rent expense, lease "
        "obligation, minimum rental, noncancelable, non-cancelable, lease",
    ),
    _kind(
        "Tax",
        "income taxes",
        "income tax, statutory rate, deferred tax, unrecognized tax benefit, valuation allowance, effective "
        "tax rate, tax position, tax credit, net operating loss, carryforward, effective rate, tax rate, "
        "taxing authorities, federal income",
    ),
    _kind(
        "CashFlow",
        "cash flows",
        "cash flow, operating activities, investing activities, financing activities, net cash, cash "
        "provided, cash used, capital expenditure, cash and cash equivalent beginning, cash equivalent end",
    ),
    _kind(
        "Debt",
        "debt",
        "senior note, long-term debt, term loan, credit facility, debenture, debt, maturity, maturities, "
        "notes payable, note due, commercial paper, borrowing, revolving, interest rate swap, mortgage note, "
        "principal amount",
    ),
    _kind(
        "Acquisition",
        "acquisitions",
        "purchase price, acquired, liabilities assumed, net asset acquired, total consideration, fair value "
        "of net asset, acquisition, pro forma, purchase consideration",
    ),
    _kind(
        "IntangibleAsset",
        "goodwill and intangible assets",
        "goodwill, intangible, trademark, patent, customer relationship, amortization expense, purchased "
        "technology, trade name, developed technology, useful life",
    ),
    _kind(
        "PropertyAndEquipment",
        "property, plant and equipment",
        "property plant and equipment, property and equipment, land, building, machinery, accumulated "
        "depreciation, leasehold improvement, construction in progress, furniture, square feet, square foot, "
        "owned",
    ),
    _kind(
        "Inventory",
        "inventories",
        "inventory, inventories, raw material, finished good, work in process, lifo, fifo",
    ),
    _kind(
        "EarningsPerShare",
        "earnings per share",
        "earnings per share, weighted average share, weighted-average share, dilutive, diluted, basic, "
        "average common share, eps",
    ),
    _kind(
        "Dividend",
        "dividends and share prices",
        "dividend declared, dividend per share, dividend paid, cash dividend, dividend, high, low, first "
        "quarter, fourth quarter",
    ),
    _kind(
        "CommitmentSchedule",
        "contractual obligations and commitments",
        "contractual obligation, purchase obligation, less than 1 year, letter of credit, letters of credit, "
        "guarantee, commercial commitment, payment due, total contractual, more than 5 year, surety",
    ),
    _kind(
        "Provision",
        "reserves, allowances and provisions",
        "allowance, reserve, provision, charge-off, warranty, warranties, asset retirement obligation, "
        "accretion, liabilities settled, liability incurred, loss and lae, unpaid loss, prior year "
        "development",
    ),
    _kind(
        "Restructuring",
        "restructuring",
        "restructuring, severance, termination benefit, facility closure, cash payment",
    ),
    _kind(
        "Derivative",
        "derivatives and market risk",
        "derivative, hedge, hedging, notional, foreign currency instrument, interest rate instrument, "
        "commodity instrument, value at risk, var, basis point, sensitivity, forward contract, swap",
    ),
    _kind(
        "Investment",
        "investments and fair values",
        "investment securities, available-for-sale, held-to-maturity, trading securities, fair value, level "
        "1, level 2, level 3, private equity, hedge fund, unrealized gain, unrealized loss, equity method, "
        "amortized cost, investment",
    ),
    _kind(
        "Capital",
        "regulatory capital",
        "tier 1, risk-weighted asset, regulatory capital, common equity, leverage ratio, capital ratio, "
        "basel, statutory surplus",
    ),
    _kind(
        "ProvedReserve",
        "production and proved reserves",
        "proved, barrel, mmboe, mbpd, oil and gas, natural gas, crude oil, refined product, drilling, production, boe",
    ),
    _kind(
        "OtherComprehensiveIncome",
        "other comprehensive income",
        "accumulated other comprehensive, comprehensive income, currency translation, reclassification",
    ),
    _kind(
        "Segment",
        "segments and regions",
        "segment, north america, europe, asia, latin america, united states, international, region, freight "
        "revenue, industrial packaging, printing paper, domestic, net sales by",
    ),
    _kind(
        "BalanceSheet",
        "financial position",
        "total asset, total liabilities, current asset, current liabilities, stockholders equity, "
        "shareholders equity, accounts receivable, receivable, accounts payable, working capital, retained "
        "earning, accrued, cash and cash equivalent, noncurrent, balance sheet",
    ),
    _kind(
        "IncomeStatement",
        "results of operations",
        "net income, net sales, net earning, revenue, gross profit, gross margin, operating income, operating "
        "profit, cost of sales, operating expense, selling general, cost of revenue, sales, net revenue, "
        "operating margin, interest expense, income before, earnings before, results of operation, operating "
        "earning",
    ),
)
_ORDER = {kind.name: place for place, kind in enumerate(KINDS)}


class KindDetector:
    """Tells kinds apart by their cues.

    Args:
        kinds: The kinds; a cue that two of them share counts for the one that stands first in ``KINDS``.
    """

    def __init__(self, kinds: Iterable[Kind]) -> None:
        ordered = sorted(kinds, key=lambda kind: (_ORDER.get(kind.name, len(_ORDER)), kind.name))
        self._order = {kind.name: place for place, kind in enumerate(ordered)}
        self._kind_of_cue = {cue: kind.name for kind in reversed(ordered) for cue in kind.cues}
        cues = "|".join(sorted(map(re.escape, self._kind_of_cue), key=lambda cue: (-len(cue), cue)))
        self._cues = re.compile(rf"(?<![a-z])(?:{cues})(?=e?s?(?![a-z]))") if cues else None

    def detect(self, labels: str, context: str = "") -> str:
        """The kind whose cues a table's labels and the text around it hold, or ``GENERAL`` without any."""
        scores: Counter[str] = Counter()
        for text, weight in ((labels, _TABLE_WEIGHT), (context, 1)):
            for cue in self._found(text):
                if weight == 1 and " " not in cue:
                    continue  # "high", "debt" or "basic" in a sentence says little about the table next to it
                scores[self._kind_of_cue[cue]] += weight * (1 + cue.count(" ") + cue.count("-"))
        return min(scores, key=lambda name: (-scores[name], self._order[name])) if scores else GENERAL

    def shown(self, text: str) -> set[str]:
        """The kinds that at least one cue in a text speaks for."""
        return {self._kind_of_cue[cue] for cue in self._found(text)}

    def _found(self, text: str) -> list[str]:
        return self._cues.findall(_APOSTROPHE.sub("", text.lower())) if self._cues is not None else []


_DETECTOR = KindDetector(KINDS)


def detect_kind(labels: str, context: str = "") -> str:
    """What a detector of all ``KINDS`` finds."""
    return _DETECTOR.detect(labels, context)


def shown_kinds(text: str) -> set[str]:
    """The kinds of ``KINDS`` that a text shows any cue of.

    >>> sorted(shown_kinds("service cost | interest expense"))
    ['IncomeStatement', 'Pension']
    """
    return _DETECTOR.shown(text)
