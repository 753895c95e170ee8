"""The package ``kg.text``."""

from kg.text.dates import Period, periods, year
from kg.text.number_formats import english_sentence, english_table
from kg.text.number_words import find_number_words
from kg.text.quantities import (
    MOST_DIGITS,
    Date,
    Quantity,
    Unit,
    find_dates,
    find_quantities,
    is_lost_dash,
    parse_quantity,
)
from kg.text.suggestions import nearest
from kg.text.words import STOPWORDS, character_ngrams, content_tokens, singular, stem, token_pairs, tokens, years

__all__ = [
    "MOST_DIGITS",
    "STOPWORDS",
    "Date",
    "Period",
    "Quantity",
    "Unit",
    "character_ngrams",
    "content_tokens",
    "english_sentence",
    "english_table",
    "find_dates",
    "find_number_words",
    "find_quantities",
    "is_lost_dash",
    "nearest",
    "parse_quantity",
    "periods",
    "singular",
    "stem",
    "token_pairs",
    "tokens",
    "year",
    "years",
]
