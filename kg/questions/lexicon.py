"""The words of a graph: how its entities, classes and properties are named, and a question read with them.

    >>> lexicon = GraphLexicon.read(store, graph)
    >>> [tag.text for tag in lexicon.tags("Which countries border France?") if tag.known]
    ['countries', 'border', 'France']

Names are ``rdfs:label`` and ``skos:altLabel``; what has none goes by its local name. A graph may also say, in the
vocabulary ``https://w3id.org/finpath/lexicon#``, which adjectives measure a property (``lex:adjective``,
``lex:antonym``, and with less right to the word ``lex:secondAdjective``, ``lex:secondAntonym``), its unit
(``lex:unit``), what dates its value (``lex:dated``), that a property is the quotient of two others (``lex:Ratio``
with ``lex:numerator`` and ``lex:denominator``), how a relation is said from its object to its subject
(``lex:inverseLabel``: "issued" for ``issued_by``), and that a property's values are kinds of things
(``lex:Classifying``: "a lawsuit"). A property whose ``rdfs:range`` is a date or a moment says when. Nothing else about
a graph's subject is known here.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from rdflib.namespace import OWL, RDF, RDFS, SKOS, XSD

from kg.graphs import GraphStore, local_name
from kg.text import Period, periods, stem

LEX = "https://w3id.org/finpath/lexicon#"
MOST_WORDS = 24
"""Words of the longest name that is looked for in a question: names of events are sentences."""

LONGEST_VALUE = 60
"""Characters of the longest text value that a question is searched for."""

_WORD = re.compile(r"\d+(?:[,.]\d+)*|[^\W\d_]+(?:['’-](?!s\b)[^\W\d_]+)*|['’]s\b")
_SCHEMA = frozenset(
    str(one) for one in (OWL.Class, RDFS.Class, OWL.DatatypeProperty, OWL.ObjectProperty, OWL.SymmetricProperty)
) | {f"{LEX}Ratio", f"{LEX}Classifying"}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_TIMES = frozenset(str(one) for one in (XSD.date, XSD.dateTime))


@dataclass(frozen=True)
class Degree:
    """An adjective in a question.

    Attributes:
        level: 0 for "large", 1 for "larger", 2 for "largest".
        sign: 1 for more, -1 for less.
        properties: What the adjective measures in this graph, those with the better right first; empty for words such
            as "highest", which say nothing of what is measured.
    """

    level: int
    sign: int
    properties: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tag:
    """A piece of a question: a name or adjective of the graph, a number, or another word.

    Attributes:
        text: As written.
        start: Its first character's place.
        end: The place after its last character.
        word: The text in lower case without accents.
        entities: The entities of that name.
        properties: The properties of that name.
        classes: The classes of that name.
        degree: What the adjective says.
        number: The number's value.
        inverses: The relations that are so called from their object to their subject.
        values: Texts that are values in the graph, each with its property.
        period: The days that a date stands for.
    """

    text: str
    start: int
    end: int
    word: str
    entities: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    degree: Degree | None = None
    number: Decimal | None = None
    inverses: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    period: Period | None = None

    @property
    def known(self) -> bool:
        """Whether it names an entity, a property or a class of the graph."""
        return bool(self.entities or self.properties or self.classes)

    @property
    def named(self) -> bool:
        """Whether it is any word of the graph, a value or a date."""
        return self.known or bool(self.inverses or self.values or self.period)


@dataclass(frozen=True)
class PropertyWords:
    """A property and its words.

    Attributes:
        iri: The property.
        label: Its name.
        names: All its names.
        literal: Whether its values are literals.
        unit: What its values are counted in, or empty.
        ratio: The two properties that it is the quotient of, or ``None``.
        dated: The property that says of when its value is, or empty.
        temporal: Whether its values are dates or moments.
        symmetric: Whether it holds both ways.
        classifies: Whether its values are names of kinds: "a lawsuit" is what has it as its value.
        directed: Whether the graph says how it is called from its object to its subject.
    """

    iri: str
    label: str
    names: tuple[str, ...]
    literal: bool
    unit: str = ""
    ratio: tuple[str, str] | None = None
    dated: str = ""
    temporal: bool = False
    symmetric: bool = False
    classifies: bool = False
    directed: bool = False


@dataclass
class GraphLexicon:
    """The names of a graph. Make it with :meth:`read`.

    Attributes:
        labels: The first name of every entity, property and class.
        types: The classes of every entity.
        properties: The properties that are used in the graph, and the quotients that it declares.
    """

    labels: dict[str, str] = field(default_factory=dict)
    types: dict[str, tuple[str, ...]] = field(default_factory=dict)
    properties: dict[str, PropertyWords] = field(default_factory=dict)
    _entities: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _properties: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _classes: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _inverses: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _values: defaultdict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    _degrees: dict[str, Degree] = field(default_factory=dict)

    @classmethod
    def read(cls, store: GraphStore, graph: str) -> GraphLexicon:
        """Reads the names of a stored graph.

        Raises:
            QueryError: The name of the graph is no IRI.
            DataError: The store cannot be reached or read.
        """
        lexicon = cls()
        scope = f"GRAPH <{graph}>"
        names: defaultdict[str, list[str]] = defaultdict(list)
        for predicate in (RDFS.label, SKOS.prefLabel, SKOS.altLabel):
            for node, label in store.texts(f"SELECT ?s ?l WHERE {{ {scope} {{ ?s <{predicate}> ?l }} }} ORDER BY ?l"):
                names[str(node)].append(str(label))
        kinds: defaultdict[str, list[str]] = defaultdict(list)
        for node, kind in store.texts(f"SELECT ?s ?t WHERE {{ {scope} {{ ?s <{RDF.type}> ?t }} }}"):
            kinds[str(node)].append(str(kind))
        used = store.texts(
            f"SELECT ?p (SAMPLE(isLiteral(?o)) AS ?l) WHERE {{ {scope} {{ ?s ?p ?o . ?s a ?t }} }} GROUP BY ?p"
        )
        about = defaultdict[str, dict[str, list[str]]](lambda: defaultdict(list))
        told = store.texts(f"SELECT ?s ?p ?o WHERE {{ {scope} {{ ?s ?p ?o FILTER(STRSTARTS(STR(?p), '{LEX}')) }} }}")
        for node, term, value in told:
            about[str(node)][str(term).removeprefix(LEX)].append(str(value))
        ranges = store.texts(f"SELECT ?s ?o WHERE {{ {scope} {{ ?s <{RDFS.range}> ?o }} }}")
        times = {str(node) for node, kind in ranges if str(kind) in _TIMES}
        lexicon._add_properties({str(p): literal == "true" for p, literal in used}, names, kinds, about, times)
        lexicon._add_names(names, kinds)
        lexicon._add_degrees(about)
        lexicon._add_values(
            store.texts(
                f"SELECT DISTINCT ?p ?o WHERE {{ {scope} {{ ?s ?p ?o "
                f"FILTER(isLiteral(?o) && STRLEN(STR(?o)) <= {LONGEST_VALUE}) }} }}"
            )
        )
        return lexicon

    def _add_properties(
        self,
        used: dict[str, bool],
        names: dict[str, list[str]],
        kinds: dict[str, list[str]],
        about: dict[str, dict[str, list[str]]],
        times: set[str],
    ) -> None:
        skipped = (str(RDF), str(RDFS), str(SKOS), str(OWL), LEX)
        for iri in sorted({*used, *(node for node, kind in kinds.items() if f"{LEX}Ratio" in kind)}):
            if iri.startswith(skipped):
                continue
            own = about.get(iri, {})
            ratio = (*own.get("numerator", []), *own.get("denominator", []))
            called = tuple(names.get(iri, [])) or (spaced(local_name(iri)),)
            self.properties[iri] = PropertyWords(
                iri,
                called[0],
                called,
                used.get(iri, True),
                next(iter(own.get("unit", [])), ""),
                (ratio[0], ratio[1]) if len(ratio) == 2 else None,
                next(iter(own.get("dated", [])), ""),
                iri in times,
                str(OWL.SymmetricProperty) in kinds.get(iri, ()),
                f"{LEX}Classifying" in kinds.get(iri, ()),
                "inverseLabel" in own,
            )
            self.labels[iri] = called[0]
            for name in called:
                _append(self._properties[stemmed(name)], iri)
            for name in own.get("inverseLabel", []):
                _append(self._inverses[stemmed(name)], iri)

    def _add_names(self, names: dict[str, list[str]], kinds: dict[str, list[str]]) -> None:
        classes = {kind for found in kinds.values() for kind in found} - _SCHEMA
        for node in sorted(classes):
            called = names.get(node, []) or [spaced(local_name(node))]
            self.labels[node] = called[0]
            for name in called:
                _append(self._classes[stemmed(name)], node)
        for node, found in kinds.items():
            own = [kind for kind in found if kind not in _SCHEMA]
            if not own or node in self.properties or node in classes:
                continue
            called = names.get(node, []) or [spaced(local_name(node))]
            self.labels[node] = called[0]
            self.types[node] = tuple(sorted(own))
            for name in called:
                _append(self._entities[folded(name)], node)

    def _add_degrees(self, about: dict[str, dict[str, list[str]]]) -> None:
        measures: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
        for kind, sign in (("adjective", 1), ("antonym", -1), ("secondAdjective", 1), ("secondAntonym", -1)):
            for iri in sorted(about):
                for word in about[iri].get(kind, []):
                    _append(measures[folded(word), sign], iri)
        for (word, sign), found in measures.items():
            for level, forms in enumerate(_forms(word)):
                for form in forms:
                    self._degrees.setdefault(form, Degree(level, sign, tuple(found)))
            self._degrees.setdefault(f"less {word}", Degree(1, -sign, tuple(found)))
            self._degrees.setdefault(f"least {word}", Degree(2, -sign, tuple(found)))
        for word, degree in _GENERAL.items():
            self._degrees.setdefault(word, degree)

    def _add_values(self, told: Iterable[Sequence[object]]) -> None:
        """Text values, as they are and with spaces for the ``_`` of codes; numbers and dates are read otherwise."""
        for prop, value in sorted({(str(p), str(o)) for p, o in told}):
            words = self.properties.get(prop)
            if words is not None and words.literal and not words.temporal and re.search(r"[^\W\d_]", value):
                self._values[stemmed(spaced(value))].append((prop, value))

    def label(self, node: str) -> str:
        """An entity's, property's or class's name."""
        return self.labels.get(node, local_name(node))

    def tags(self, question: str) -> list[Tag]:
        """Reads a question: the longest names first, from left to right."""
        words = [(match[0], match.start(), match.end()) for match in _WORD.finditer(question)]
        dated = {start: (end, period) for start, end, period in periods(question)}
        tags: list[Tag] = []
        place = 0
        while place < len(words):
            start = words[place][1]
            if start in dated:
                end, period = dated[start]
                tags.append(Tag(question[start:end], start, end, folded(question[start:end]), period=period))
                place = next((i for i in range(place, len(words)) if words[i][1] >= end), len(words))
                continue
            count, tag = self._longest(question, words, place)
            tags.append(tag)
            place += count
        return _scaled(tags)

    def _longest(self, question: str, words: Sequence[tuple[str, int, int]], place: int) -> tuple[int, Tag]:
        for count in range(min(MOST_WORDS, len(words) - place), 0, -1):
            start, end = words[place][1], words[place + count - 1][2]
            text = question[start:end]
            if count > 1 and any(mark in text for mark in ",;:?!"):
                continue
            key = folded(text)
            entities = tuple(self._entities.get(key, ()))
            entities = entities if text[:1].isupper() or not _is_common(key) else ()
            stems = stemmed(text)
            properties, classes = tuple(self._properties.get(stems, ())), tuple(self._classes.get(stems, ()))
            inverses, values = tuple(self._inverses.get(stems, ())), tuple(self._values.get(stems, ()))
            degree = self._degrees.get(key)
            if entities or properties or classes or degree is not None or inverses or values:
                return count, Tag(
                    text, start, end, key, entities, properties, classes, degree, inverses=inverses, values=values
                )
        text, start, end = words[place]
        number = Decimal(text.replace(",", "")) if re.fullmatch(r"\d+(?:,\d{3})*(?:\.\d+)?", text) else None
        return 1, Tag(text, start, end, folded(text), number=number)


