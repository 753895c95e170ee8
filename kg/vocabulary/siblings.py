"""Classes that stand beside each other, such as violins and cellos: one noun may mean the members of all of them.

>>> siblings_of(graph)
((0, 1, 4),)
"""

from __future__ import annotations

from collections import Counter

from kg.facts import FactGraph

_LOOKED_AT = 30
_SHARED, _LEAST = 0.5, 2
"""The share of the relations of two classes that both have at least, and the least number of these."""


def siblings_of(graph: FactGraph) -> tuple[tuple[int, ...], ...]:
    """The groups of classes whose members have about the same relations and no common member, by their numbers."""
    groups: list[list[int]] = []
    relations = [_relations_of(graph, kind) for kind in range(len(graph.classes))]
    members = [set(one.members) for one in graph.classes]
    for kind, own in enumerate(relations):
        for group in groups:
            if all(_are_alike(own, relations[other]) and not members[kind] & members[other] for other in group):
                group.append(kind)
                break
        else:
            groups.append([kind])
    return tuple(tuple(group) for group in groups if len(group) > 1)


def _relations_of(graph: FactGraph, kind: int) -> frozenset[int]:
    """The relations that at least half of the members of a class have."""
    some = graph.classes[kind].members[:_LOOKED_AT]
    counts = Counter(relation for node in some for relation, inverse in graph.steps(node) if not inverse)
    return frozenset(relation for relation, count in counts.items() if 2 * count >= len(some))


def _are_alike(one: frozenset[int], other: frozenset[int]) -> bool:
    shared = len(one & other)
    return shared >= _LEAST and shared >= _SHARED * len(one | other)
