"""Sentences with their gold facts as examples, and the score of what a program extracts.

>>> examples = extraction_examples(documents, gold)
>>> score_facts([example.gold for example in examples], [program(section=e.section).facts for e in examples])
FactScore(gold=186, found=120, right=80)

A fact is right if its subject and object are those of a gold fact of the sentence, and its relation too where the gold
relation is one of the schema. Gold facts in words of their own have no such relation, so theirs is not compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import dspy

from kg.errors import SchemaError
from kg.investments import NewsDocument
from kg.news import Fact, number_of
from kg.sentences import Directory, frames, plain_name
from programs.advisor import Section, sections_of

KEPT_AS_DEMONSTRATION = 0.5
"""The least score of a sentence whose reply becomes a demonstration."""


@dataclass(frozen=True)
class GoldFact:
    """A fact that a person read in a document.

    Attributes:
        document: The name of the document, without its ending.
        subject: Its subject.
        relation: Its relation, as the schema names it or in words of its own.
        object: Its object.
        sentence: The sentence that states it.
    """

    document: str
    subject: str
    relation: str
    object: str
    sentence: str


@dataclass(frozen=True)
class FactScore:
    """Counts of facts.

    Attributes:
        gold: Gold facts.
        found: Facts that were extracted.
        right: Those of them that are gold.
    """

    gold: int
    found: int
    right: int

    @property
    def precision(self) -> float:
        """The share of the extracted facts that are gold, in [0, 1]; 1 where there are none."""
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """The share of the gold facts that were extracted, in [0, 1]; 1 where there are none."""
        return self.right / self.gold if self.gold else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def __add__(self, other: FactScore) -> FactScore:
        return FactScore(self.gold + other.gold, self.found + other.found, self.right + other.right)


def extraction_examples(documents: Iterable[NewsDocument], gold: Iterable[GoldFact]) -> list[dspy.Example]:
    """Returns an example for each sentence that has a name.

    Args:
        documents: The documents.
        gold: Their facts; those of other documents are left out.
    """
    by_document: defaultdict[str, list[GoldFact]] = defaultdict(list)
    for fact in gold:
        by_document[fact.document.removesuffix(".txt")].append(fact)
    examples = []
    for document in documents:
        facts = by_document[document.name.removesuffix(".txt")]
        for section in sections_of(document, Directory()):
            if section.names:
                stated = tuple(fact for fact in facts if _is_of(fact, section))
                examples.append(dspy.Example(section=section, gold=stated).with_inputs("section"))
    return examples


def demonstration(example: dspy.Example) -> dspy.Example | None:
    """Returns a sentence with its gold facts as a model should write them; ``None`` where it cannot write them all."""
    section: Section = example.section
    lines = []
    for fact in example.gold:
        line = _written(fact, section)
        if line is None:
            return None
        lines.append(line)
    inputs = section.inputs()
    return dspy.Example(**inputs, facts=list(dict.fromkeys(lines))).with_inputs(*inputs)


def score_sentence(gold: Sequence[GoldFact], found: Sequence[Fact]) -> FactScore:
    """Returns the counts of one sentence."""
    left = list(gold)
    right = 0
    for fact in found:
        hit = next((one for one in left if _equal(one, fact)), None)
        if hit is not None:
            left.remove(hit)
            right += 1
    return FactScore(len(gold), len(found), right)


def score_facts(gold: Sequence[Sequence[GoldFact]], found: Sequence[Sequence[Fact]]) -> FactScore:
    """Returns the counts of several sentences together."""
    total = FactScore(0, 0, 0)
    for one, other in zip(gold, found, strict=True):
        total += score_sentence(one, other)
    return total


def fact_metric(example: dspy.Example, prediction: Any, trace: Any = None) -> float | bool:
    """Returns F1 of a sentence; while demonstrations are collected, whether it is one.

    Args:
        example: With ``gold``.
        prediction: With ``facts``.
        trace: Given by DSPy while it collects demonstrations.
    """
    score = score_sentence(example.gold, getattr(prediction, "facts", ())).f1
    return score if trace is None else bool(example.gold) and score >= KEPT_AS_DEMONSTRATION


def _is_of(fact: GoldFact, section: Section) -> bool:
    one, other = " ".join(fact.sentence.split()), section.text
    return bool(one) and (one in other or other in one)


def _equal(gold: GoldFact, fact: Fact) -> bool:
    if not _same(gold.subject, fact.subject) or not _same(gold.object, fact.object):
        return False
    return gold.relation not in frames().relations or gold.relation == fact.relation


def _same(one: str, other: str) -> bool:
    """Whether two names, amounts or days are equal; a shorter form of a name is equal to the name."""
    first, second = plain_name(one), plain_name(other)
    if first == second:
        return True
    if any(character.isdigit() for character in one + other):
        number = number_of(one)
        return number is not None and number == number_of(other) and "-" not in one[1:] + other[1:]
    shorter, longer = sorted((first, second), key=len)
    return bool(shorter) and f" {longer} ".startswith(f" {shorter} ")


def _written(fact: GoldFact, section: Section) -> str | None:
    """Returns a gold fact in the form of a reply; ``None`` if the sentence's names and words cannot write it."""
    subject = next((name for name in section.names if _same(fact.subject, name)), None)
    value = next((name for name in (*section.names, *section.values) if _same(fact.object, name)), fact.object)
    relation = fact.relation.replace("_", " ")
    if subject is None:
        return None
    line = f"{subject} | {relation} | {value}"
    try:
        section.fact(line, 1.0)
    except SchemaError:
        return None
    return line
