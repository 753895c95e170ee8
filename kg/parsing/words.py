"""The words of questions: function words, degrees of adjectives with what they measure, and comparisons.

>>> DEGREES["heaviest"]
Degree(level=2, sign=1, measures=('weight', 'mass'))
"""

from __future__ import annotations

from dataclasses import dataclass

from kg.text import comparison

_FUNCTION = """
    a an the of in on at to for from by with as into onto per via is are was were be been being am has have had
    having do does did done can could will would may might shall should must and or but so then than also too not no
    n't which what who whom whose when where why how that this these those there here it its he him his she her hers
    they them their theirs i me my mine you your yours we us our ours one ones s 's if whether both either each
    every all any some now currently please ok okay just only really actually still ever yet again about same well
    through along across within between among toward towards upon outside inside around during
    let tell whats whos hows wheres isnt arent doesnt didnt dont t
"""
_LIGHT = """
    go goes went gone going come comes came coming get gets got getting take takes took taken give gives gave given
    make makes making made call called name named names know known list show find see say said look want need thing
    things kind kinds sort sorts people person someone anyone somebody exist exists happen happened lie lies many
    much after before over under belong belongs part mean meant total number year day date time use used put
    keep bring stand start started up out off down back away become became begin work works worked seem left live
    lives run runs play plays move write wrote lead leads open win won hold holds held build built
"""
FUNCTION_WORDS = frozenset(_FUNCTION.split())
LIGHT_WORDS = frozenset(_LIGHT.split())
"""Words that say little: a question is understood without them."""


LIGHT, VERB = 0.3, 0.6
"""The weights of a light word and of a likely verb; a function word weighs nothing, any other word 1."""

OTHERS = frozenset(("other", "others", "else", "another", "besides", "except", "apart"))
_NEGATED_TEXT = "is are was were do does did has have had ca could wo would should"
NEGATED_AUXILIARIES = frozenset(f"{word}{end}" for word in _NEGATED_TEXT.split() for end in ("n't", "nt"))
_NOTHING = ("nobody", "nothing", "none", "nowhere")
NEGATIONS = NEGATED_AUXILIARIES | {"not", "no", "never", "without", "n't", "neither", "nor", "non", *_NOTHING}
AUXILIARIES = frozenset(("is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could", "will"))
TOTALS = frozenset(
    ("total", "totals", "altogether", "together", "whole", "entire", "add", "adds", "combined", "sum", "overall")
)
MEANS = frozenset(("average", "mean"))
_DIFFERENCES_TEXT = """
    difference differ differs compared gap margin increase increased rise rose risen grow grew grown drop dropped
    decrease decreased
"""
DIFFERENCES = frozenset(_DIFFERENCES_TEXT.split())
"""Words that ask for a sum, a mean and a difference of numbers."""

_ORDINALS_TEXT = """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
    sixteenth seventeenth eighteenth nineteenth twentieth
"""
ORDINALS = {word: rank for rank, word in enumerate(_ORDINALS_TEXT.split(), start=1)}
"""Ordinals with their numbers."""

COMPARISONS = {
    "before": "<", "until": "<=", "after": ">", "since": ">=", "over": ">", "above": ">", "exceeding": ">",
    "under": "<", "below": "<", "more than": ">", "less than": "<", "fewer than": "<", "greater than": ">",
    "at least": ">=", "at most": "<=", "no more than": "<=", "no less than": ">=", "up to": "<=", "later than": ">",
    "earlier than": "<", "older than": "<", "newer than": ">", "in": "=", "during": "=", "of": "=", "exactly": "=",
    "from": "=", "on": "=", "within": "=", "as of": "=", "in or after": ">=", "on or after": ">=", "in or before": "<=",
    "on or before": "<=", "no later than": "<=", "no earlier than": ">=", "not more than": "<=",
    "not less than": ">=",
}  # fmt: skip
"""Words before a number or a date, each with its comparison."""


