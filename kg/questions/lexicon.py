"""The vocabulary of a graph: the names of its entities, classes and properties, and the adjectives that measure them.

    >>> lexicon = GraphLexicon.read(store, graph)
    >>> [tag.text for tag in lexicon.tags("Which countries border France?") if tag.known]
    ['countries', 'border', 'France']

Names are ``rdfs:label``, ``skos:prefLabel`` and ``skos:altLabel``; an entity without one goes by its local name. A
graph may describe its properties further, in the vocabulary ``https://w3id.org/finpath/lexicon#``:

- ``lex:adjective`` and ``lex:antonym`` measure it; ``lex:secondAdjective`` and ``lex:secondAntonym`` come after them;
- ``lex:unit`` is its unit, ``lex:dated`` the property that dates its value;
- ``lex:Ratio`` with ``lex:numerator`` and ``lex:denominator`` makes it the quotient of two others;
- ``lex:inverseLabel`` names a relation from object to subject: "issued" for ``issued_by``;
- ``lex:Classifying`` says that its values are kinds of things: "a lawsuit";
- ``lex:valueLabel`` is another word for one of its values: "bad=negative".

A property whose ``rdfs:range`` is a date or a moment is one of time.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rdflib.namespace import OWL, RDF, RDFS, SKOS, XSD

from kg.graphs import GraphStore, local_name
from kg.questions.tagging import DegreeTag, Question, Tag, folded, spaced, stemmed, tagged
from kg.text import comparison

LEX = "https://w3id.org/finpath/lexicon#"
LONGEST_VALUE = 60
"""Characters of the longest text value that a question is searched for."""

_SCHEMA = frozenset(
    str(one) for one in (OWL.Class, RDFS.Class, OWL.DatatypeProperty, OWL.ObjectProperty, OWL.SymmetricProperty)
) | {f"{LEX}Ratio", f"{LEX}Classifying"}
_TIMES = frozenset(str(one) for one in (XSD.date, XSD.dateTime))


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
        newest: The last day of its properties of time, ``2026-05-12``; empty where it has none.
    """

    labels: dict[str, str] = field(default_factory=dict)
    types: dict[str, tuple[str, ...]] = field(default_factory=dict)
    properties: dict[str, PropertyWords] = field(default_factory=dict)
    newest: str = ""
    _entities: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _properties: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _classes: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _inverses: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _values: defaultdict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    _degrees: dict[str, DegreeTag] = field(default_factory=dict)

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
        lexical = store.texts(f"SELECT ?s ?p ?o WHERE {{ {scope} {{ ?s ?p ?o FILTER(STRSTARTS(STR(?p), '{LEX}')) }} }}")
        for node, term, value in lexical:
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
        lexicon._add_value_labels(about)
        for prop in (iri for iri, words in lexicon.properties.items() if words.temporal):
            values = store.texts(f"SELECT (MAX(STR(?o)) AS ?m) WHERE {{ {scope} {{ ?s <{prop}> ?o }} }}")
            lexicon.newest = max([lexicon.newest, *(str(value[0])[:10] for value in values if value)])
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
        others: list[tuple[str, str]] = []
        for node, found in sorted(kinds.items()):  # a store gives no order
            own = [kind for kind in found if kind not in _SCHEMA]
            if not own or node in self.properties or node in classes:
                continue
            called = names.get(node, []) or [spaced(local_name(node))]
            self.labels[node] = called[0]
            self.types[node] = tuple(sorted(own))
            _append(self._entities[folded(called[0])], node)
            others += [(folded(name), node) for name in called[1:]]
        for name, node in others:
            _append(self._entities[name], node)

    def _add_degrees(self, about: dict[str, dict[str, list[str]]]) -> None:
        measures: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
        for kind, sign in (("adjective", 1), ("antonym", -1), ("secondAdjective", 1), ("secondAntonym", -1)):
            for iri in sorted(about.keys() & self.properties.keys()):  # others have no value in the graph
                for word in about[iri].get(kind, []):
                    _append(measures[folded(word), sign], iri)
        for (word, sign), found in measures.items():
            for level, forms in enumerate(_forms(word)):
                for form in forms:
                    self._degrees.setdefault(form, DegreeTag(level, sign, tuple(found)))
            self._degrees.setdefault(f"less {word}", DegreeTag(1, -sign, tuple(found)))
            self._degrees.setdefault(f"least {word}", DegreeTag(2, -sign, tuple(found)))
        for word, degree in _GENERAL.items():
            self._degrees.setdefault(word, degree)

    def _add_values(self, pairs: Iterable[Sequence[object]]) -> None:
        """Text values, as they are and with spaces for the ``_`` of codes; numbers and dates are read otherwise."""
        for prop, value in sorted({(str(p), str(o)) for p, o in pairs}):
            words = self.properties.get(prop)
            if words is not None and words.literal and not words.temporal and re.search(r"[^\W\d_]", value):
                self._values[stemmed(spaced(value))].append((prop, value))

    def _add_value_labels(self, about: dict[str, dict[str, list[str]]]) -> None:
        """Other words for the values of a property: "bad" for "negative"."""
        for iri in sorted(about.keys() & self.properties.keys()):
            for stated in about[iri].get("valueLabel", []):
                word, _, value = stated.partition("=")
                self._values[stemmed(word)].append((iri, value))

    def label(self, node: str) -> str:
        """An entity's, property's or class's name."""
        return self.labels.get(node, local_name(node))

    def question(self, text: str) -> Question:
        """Returns a question with its tags."""
        return Question(text, tuple(self.tags(text)))

    def tags(self, text: str) -> list[Tag]:
        """Returns the tags of a text: the longest names first, from left to right.

        A month or day without a year is the last one that the graph knows: "in March" of news until May 2026 is March
        2026.
        """
        return tagged(text, self._named, self.newest)

    def _named(self, text: str, start: int, end: int) -> Tag | None:
        key, stems = folded(text), stemmed(text)
        entities = tuple(self._entities.get(key, ()))
        entities = entities if text[:1].isupper() or not _is_common(key) else ()
        properties, classes = tuple(self._properties.get(stems, ())), tuple(self._classes.get(stems, ()))
        inverses, values = tuple(self._inverses.get(stems, ())), tuple(self._values.get(stems, ()))
        degree = self._degrees.get(key)
        if not (entities or properties or classes or degree is not None or inverses or values):
            return None
        return Tag(text, start, end, key, entities, properties, classes, degree, None, inverses, values)


