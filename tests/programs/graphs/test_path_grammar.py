from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.errors import ConfigError, QueryError
from kg.graphs.index import GraphIndex
from programs.graphs.path_grammar import NoPathError, path_grammar, quoted

FILMS = GraphIndex.from_triples(
    [
        ("Alien", "directed_by", "Scott"),
        ("Alien", "genre", "Horror"),
        ("Aliens", "directed_by", "Cameron"),
        ("Aliens", "genre", "Horror"),
        ("Scott", "born_in", "England"),
    ]
)


class Reader:
    """Everything that a grammar lets be written, read from the grammar itself."""

    def __init__(self, text: str) -> None:
        self.rules = dict(line.split(" ::= ", 1) for line in text.split("\n"))
        assert len(self.rules) == len(text.split("\n"))

    def all(self, rule: str = "root") -> list[str]:
        found, rest = self._alternatives(self._tokens(self.rules[rule]))
        assert rest == []
        return found

    def _tokens(self, body: str) -> list[str]:
        pattern = r'"(?:[^"\\]|\\.)*"|[()|?]|n\d+'
        assert re.sub(pattern, "", body).strip() == ""
        return re.findall(pattern, body)

    def _alternatives(self, tokens: list[str]) -> tuple[list[str], list[str]]:
        found: list[str] = []
        while True:
            some, tokens = self._sequence(tokens)
            found += some
            if not tokens or tokens[0] != "|":
                return found, tokens
            tokens = tokens[1:]

    def _sequence(self, tokens: list[str]) -> tuple[list[str], list[str]]:
        found = [""]
        while tokens and tokens[0] not in "|)":
            token, *tokens = tokens
            if token == "(":
                some, tokens = self._alternatives(tokens)
                assert tokens[0] == ")"
                tokens = tokens[1:]
            elif token.startswith('"'):
                some = [read_literal(token)]
            else:
                some = self.all(token)
            if tokens and tokens[0] == "?":
                some, tokens = ["", *some], tokens[1:]
            found = [first + second for first in found for second in some]
        return found, tokens


def read_literal(text: str) -> str:
    code = re.sub(r"\\x([0-9A-F]{2})|\\(.)", lambda m: chr(int(m[1], 16)) if m[1] else m[2], text[1:-1])
    return str(code)


def walks(index: GraphIndex, topic: str, depth: int) -> Iterator[str]:
    """Every path there is, found without the grammar."""
    edges = index.neighbours(int(index.ids([topic])[0]))
    for relation, target in zip(edges.relation, edges.target, strict=True):
        step = f" -> {index.relations[relation]} -> {index.name(target)}"
        yield topic + step
        if depth > 1:
            for rest in walks(index, index.name(target), depth - 1):
                yield topic + step + rest.removeprefix(index.name(target))


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_grammar_has_every_path_once_and_no_other(depth: int) -> None:
    grammar = path_grammar(FILMS, ["Alien", "Scott"], max_depth=depth)
    written = Reader(grammar.text).all()
    assert len(written) == len(set(written))
    assert set(written) == {path for topic in ("Alien", "Scott") for path in walks(FILMS, topic, depth)}


names = st.text(st.sampled_from('ab"\\|()é\t->?'), min_size=1, max_size=4).filter(lambda name: " -> " not in name)


@given(st.lists(st.tuples(names, names, names), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_any_name_is_written_as_it_is(triples: list[tuple[str, str, str]]) -> None:
    index = GraphIndex.from_triples(triples)
    topic = triples[0][0]
    written = Reader(path_grammar(index, [topic], max_depth=2).text).all()
    assert set(written) == set(walks(index, topic, 2))


def test_paths_can_be_kept_to_some_relations() -> None:
    grammar = path_grammar(FILMS, ["Alien"], along=[["genre", "^genre"], ["directed_by"]])
    assert set(Reader(grammar.text).all()) == {
        "Alien -> genre -> Horror -> ^genre -> Alien",
        "Alien -> genre -> Horror -> ^genre -> Aliens",
        "Alien -> directed_by -> Scott",
    }
    assert grammar.relations == ("directed_by", "genre", "^genre")


def test_equal_branches_are_shared() -> None:
    wide = GraphIndex.from_triples(
        [("t", "r", f"m{n}") for n in range(50)] + [(f"m{n}", "s", "hub") for n in range(50)] + [("hub", "q", "end")]
    )
    grammar = path_grammar(wide, ["t"], along=[["r", "s", "q"]])
    assert grammar.steps == 50 + 50 + 1
    assert len(Reader(grammar.text).all()) == 50


def test_no_path_is_refused() -> None:
    with pytest.raises(NoPathError, match="no path leaves Horror"):
        path_grammar(FILMS, ["Horror"], along=[["directed_by"]])
    with pytest.raises(NoPathError, match="there are none"):
        path_grammar(FILMS, [])
    with pytest.raises(QueryError, match="entity 'Alien 3' is not in the graph"):
        path_grammar(FILMS, ["Alien 3"])


def test_settings_out_of_their_range_are_refused() -> None:
    with pytest.raises(ConfigError, match="max_depth must be at least 1, got 0"):
        path_grammar(FILMS, ["Alien"], max_depth=0)
    with pytest.raises(ConfigError, match="max_steps must be at least the steps of all paths"):
        path_grammar(FILMS, ["Alien"], max_depth=3, max_steps=4)


def test_literals_are_escaped() -> None:
    assert quoted('a"b\\c\n\x7fé') == '"a\\"b\\\\c\\x0A\\x7Fé"'
