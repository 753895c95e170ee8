"""Text as figures, dates and words: quantities, periods, tokens and suggestions of similar names."""

from kg.text.dates import (
    MONTHS,
    WEEKDAYS,
    YEAR,
    Date,
    Period,
    days_of_any_year,
    find_dates,
    last_periods,
    periods,
    year,
)
from kg.text.number_formats import english_sentence, english_table
from kg.text.quantities import MOST_DIGITS, SCALE_WORDS, SCALES, Quantity, Unit, find_number_words, find_quantities
from kg.text.words import (
    STOPWORDS,
    WordIndex,
    character_ngrams,
    comparison,
    content_tokens,
    folded,
    nearest,
    plural,
    search_words,
    singular,
    spaced,
    split_sentences,
    stem,
    token_pairs,
    tokens,
    years,
)