def _scaled(tags: list[Tag]) -> list[Tag]:
    """Joins a number with the word behind it that multiplies it."""
    result: list[Tag] = []
    for tag in tags:
        before = result[-1] if result else None
        if before is not None and before.number is not None and tag.word.removesuffix("s") in _SCALES:
            number = before.number * _SCALES[tag.word.removesuffix("s")]
            text = f"{before.text} {tag.text}"
            result[-1] = Tag(text, before.start, tag.end, f"{before.word} {tag.word}", number=number)
        else:
            result.append(tag)
    return result


def folded(text: str) -> str:
    """A text in lower case, without accents, articles at its beginning and marks other than hyphens."""
    plain = unicodedata.normalize("NFKD", text.replace("ł", "l").replace("Ł", "L").replace("ı", "i"))
    words = re.findall(
        r"['’]s\b|[^\W_]+(?:[.,]\d+)*", "".join(c for c in plain if not unicodedata.combining(c)).lower()
    )
    return " ".join(words)


def stemmed(text: str) -> str:
    """A text's words without endings: what different forms of a property's or class's name share."""
    return " ".join(_stem(word) for word in folded(text).split())


def _stem(word: str) -> str:
    """A stem for which "movie", "movies", "country" and "countries" end alike."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-2]
    found = stem(stem(word))  # twice: "mentioned" is "mention", and that what "mentions" is
    return found[:-1] + "i" if found.endswith("y") and len(found) > 3 else found


def spaced(name: str) -> str:
    """A local name as words: ``headOfState`` and ``head_of_state`` are ``head of state``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_+", " ", name).strip().lower()


