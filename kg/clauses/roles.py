"""Roles of words in clauses: who acts, what is acted on, and prepositions, whatever the grammatical voice.

"Talbridge was bought by Corvex", "Corvex, which bought Talbridge", "the purchase of Talbridge by Corvex":
Corvex is the agent and Talbridge the patient of each.
"""

from __future__ import annotations

from kg.clauses.lexicon import is_phrase
from kg.clauses.parser import SyntaxToken, SyntaxTree

AGENT, PATIENT, EQUAL, OTHER = "agent", "patient", "equal", ""

_THROUGH = frozenset(("conj", "appos", "compound", "nmod", "flat", "amod", "nummod", "quantmod", "det", "predet"))
_CHAIN = frozenset(("xcomp", "conj", "advcl", "pcomp", "ccomp"))


def role_of(parse: SyntaxTree, place: int, predicate: int) -> str:
    """Returns the role of a word in the clause of a predicate.

    Args:
        parse: The sentence.
        place: The word.
        predicate: A verb or noun.

    Returns:
        ``agent``, ``patient``, ``equal``, a preposition as ``for``, or ``""`` for any other relation.
    """
    if place == predicate:
        return EQUAL
    above = [place, *parse.ancestors(place)]
    if predicate in above:
        return _below(parse, above[above.index(predicate) - 1], predicate)
    return _beside(parse, place, predicate)


def _below(parse: SyntaxTree, child: int, predicate: int) -> str:
    token, head = parse.tokens[child], parse.tokens[predicate]
    relation = token.relation
    if relation == "nsubj":
        return EQUAL if head.part == "NOUN" else AGENT
    if relation in ("nsubjpass", "dobj", "oprd"):
        return PATIENT
    if relation == "agent":
        return AGENT
    if relation == "prep":
        if head.part == "NOUN" and token.lemma in ("of", "by"):
            return PATIENT if token.lemma == "of" else AGENT
        return token.lemma
    if relation == "poss":
        return AGENT
    if relation in ("attr", "appos"):
        return EQUAL
    if relation == "compound" and head.part == "NOUN":
        return PATIENT
    return OTHER


def _beside(parse: SyntaxTree, place: int, predicate: int) -> str:
    """The role of a word outside of a predicate's own tree: the subject of "agreed" also buys in "agreed to buy"."""
    token = parse.tokens[predicate]
    passive = is_passive(parse, predicate)
    current = predicate
    while parse.tokens[current].relation in _CHAIN:
        head = parse.tokens[current].head
        subjects = [child for child in parse.children[head] if parse.tokens[child].relation in ("nsubj", "nsubjpass")]
        if any(_inside(parse, place, subject) for subject in subjects):
            own = [c for c in parse.children[predicate] if parse.tokens[c].relation in ("nsubj", "nsubjpass")]
            return OTHER if own else PATIENT if passive else AGENT
        current = head
    if token.relation in ("relcl", "acl") and _inside(parse, place, token.head):
        if token.relation == "acl":
            return PATIENT if token.text.lower().endswith(("ed", "n", "t", "d")) else AGENT
        for child in parse.children[predicate]:
            other = parse.tokens[child]
            if other.lemma in ("who", "which", "that", "whom"):
                return _below(parse, child, predicate)
        return PATIENT
    if token.relation in ("appos", "attr") or _is_equated(parse, place, predicate):
        return EQUAL
    return OTHER


def _inside(parse: SyntaxTree, place: int, root: int) -> bool:
    """Whether a word is a name's head or joined to it: an apposition, a part of a compound, a coordinate."""
    if place == root:
        return True
    while parse.tokens[place].relation in _THROUGH and parse.tokens[place].head != place:
        place = parse.tokens[place].head
        if place == root:
            return True
    return False


