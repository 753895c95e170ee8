"""Text as figures, dates and words: quantities, periods, tokens and suggestions of similar names."""

from kg.text.dates import MONTH, MONTHS, WEEKDAYS, YEAR, Date, Period, find_dates, periods, year
from kg.text.number_formats import english_sentence, english_table
from kg.text.quantities import MOST_DIGITS, SCALE_WORDS, SCALES, Quantity, Unit, find_number_words, find_quantities
from kg.text.words import (
    STOPWORDS,
    WordIndex,
    comparison,
    content_tokens,
    folded,
    nearest,
    search_words,
    singular,
    spaced,
    split_sentences,
    stem,
    tokens,
    years,
)
