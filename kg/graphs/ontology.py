"""An OWL ontology as facts: restrictions are facts of their classes, and classes without members are things.

    Sencha subClassOf GreenTea, hasOrigin value Japan    ->    Sencha is a GreenTea; Sencha hasOrigin Japan

An individual has the facts of its classes, and a class those of the classes above it, unless it has its own ones of the
relation. Other graphs stay as they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain

from kg.graphs.naming import Triple

_OWL, _RDFS = "http://www.w3.org/2002/07/owl#", "http://www.w3.org/2000/01/rdf-schema#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_TYPE, _ABOVE = f"{_RDF}type", f"{_RDFS}subClassOf"
_VALUES = (f"{_OWL}hasValue", f"{_OWL}someValuesFrom", f"{_OWL}onClass")
"""The properties of values that a member of a restriction has at least one of."""


def stated(triples: Sequence[Triple]) -> Sequence[Triple]:
    """The triples of a graph, with those that its ontology implies."""
    if not any(one.relation == _TYPE and one.value == f"{_OWL}Class" for one in triples):
        return triples
    ontology = _Ontology(triples)
    own = (one for one in triples if one.relation != _ABOVE or one.value not in ontology.expressions)
    return list(dict.fromkeys(chain(own, ontology.facts())))


class _Ontology:
    """The classes of a graph.

    Args:
        triples: All statements of it.
    """

    def __init__(self, triples: Sequence[Triple]) -> None:
        self._about: defaultdict[str, dict[str, list[Triple]]] = defaultdict(dict)
        for one in triples:
            self._about[one.subject].setdefault(one.relation, []).append(one)
        kinds = {node: {one.value for one in about.get(_TYPE, ())} for node, about in self._about.items()}
        self.expressions = {node for node in kinds if node.startswith("_:")}
        classes = [node for node, own in kinds.items() if f"{_OWL}Class" in own and node not in self.expressions]
        self._parents: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._facts: defaultdict[str, dict[str, dict[Triple, None]]] = defaultdict(dict)
        self._members: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for name in classes:
            self._add(name, [*self._values(name, _ABOVE), *self._values(name, f"{_OWL}equivalentClass"), name])
        for node, own in kinds.items():
            for kind in own & {*classes} if node not in classes else ():
                self._members[kind][node] = None

    def facts(self) -> Iterator[Triple]:
        """The classes of classes and things, and the facts of things and individuals, as the ontology implies them."""
        for name, above in self._parents.items():
            yield from (Triple(name, _ABOVE, parent, False) for parent in above)
        parents = {parent for own in self._parents.values() for parent in own}
        populated = {one for kind in self._members for one in self._upwards(kind)}
        things = [name for name, own in self._parents.items() if name not in parents and not populated & {name, *own}]
        for name in things:
            yield from (Triple(name, _TYPE, parent, False) for parent in self._parents[name])
            yield from self._inherited(name, {}, [name])
        classes: defaultdict[str, list[str]] = defaultdict(list)
        for kind, members in self._members.items():
            for node in members:
                classes[node].append(kind)
                yield Triple(node, _TYPE, kind, False)
        for node, kinds in classes.items():
            yield from self._inherited(node, self._about[node], kinds)

    def _inherited(self, node: str, own: dict[str, list[Triple]], kinds: Sequence[str]) -> Iterator[Triple]:
        relations = {*own}
        for kind in dict.fromkeys(chain.from_iterable(self._upwards(kind) for kind in kinds)):
            for relation, facts in self._facts[kind].items():
                if relation not in relations:
                    relations.add(relation)
                    yield from (one._replace(subject=node) for one in facts)

    def _upwards(self, kind: str) -> list[str]:
        """A class and those above it, the nearest first."""
        order = {kind: None}
        for name in (waiting := [kind]):
            waiting += [parent for parent in self._parents[name] if parent not in order]
            order |= self._parents[name]
        return list(order)

    def _add(self, name: str, expressions: Sequence[str]) -> None:
        """Adds the parents, facts and members that the expressions of a class state, and those inside them."""
        seen = dict.fromkeys(expressions)
        for expression in (waiting := list(seen)):
            if name != expression and expression not in self.expressions:
                if not expression.startswith(_OWL):
                    self._parents[name][expression] = None
                continue
            about = self._about[expression]
            for relation in {*self._values(expression, f"{_OWL}onProperty")} - self.expressions:
                values = [one for key in _VALUES for one in about.get(key, ()) if one.value not in self.expressions]
                facts = (Triple(name, relation, *one[2:]) for one in values)
                self._facts[name].setdefault(relation, {}).update(dict.fromkeys(facts))
            for first in self._values(expression, f"{_OWL}intersectionOf"):
                parts = [part for part in self._listed(first) if part not in seen]
                seen |= dict.fromkeys(parts)
                waiting += parts
            for first in self._values(expression, f"{_OWL}oneOf"):
                self._members[name] |= dict.fromkeys(self._listed(first))

    def _listed(self, first: str) -> Iterator[str]:
        known: set[str] = set()
        while first not in known and first != f"{_RDF}nil":
            known.add(first)
            yield from self._values(first, f"{_RDF}first")
            first = next(iter(self._values(first, f"{_RDF}rest")), f"{_RDF}nil")

    def _values(self, node: str, relation: str) -> list[str]:
        return [one.value for one in self._about[node].get(relation, ())] if node in self._about else []