def _is_equated(parse: SyntaxTree, place: int, predicate: int) -> bool:
    """Whether "is" joins a word with a noun: "Tait is the head of Talbridge"."""
    one, other = parse.tokens[place], parse.tokens[predicate]
    same = one.head == other.head and parse.tokens[one.head].lemma in ("be", "become", "remain")
    return same and {one.relation, other.relation} <= {"nsubj", "attr", "acomp"}


def is_passive(parse: SyntaxTree, place: int) -> bool:
    """Whether a verb is passive."""
    children = {parse.tokens[child].relation for child in parse.children[place]}
    return bool(children & {"nsubjpass", "auxpass", "agent"})


_LEAVE = frozenset(
    [
        "leave",
        "resign",
        "retire",
        "depart",
        "quit",
        "step_down",
        "stand_down",
        "oust",
        "fire",
        "dismiss",
        "departure",
        "resignation",
        "retirement",
        "exit",
        "former",
        "outgoing",
        "sack",
        "remove",
        "stand_aside",
        "step_aside",
    ]
)
_ARRIVE = frozenset(
    [
        "appoint",
        "name",
        "elect",
        "hire",
        "promote",
        "choose",
        "join",
        "become",
        "appointment",
        "start",
        "begin",
        "take_over",
        "recruit",
        "poach",
        "new",
        "incoming",
        "return",
    ]
)
_FOLLOW = frozenset(["succeed", "replace", "follow"])


def moves_of(parse: SyntaxTree, place: int) -> tuple[float, float]:
    """Returns whether a person leaves an office in a sentence, and whether the person takes one; 0 or 1 each."""
    leaving = arriving = 0.0
    for token in parse.tokens:
        words = {token.lemma, with_particle(parse, token)}
        if token.part not in ("VERB", "NOUN", "ADJ") or not words & (_LEAVE | _ARRIVE | _FOLLOW):
            continue
        role = role_of(parse, place, token.place)
        if ("take_over" in words and role == "from") or (words & _LEAVE and role in (AGENT, PATIENT, "of")):
            leaving = 1.0
        elif words & _ARRIVE and role in (AGENT, PATIENT, "of"):
            arriving = 1.0
        elif words & _FOLLOW and role in (AGENT, PATIENT):
            leaving, arriving = (leaving, 1.0) if role == AGENT else (1.0, arriving)
    return leaving, arriving


def clause_of(parse: SyntaxTree, place: int) -> int:
    """Returns the nearest verb at or above a word; the root if there is none."""
    for one in (place, *parse.ancestors(place)):
        if parse.tokens[one].part == "VERB":
            return one
        last = one
    return last


def is_negated(parse: SyntaxTree, place: int) -> bool:
    """Whether a verb is negated."""
    return any(parse.tokens[child].relation == "neg" for child in parse.children[place])


def with_particle(parse: SyntaxTree, token: SyntaxToken) -> str:
    """Returns a verb with its particle, "step_down", a noun with its compound, "head_office", or a lemma."""
    if token.part == "NOUN" and token.place and parse.tokens[token.place - 1].head == token.place:
        before = parse.tokens[token.place - 1]
        if before.relation in ("compound", "amod") and before.part in ("NOUN", "ADJ"):
            phrase = f"{before.lemma}_{token.lemma}"
            return phrase if is_phrase(phrase) else token.lemma
    if token.part == "VERB":
        for child in parse.children[token.place]:
            other = parse.tokens[child]
            if other.relation == "prt" or (other.relation in ("advmod", "acomp") and other.place == token.place + 1):
                return f"{token.lemma}_{other.lemma}"
    return token.lemma


def agreement(one: str, other: str) -> tuple[float, float]:
    """Returns whether two roles are the same, and whether they exclude each other."""
    if one == OTHER or other == OTHER:
        return 0.0, 0.0
    if one == other:
        return 1.0, 0.0
    if {one, other} == {AGENT, PATIENT}:
        return 0.0, 1.0
    return 0.0, 0.3 if EQUAL not in (one, other) else 0.0
