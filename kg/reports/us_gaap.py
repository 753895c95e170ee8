"""Line items that US-GAAP names too: concepts of the FASB taxonomy by the key of their label.

>>> CLOSE_MATCHES[line_item_key("Net income ( loss )")]
('http://fasb.org/us-gaap/2023#NetIncomeLoss',)
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kg.reports.labels import line_item_key

US_GAAP = "http://fasb.org/us-gaap/2023#"

_AWARD = "ShareBasedCompensationArrangementByShareBasedPaymentAward"
_TAX = "UnrecognizedTaxBenefits"
_CONCEPTS = {
    "Revenues": (
        "revenues|total revenues|net revenue|total net revenues|sales and service revenues|operating revenues"
    ),
    "RevenueFromContractWithCustomerExcludingAssessedTax": "net sales|sales",
    "CostOfRevenue": "cost of revenue|cost of revenues|total cost of revenue",
    "CostOfGoodsAndServicesSold": "cost of sales|cost of goods sold|cost of products sold",
    "GrossProfit": "gross profit|gross margin",
    "OperatingExpenses": "operating expenses|total operating expenses",
    "SellingGeneralAndAdministrativeExpense": (
        "selling general and administrative expenses|selling general and administrative"
    ),
    "ResearchAndDevelopmentExpense": "research and development|research and development expense",
    "LaborAndRelatedExpense": "compensation and benefits",
    "ProfessionalFees": "professional fees",
    "RestructuringCharges": "restructuring charges",
    "OperatingIncomeLoss": "operating income|operating profit|income from operations",
    "InterestExpense": "interest expense",
    "InterestIncomeExpenseNet": "net interest income",
    "InterestPaidNet": "interest paid",
    "IncomeTaxExpenseBenefit": "income tax expense|provision for income taxes|income taxes",
    "EffectiveIncomeTaxRateContinuingOperations": "effective tax rate|effective income tax rate",
    "IncomeLossFromDiscontinuedOperationsNetOfTax": (
        "income from discontinued operations net of tax|discontinued operations"
    ),
    "NetIncomeLoss": "net income|net earnings",
    "EarningsPerShareBasic": "basic earnings per share|basic",
    "EarningsPerShareDiluted": "diluted earnings per share|diluted",
    "WeightedAverageNumberOfSharesOutstandingBasic": (
        "weighted-average shares - basic|average common shares outstanding"
    ),
    "WeightedAverageNumberOfDilutedSharesOutstanding": "weighted-average shares - diluted",
    "WeightedAverageNumberDilutedSharesOutstandingAdjustment": "effect of dilutive securities",
    "CommonStockDividendsPerShareDeclared": (
        "dividends declared per share|dividends declared per common share|quarterly cash dividend"
    ),
    "NetCashProvidedByUsedInOperatingActivities": "net cash provided by operating activities",
    "NetCashProvidedByUsedInInvestingActivities": "net cash used in investing activities",
    "NetCashProvidedByUsedInFinancingActivities": "net cash used in financing activities",
    "PaymentsToAcquirePropertyPlantAndEquipment": "capital expenditures|additions to property plant and equipment",
    "PaymentsOfDividends": "dividends paid",
    "PaymentsForRepurchaseOfCommonStock": "repurchases of common stock|stock repurchase program",
    "Depreciation": "depreciation|depreciation expense",
    "DepreciationDepletionAndAmortization": "depreciation and amortization|depreciation depletion and amortization",
    "AmortizationOfIntangibleAssets": "amortization expense|amortization of intangible assets",
    "CashAndCashEquivalentsAtCarryingValue": "cash and cash equivalents",
    "AccountsReceivableNetCurrent": "accounts receivable|accounts receivable net|receivables",
    "InventoryNet": "inventories|inventory",
    "AssetsCurrent": "current assets|total current assets",
    "AssetsNoncurrent": "noncurrent assets",
    "PropertyPlantAndEquipmentNet": (
        "property plant and equipment|property and equipment|property plant and equipment net"
    ),
    "Goodwill": "goodwill",
    "IntangibleAssetsNetExcludingGoodwill": "intangible assets|other intangible assets|intangible assets net",
    "OtherAssets": "other assets",
    "Assets": "total assets",
    "LiabilitiesCurrent": "current liabilities|total current liabilities",
    "LiabilitiesNoncurrent": "noncurrent liabilities",
    "Liabilities": "total liabilities",
    "ShortTermBorrowings": "short-term borrowings|short-term debt",
    "LongTermDebt": "long-term debt|total long-term debt",
    "LongTermDebtCurrent": "current portion of long-term debt",
    "DebtLongtermAndShorttermCombinedAmount": "total debt",
    "StockholdersEquity": (
        "stockholders equity|shareholders equity|total shareholders equity|total stockholders equity"
    ),
    "MinorityInterest": "minority interest|noncontrolling interests",
    "PurchaseObligation": "purchase obligations",
    "LettersOfCreditOutstandingAmount": "letters of credit|standby letters of credit",
    "GuaranteeObligationsMaximumExposure": "guarantees",
    "AssetRetirementObligation": "asset retirement obligations",
    "AssetRetirementObligationLiabilitiesIncurred": (
        "liabilities incurred|liabilities incurred including acquisitions"
    ),
    "AssetRetirementObligationLiabilitiesSettled": "liabilities settled",
    "AssetRetirementObligationAccretionExpense": "accretion|accretion expense",
    _TAX + "IncreasesResultingFromCurrentPeriodTaxPositions": (
        "additions based on tax positions related to the current year"
    ),
    _TAX + "IncreasesResultingFromPriorPeriodTaxPositions": "additions for tax positions of prior years",
    _TAX + "DecreasesResultingFromPriorPeriodTaxPositions": "reductions for tax positions of prior years",
    _TAX + "DecreasesResultingFromSettlementsWithTaxingAuthorities": "settlements with taxing authorities",
    "DefinedBenefitPlanServiceCost": "service cost",
    "DefinedBenefitPlanInterestCost": "interest cost",
    _AWARD + "EquityInstrumentsOtherThanOptionsGrantsInPeriod": "granted",
    _AWARD + "EquityInstrumentsOtherThanOptionsVestedInPeriod": "vested",
    _AWARD + "EquityInstrumentsOtherThanOptionsForfeitedInPeriod": "forfeited",
    _AWARD + "FairValueAssumptionsExpectedDividendRate": "dividend yield|expected dividend yield",
    _AWARD + "FairValueAssumptionsExpectedVolatilityRate": "expected volatility|expected volatility rate",
    _AWARD + "FairValueAssumptionsRiskFreeInterestRate": "risk-free interest rate|average risk-free interest rate",
    "EmployeeServiceShareBasedCompensationNonvestedAwardsTotalCompensationCostNotYetRecognizedPeriodForRecognition1": (
        "weighted average period"
    ),
    "LesseeOperatingLeaseLiabilityPaymentsDue": (
        "operating leases|operating lease obligations|total minimum lease payments"
    ),
    "FinanceLeaseLiability": "capital lease obligations|capital leases",
    "LineOfCredit": "credit facilities|revolving credit facility",
    "InterestIncomeExpenseNonoperatingNet": "interest expense net|interest income ( expense ) net",
    "AssetRetirementObligationRevisionOfEstimate": "revisions to previous estimates|revisions of previous estimates",
    "DebtInstrumentFaceAmount": "principal amount",
    "DebtInstrumentRedemptionPricePercentage": "redemption price",
    "SeniorNotes": "senior notes",
    "DerivativeNotionalAmount": "notional amount",
    "CommonStockValue": "common stock",
    "CommonStockSharesOutstanding": "common shares|common shares outstanding",
    "TreasuryStockAcquiredAverageCostPerShare": "average price paid per share",
    "IncomeLossFromContinuingOperations": "continuing operations|income from continuing operations",
    "CommercialPaper": "commercial paper",
    "UnrecognizedTaxBenefits": "unrecognized tax benefits",
}
CLOSE_MATCHES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {line_item_key(label): (US_GAAP + concept,) for concept, labels in _CONCEPTS.items() for label in labels.split("|")}
)
