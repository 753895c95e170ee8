r"""The paths of a graph as a grammar: a language model that is held to it can only write paths that exist.

    >>> print(path_grammar(index, ["Alien"], max_depth=1).text)
    root ::= "Alien" n0
    n0 ::= " -> " ("directed_by -> Ridley Scott" | "release_year -> 1979")

A grammar (GBNF, the notation of llama.cpp) is a trie with shared equal branches: one rule for each entity and its
possible continuations. So it grows with the triples within reach and not with the paths. Names with a common beginning
need no care, because the engine follows all alternatives at once. Where no path leaves the topics, :func:`path_grammar`
raises, as an empty grammar would allow any text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kg.errors import ConfigError, QueryError
from kg.graphs import GraphIndex
from kg.paths import SEPARATOR

MAX_STEPS = 20_000
"""The most steps that a grammar may hold; larger ones take the engine seconds a token."""


class NoPathError(QueryError):
    """No path leaves the topics."""


@dataclass(frozen=True)
class PathGrammar:
    """A grammar and its size.

    Attributes:
        text: The grammar in GBNF.
        rules: Its rules, without the first.
        steps: Its steps: a relation and the entity after it.
        relations: The relations on its paths, in the graph's order.
    """

    text: str
    rules: int
    steps: int
    relations: tuple[str, ...] = ()


_Follow = Mapping[int, "_State"]


@dataclass(frozen=True)
class _State:
    """The possible continuations: some relations, or the end.

    Attributes:
        number: Unique.
        is_end: Whether a path may end here.
        following: For each relation what may follow after it; ``None`` for any relation.
        after_any: The continuations after any relation, where ``following`` is ``None``.
    """

    number: int
    is_end: bool
    following: _Follow | None = None
    after_any: _State | None = None


def path_grammar(
    index: GraphIndex,
    topics: Sequence[str],
    *,
    max_depth: int = 2,
    along: Iterable[Sequence[str]] | None = None,
    before: str = "",
    max_steps: int = MAX_STEPS,
) -> PathGrammar:
    """The grammar of the paths from some entities.

    Args:
        index: The graph.
        topics: Names of the entities that paths begin with.
        max_depth: Steps of a path at the most; at least 1.
        along: Only paths along one of these sequences of relations; by default along any.
        before: The text before the path.
        max_steps: The most steps that the grammar may hold.

    Raises:
        ConfigError: A setting is out of its range, or the grammar would be larger than ``max_steps``.
        NoPathError: No such path leaves the topics.
        QueryError: A topic or a relation is not in the graph.
    """
    if max_depth < 1:
        raise ConfigError(f"max_depth must be at least 1, got {max_depth}")
    start = _any_relation(max_depth) if along is None else _given_relations(index, along)
    rules = _Rules(index, max_steps)
    starts = []
    for topic in dict.fromkeys(topics):
        rule = rules.of(int(index.ids([topic])[0]), start)
        if rule is not None:
            starts.append((topic, f" {rule}"))
    if not starts:
        raise NoPathError(f"no path leaves {', '.join(topics) or 'the topics, of which there are none'}")
    start_text = f"{quoted(before)} " if before else ""
    lines = [
        f"root ::= {start_text}{_branches(starts)}",
        *(f"{name} ::= {body}" for name, body in rules.bodies.items()),
    ]
    relations = tuple(index.relations[number] for number in sorted(rules.relations))
    return PathGrammar("\n".join(lines), len(rules.bodies), rules.steps, relations)


def _any_relation(depth: int) -> _State:
    state = _State(0, is_end=True, following={})
    for number in range(1, depth + 1):
        state = _State(number, is_end=number < depth, after_any=state)
    return state


def _given_relations(index: GraphIndex, sequences: Iterable[Sequence[str]]) -> _State:
    """The trie of some sequences of relations."""
    numbers = iter(range(1 << 30))

    def state(rests: list[tuple[int, ...]], is_start: bool = False) -> _State:
        number = next(numbers)
        firsts = dict.fromkeys(rest[0] for rest in rests if rest)
        following = {first: state([rest[1:] for rest in rests if rest and rest[0] == first]) for first in firsts}
        return _State(number, is_end=not is_start and any(not rest for rest in rests), following=following)

    return state([tuple(index.relation(name) for name in sequence) for sequence in sequences], is_start=True)


class _Rules:
    """The rules of one grammar, collected while the graph is walked."""

    def __init__(self, index: GraphIndex, max_steps: int) -> None:
        self.index = index
        self.max_steps = max_steps
        self.steps = 0
        self.bodies: dict[str, str] = {}
        self.relations: set[int] = set()
        self._names: dict[tuple[int, int], str | None] = {}

    def of(self, entity: int, state: _State) -> str | None:
        """The rule of what may follow an entity; ``None`` where nothing may."""
        key = entity, state.number
        if key not in self._names:
            self._names[key] = self._new(entity, state)
        return self._names[key]

    def _new(self, entity: int, state: _State) -> str | None:
        edges = self.index.neighbours(entity)
        steps: list[tuple[str, str]] = []
        self.steps += self._allowed(edges.relation, state)
        if self.steps > self.max_steps:
            raise ConfigError(
                f"max_steps must be at least the steps of all paths, which are more than {self.max_steps}: lower "
                "max_depth, or say along which relations"
            )
        for relation, target in zip(edges.relation.tolist(), edges.target.tolist(), strict=True):
            after = state.after_any if state.following is None else state.following.get(relation)
            if after is None:
                continue
            rule = self.of(target, after)
            if rule is None and not after.is_end:
                continue
            text = f"{self.index.relations[relation]}{SEPARATOR}{self.index.name(target)}"
            steps.append((text, self._continuation(rule, after)))
            self.relations.add(relation)
        if not steps:
            return None
        name = f"n{len(self.bodies)}"
        self.bodies[name] = f"{quoted(SEPARATOR)} {_branches(steps)}"
        return name

    def _allowed(self, relations: np.ndarray[tuple[int], np.dtype[np.int32]], state: _State) -> int:
        if state.following is None:
            return len(relations)
        return int(np.isin(relations, list(state.following)).sum())

    def _continuation(self, rule: str | None, after: _State) -> str:
        if rule is None:
            return ""
        return f" {rule}?" if after.is_end else f" {rule}"


def _branches(entries: Sequence[tuple[str, str]]) -> str:
    """Texts with what follows each, as alternatives that part where the texts do; the texts are distinct."""
    return _branch(sorted(entries), 0)


def _branch(entries: Sequence[tuple[str, str]], start: int) -> str:
    if len(entries) == 1:
        text, following = entries[0]
        return f"{quoted(text[start:])}{following}"
    common = _common(entries[0][0], entries[-1][0], start)
    options = []
    if len(entries[0][0]) == common:
        # One name is the beginning of others; an empty text is written as what follows alone.
        options.append(entries[0][1].strip() or '""')
        entries = entries[1:]
    groups: dict[str, list[tuple[str, str]]] = {}
    for entry in entries:
        groups.setdefault(entry[0][common], []).append(entry)
    options += [_branch(group, common) for group in groups.values()]
    together = f"({' | '.join(options)})"
    return f"{quoted(entries[0][0][start:common])} {together}" if common > start else together


def _common(first: str, last: str, start: int) -> int:
    """Returns the end of the common beginning of sorted texts, from the first and the last."""
    end = min(len(first), len(last))
    place = start
    while place < end and first[place] == last[place]:
        place += 1
    return place


def quoted(text: str) -> str:
    """A text as a literal of a grammar."""
    return '"' + "".join(_escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    code = ord(character)
    return f"\\x{code:02X}" if code < 0x20 or code == 0x7F else character
