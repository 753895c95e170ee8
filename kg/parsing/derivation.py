"""A derivation of a question: the query so far, the words that it explains, and the costs of its steps.

>>> QueryDerivation(NamedNodes((line,)), words=0b100, cost=0.06)
QueryDerivation(query=NamedNodes(nodes=(17,)), words=4, items=(), ...)
"""

from __future__ import annotations

from dataclasses import dataclass

from kg.algebra import Query
from kg.vocabulary import NodeMention


@dataclass(frozen=True)
class DerivationCosts:
    """Costs of a derivation.

    Attributes:
        unsaid: Of a relation that no word names.
        unsaid_class: Of a class that no word names.
        left: Of a word of weight 1 that nothing explains.
        step: Of each operation.
        hidden: Of a relation in the middle of a condition of two steps.
        everyone: Of all people as the set that "who" asks of.
        unmeasured: Of all nodes with some number, where no number of the graph is one that the adjective measures.
        general: Of the members of all classes that a more general noun names.
        implied: The support of a step that is the only one to the kind of answer that is asked for, in [0, 1].
        sensed: The same where the whole question is most like the step, of those to the kind of answer asked for.
        sensed_untyped: The same of all steps, where the question asks for no kind of answer.
        unknown: The share of its weight that a word which no name is like loses to a step of this support.
        otherwise: The share of its implied support that a relation has where the words name another one.
        condition: That of a condition which a whole name or a number with its unit states.
        kind: The support of the relation from things to the kind that a noun names.
        absorbed: The share of a verb's weight that a relation which no word says takes away.
        measured: Of all nodes with some number as the set that is asked about, unless an adjective selects from it.
        again: The share of its likeness that an item has with a further phrase.
        against: Of a relation that is followed against the order of the words.
        joint: The support of a step to a node that only joins others, in [0, 1].
        event: The same of a step to an event.
        owned: Of a relation that a noun names and that is followed the other way: "its child" for ``parent``.
        both: Of an "or" between two conditions of which a derivation requires both, or leaves one out.
        measure: Of an adjective beside a property that it does not measure ("largest by visitors").
    """

    unsaid: float = 0.9
    unsaid_class: float = 0.6
    left: float = 1.0
    step: float = 0.06
    hidden: float = 0.35
    everyone: float = 0.3
    unmeasured: float = 0.7
    general: float = 0.15
    measure: float = 0.4
    joint: float = 0.9
    event: float = 0.6
    implied: float = 0.5
    sensed: float = 0.8
    sensed_untyped: float = 0.7
    unknown: float = 0.8
    otherwise: float = 0.3
    condition: float = 0.75
    kind: float = 0.85
    absorbed: float = 0.4
    measured: float = 0.8
    again: float = 0.3
    against: float = 0.7
    owned: float = 1.2
    both: float = 4.0


@dataclass(frozen=True)
class QueryDerivation:
    """A derivation.

    Attributes:
        query: What it denotes.
        words: The words that it explains fully, as a bit mask.
        items: The relations and classes that it uses.
        final: The items that say what its nodes are.
        cost: The costs of its steps, those of words and items left out.
        mentions: The names and references that it uses.
        implied: The support of each item by what else could be asked, in [0, 1].
        pending: A cost that a superlative takes away.
        replaced: Whether it is an earlier question with something replaced.
    """

    query: Query
    words: int = 0
    items: tuple[int, ...] = ()
    final: tuple[int, ...] = ()
    cost: float = 0.0
    mentions: tuple[NodeMention, ...] = ()
    implied: tuple[float, ...] = ()
    pending: float = 0.0
    replaced: bool = False