@dataclass(frozen=True)
class Degree:
    """An adjective or adverb of degree.

    Attributes:
        level: 0 for "heavy", 1 for "heavier", 2 for "heaviest".
        sign: 1 where it asks for more of its measures, -1 for less.
        measures: Names of properties that it may measure; empty for "most" and "highest", which name none.
        of_dates: Whether it orders by date: for dates "old" is less.
    """

    level: int
    sign: int
    measures: tuple[str, ...] = ()
    of_dates: bool = False


_TIMES = ("age", "date", "birth date", "born", "founded", "established", "built", "opened", "completed", "released",
          "created", "published", "year")  # fmt: skip
_EVENTS = tuple(one for one in _TIMES if one not in ("age", "birth date", "born"))
_SCALES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("old", "young new recent late modern", _TIMES),
    ("tall high", "short low", ("height", "elevation", "altitude")),
    ("long", "short brief", ("length", "duration", "running time", "number of pages")),
    ("big large great", "small little tiny", ("size", "area", "population", "number of employees", "capacity")),
    ("heavy", "light", ("weight", "mass")),
    ("expensive costly dear pricey", "cheap affordable", ("price", "cost", "fee")),
    ("fast quick", "slow", ("speed", "top speed", "duration")),
    ("rich wealthy", "poor", ("net worth", "income", "wealth", "gdp")),
    ("deep", "shallow", ("depth",)),
    ("wide broad", "narrow", ("width", "span")),
    ("hot warm", "cold cool", ("temperature",)),
    ("popular", "unpopular", ("popularity", "rating", "votes", "visitors", "likes", "audience")),
    ("busy", "quiet", ("traffic", "passengers", "visitors")),
    ("populous crowded", "", ("population", "inhabitants")),
    ("strong powerful", "weak", ("power", "strength", "force")),
    ("far distant", "near close", ("distance",)),
    ("successful profitable", "", ("revenue", "profit", "gross")),
    ("early soon", "late", _EVENTS),
)
_PLAIN = {
    1: ("more", "most", "highest", "greatest", "maximum", "max", "top", "best"),
    -1: ("less", "least", "fewer", "fewest", "lowest", "minimum", "min", "worst"),
}


_ALIASES = {"before": "earlier", "after": "later", "recently": "recent", "elder": "older", "eldest": "oldest",
            "further": "farer", "furthest": "farest", "farther": "farer", "farthest": "farest"}  # fmt: skip


def _degrees() -> dict[str, Degree]:
    degrees: dict[str, Degree] = {}
    for more, less, measures in _SCALES:
        # A date is larger the later it is: "old" asks for less of it, "new" for more.
        dated = measures in (_TIMES, _EVENTS)
        for words, sign in ((more, -1 if dated else 1), (less, 1 if dated else -1)):
            for word in words.split():
                for level, form in enumerate((word, *comparison(word))):
                    known = degrees.get(form, Degree(level, sign))
                    joined = tuple(dict.fromkeys((*known.measures, *measures)))
                    degrees[form] = Degree(level, known.sign, joined, dated)
    for sign, plain in _PLAIN.items():
        for word in plain:
            degrees.setdefault(word, Degree(1 if word in ("more", "less", "fewer") else 2, sign))
    for word, sign in (("first", -1), ("last", 1), ("latest", 1), ("earliest", -1)):
        degrees[word] = Degree(2, sign, _EVENTS, of_dates=True)
    return degrees | {word: degrees[other] for word, other in _ALIASES.items()}


DEGREES = _degrees()
"""Forms of the adjectives of degree."""


def degree_of(word: str) -> Degree | None:
    """The degree of a word; a superlative of any other adjective measures what the adjective names."""
    if word in DEGREES:
        return DEGREES[word]
    if len(word) < 6 or not word.endswith("est"):
        return None
    stem = word[:-3]
    bases = [f"{stem[:-1]}y"] if stem.endswith("i") else [stem, f"{stem}e"]
    return Degree(2, 1, tuple(bases))


SEPARATE = frozenset(("more", "most", "less", "least"))
"""Words that make a degree with the word after them: "most expensive"."""
