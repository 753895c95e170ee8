from __future__ import annotations

from kg.graphs.naming import LABELS, OTHER_LABELS, Triple, local_name, name_triples

X = "http://x/"
LABEL, ALSO = LABELS[0], OTHER_LABELS[0]


def label(node: str, text: str, language: str = "", predicate: str = LABEL) -> Triple:
    return Triple(X + node, predicate, text, is_literal=True, language=language)


def edge(subject: str, relation: str, value: str) -> Triple:
    return Triple(X + subject, X + relation, X + value, is_literal=False)


def test_labels_name_nodes_and_relations_and_are_no_edges() -> None:
    named = name_triples([edge("a", "p", "b"), label("a", "Anna"), label("p", "knows"), label("b", "Bea", "de")])
    assert list(named.triples) == [("Anna", "knows", "Bea")]
    assert named.names == {X + "a": "Anna", X + "b": "Bea"}


def test_english_goes_first_and_other_labels_are_kept() -> None:
    statements = [
        edge("a", "p", "b"),
        label("a", "Wien", "de"),
        label("a", "Vienna", "en"),
        label("a", "Beč", "", ALSO),
    ]
    named = name_triples(statements)
    assert named.names[X + "a"] == "Vienna"
    assert named.other_names == {"Wien": ("Vienna",), "Beč": ("Vienna",)}


def test_equal_names_are_told_apart() -> None:
    named = name_triples([edge("ohio/Springfield", "p", "b"), edge("oregon/Springfield", "p", "b")])
    assert [triple[0] for triple in named.triples] == [
        f"Springfield <{X}ohio/Springfield>",
        f"Springfield <{X}oregon/Springfield>",
    ]


def test_a_literal_is_never_taken_for_an_entity() -> None:
    literal = Triple(X + "a", X + "says", "b", is_literal=True)
    assert list(name_triples([edge("a", "p", "b"), literal]).triples) == [("a", "p", "b"), ("a", "says", '"b"')]


def test_names_fit_into_a_path() -> None:
    named = name_triples([edge("a", "p", "b"), label("a", "x -> y\n z")])
    assert list(named.triples) == [("x → y z", "p", "b")]


def test_local_names() -> None:
    assert local_name("http://x/y#directed_by") == "directed_by"
    assert local_name("http://x/y/Ludwig%20II/") == "Ludwig II"
    assert local_name("_:b0") == "_:b0"
    assert local_name("http://") == "http:"
    assert local_name("urn:isbn:0451450523") == "0451450523"
    assert local_name("http://x/Category:Films") == "Category:Films"