def _append(items: list[str], item: str) -> None:
    if item not in items:
        items.append(item)


def _forms(adjective: str) -> tuple[list[str], list[str], list[str]]:
    """An adjective with its comparatives and superlatives."""
    comparative, superlative = comparison(adjective)
    irregular = [_IRREGULAR[adjective]] if adjective in _IRREGULAR else []
    return [adjective], [comparative, f"more {adjective}"], [superlative, f"most {adjective}", *irregular]


_IRREGULAR = {"late": "last", "early": "first"}
"""Superlatives that are not formed by an ending, in addition to those that are."""


_GENERAL = {
    **{
        word: DegreeTag(2, 1)
        for word in ("most", "highest", "greatest", "largest", "biggest", "maximum", "longest", "top")
    },
    **{word: DegreeTag(2, -1) for word in ("least", "lowest", "smallest", "fewest", "minimum", "shortest")},
    **{word: DegreeTag(1, 1) for word in ("more", "higher", "greater", "larger", "bigger", "longer", "above", "over")},
    **{word: DegreeTag(1, -1) for word in ("less", "lower", "smaller", "fewer", "shorter", "below", "under")},
}
"""Degrees that every graph understands; what they measure must be said beside them."""

_COMMON_WORDS = "a an and are at be by do for from go has have how i in is it may most of on or so the to us was who"
_COMMON = frozenset(_COMMON_WORDS.split())


def _is_common(key: str) -> bool:
    """Whether a name written in lower case is more likely an everyday word."""
    return key in _COMMON or len(key) < 3
