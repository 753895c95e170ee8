"""The classes of nodes that a graph does not type: they have the relations of those that it does.

>>> list(inferred_classes({"boat": {0: None, 1: None}}, [{LENGTH: (3,), CREW: (4,)}, {LENGTH: (5,), CREW: (4,)},
...                                                      {LENGTH: (6,), CREW: (4,)}]))
[(2, {'boat'})]
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

_NEARLY_ALL = 0.9
_MOST_READ = 500
"""Subjects of a relation that tell its classes."""


def inferred_classes(
    members: Mapping[str, Collection[int]], forward: Sequence[Mapping[int, object]]
) -> Iterator[tuple[int, set[str]]]:
    """The nodes without a class that have two or more relations of the members of some, with these classes.

    A relation tells the classes that nearly all of its first subjects with a class have, of which it has two or more.

    Args:
        members: The members of each class.
        forward: The relations of each node.
    """
    kinds: defaultdict[int, list[str]] = defaultdict(list)
    for kind, nodes in members.items():
        for node in nodes:
            kinds[node].append(kind)
    subjects, told = Counter[int](), defaultdict[int, Counter[str]](Counter)
    for node, own in kinds.items():
        for relation in forward[node]:
            if subjects[relation] < _MOST_READ:
                subjects[relation] += 1
                told[relation].update(own)
    usual = {
        relation: {kind for kind, times in told[relation].items() if times >= _NEARLY_ALL * count}
        for relation, count in subjects.items()
        if count > 1
    }
    for node, facts in enumerate(forward):
        known = [usual[relation] for relation in facts if relation in usual]
        found = set.intersection(*known) if node not in kinds and len(known) > 1 else set()
        if found:
            yield node, found