def _append(items: list[str], item: str) -> None:
    if item not in items:
        items.append(item)


def _forms(adjective: str) -> tuple[list[str], list[str], list[str]]:
    """An adjective with its comparatives and superlatives."""
    if adjective.endswith("e"):
        base = adjective[:-1]
    elif adjective.endswith("y"):
        base = adjective[:-1] + "i"
    elif re.search(r"[^aeiou][aeiou][bdgmnpt]$", adjective) and len(adjective) <= 4:
        base = adjective + adjective[-1]
    else:
        base = adjective
    return (
        [adjective],
        [f"{base}er", f"more {adjective}"],
        [f"{base}est", f"most {adjective}"],
    )


_GENERAL = {
    **{
        word: Degree(2, 1)
        for word in ("most", "highest", "greatest", "largest", "biggest", "maximum", "longest", "top")
    },
    **{word: Degree(2, -1) for word in ("least", "lowest", "smallest", "fewest", "minimum", "shortest")},
    **{word: Degree(1, 1) for word in ("more", "higher", "greater", "larger", "bigger", "longer", "above", "over")},
    **{word: Degree(1, -1) for word in ("less", "lower", "smaller", "fewer", "shorter", "below", "under")},
}
"""Degrees that every graph understands; what they measure must be said beside them."""

_COMMON_WORDS = "a an and are at be by do for from go has have how i in is it may most of on or so the to us was who"
_COMMON = frozenset(_COMMON_WORDS.split())


def _is_common(key: str) -> bool:
    """Whether a name written in lower case is more likely an everyday word."""
    return key in _COMMON or len(key) < 3


def known_entities(tags: Iterable[Tag]) -> list[str]:
    """The entities that are named, in order; of several with one name the first."""
    return list(dict.fromkeys(tag.entities[0] for tag in tags if tag.entities))
