"""Answers to questions about news from the facts of a graph.

    answer = NewsAnswers(facts, directory).answer("where was Kestrel's head office in January 2026")
    answer.values      # ("Kansas City",)
    answer.facts       # the facts with their sentences

A question is answered only if a relation covers its words, and a fact of it the rest; else there is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kg.news.fact_search import CHANGE, FactCandidate, FactSearch, asks_of_act, cues
from kg.news.facts import Fact, number_of
from kg.news.question import NewsQuestion, base, parse_question, parts_of
from kg.sentences import asks_of_plans, frames, plain_name
from kg.text import is_or_are

_COMPANIES = frozenset(base(word) for word in ["company", "firm", "business", "airline", "bank", "carmaker"])
_HAPPEN = frozenset(
    base(word) for word in ("go", "through", "happen", "complete", "succeed", "close", "work", "come", "off")
)


@dataclass(frozen=True)
class NewsAnswer:
    """An answer.

    Attributes:
        values: The answers.
        facts: The facts that it rests on.
        why: The reason, where there is no answer.
    """

    values: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    why: str = ""


class NewsAnswers(FactSearch):
    """The facts of a graph as a source of answers."""

    def answer(self, question: str) -> NewsAnswer:
        """Answers a question, or each part of it."""
        values: list[str] = []
        facts: list[Fact] = []
        before: NewsQuestion | None = None
        for part in parts_of(question):
            asked = parse_question(part, self.directory)
            if before is not None:
                self._inherit(asked, before, facts)
            found = self._answered(asked)
            if not found.values:
                return NewsAnswer((), (), found.why)
            if set(found.values) & set(values):
                return NewsAnswer((), (), "two parts of the question have one answer")
            values += found.values
            facts += found.facts
            before = asked
        return NewsAnswer(tuple(values), tuple(facts))

    def _inherit(self, asked: NewsQuestion, before: NewsQuestion, facts: Sequence[Fact]) -> None:
        """Takes over what a second question leaves out: the names and, if it has none, the words."""
        if not asked.entities:
            asked.entities = list(before.entities)
            if facts and facts[-1].object_kind in ("company", "product", "name") and not asked.words:
                asked.entities.append(((facts[-1].object_kind, facts[-1].object), 0))
        if not asked.words:
            asked.words = list(before.words)
        asked.period = asked.period or before.period

    def _answered(self, asked: NewsQuestion) -> NewsAnswer:
        if re.search(r"\bwhy\b", asked.lower):
            return NewsAnswer(why="no reasons are known")
        if asked.unknown:
            return NewsAnswer(why=f"{asked.unknown!r} is no name of the graph")
        people = self.offices.people(asked)
        if people is not None:
            return NewsAnswer(*people)
        if asked.role and not asked.polar:
            found = self.offices.answer(asked)
            if found is not None:
                return NewsAnswer(*found)
            if asked.kinds[:1] in (("person",),):
                return NewsAnswer(why=f"no {asked.role} {is_or_are(asked.role)} known")
            words = " ".join(word for word, _ in asked.words)
            return NewsAnswer(why=f"nothing is known of the {asked.role}" + (f"'s {words}" if words else ""))
        if asked.polar:
            return self._polar(asked)
        if asked.kinds == ("count",) and base(asked.noun) in _COMPANIES:
            return NewsAnswer(why="companies cannot be counted: a source may name others")
        candidates = self.candidates(asked) or self.two_steps(asked)
        if not candidates:
            return NewsAnswer(why=self._missing(asked))
        return self._chosen(asked, candidates)

    # Choice

    def _chosen(self, asked: NewsQuestion, candidates: list[FactCandidate]) -> NewsAnswer:
        """Returns the values that hold at the time of the question."""
        if asked.extreme:
            return self._extreme(asked, candidates)
        listed = asked.plural or (not asked.entities and asked.kinds[:1] == ("company",))
        timed = self._timed(asked, candidates)
        if not timed:
            return NewsAnswer(why="nothing is known of that time")
        if listed:
            kept = _best(timed)
            values = tuple(dict.fromkeys(one.value for one in kept))
            if not asked.plural and len(values) > 1:
                return NewsAnswer(why=f"{len(values)} answers fit")
            return NewsAnswer(values, tuple(one.fact for one in kept))
        kept = _best(timed)
        newest = max(one.fact.published for one in kept)
        relation = frames().relations.get(kept[0].fact.relation)
        if relation is None or relation.single or len(asked.kinds) > 3:
            kept = [one for one in kept if one.fact.published == newest]
        values = tuple(dict.fromkeys(one.value for one in kept))
        merged = {plain_name(value): value for value in values}
        if len(merged) > 1:
            kept = [one for one in kept if one.fact.published == newest]
            merged = {plain_name(one.value): one.value for one in kept}
        if len({one.fact.sentence for one in kept}) == 1 and len(merged) > 1 and kept[0].fact.relation == "founded_by":
            return NewsAnswer(tuple(merged.values()), tuple(one.fact for one in kept))
        if len(merged) != 1:
            return NewsAnswer(why=f"{len(merged)} answers fit: {', '.join(merged.values())}")
        return NewsAnswer(tuple(merged.values()), tuple(one.fact for one in kept))

    def _timed(self, asked: NewsQuestion, candidates: list[FactCandidate]) -> list[FactCandidate]:
        before = re.search(
            r"\b(?:before|prior to|previously|formerly|originally|at first|initially|first)\b", asked.lower
        )
        if before is not None and re.search(r"\b(?:before|previously|formerly|originally|initially)\b", before[0]):
            return self._earlier(asked, candidates)
        if asked.period is None:
            return candidates
        first, last = asked.period.first.isoformat(), asked.period.last.isoformat()
        inside = [one for one in candidates if first <= one.fact.published <= last]
        if inside:
            return inside
        year_only = last[:4] == first[:4] and first.endswith("01-01") and last.endswith("12-31")
        about = [one for one in candidates if re.search(rf"\b{first[:4]}\b", one.fact.sentence)]
        if year_only:
            of_documents = [
                one for one in candidates if any(first[:4] in text for text in self._by_document[one.fact.document])
            ]
            return about or of_documents
        if candidates[0].fact.object_kind == "place" or frames().relations[candidates[0].fact.relation].single:
            earlier = [one for one in candidates if one.fact.published <= last]
            return [one for one in earlier if one.fact.published == max(e.fact.published for e in earlier)] or (
                [one for one in about if one.fact.object_kind != "place"]
            )
        return about

    def _earlier(self, asked: NewsQuestion, candidates: list[FactCandidate]) -> list[FactCandidate]:
        """Returns what held before: the values before the newest, or before the one that the question names."""
        named = {plain_name(entity[1]) for entity, _ in asked.entities}
        replaced = self._replaced(candidates)
        if replaced:
            return replaced
        objects = [one for one in candidates if plain_name(one.value) not in named]
        newest = max((one.fact.published for one in candidates), default="")
        given = [f for f in self.facts if plain_name(f.object) in named and f.relation == candidates[0].fact.relation]
        limit = min((fact.published for fact in given), default=newest)
        older = [one for one in objects if one.fact.published < limit or (given and one.fact.published == limit)]
        previous = [one for one in candidates if one.fact.previous]
        if not older and previous:
            return [FactCandidate(previous[-1].fact, previous[-1].fact.previous, previous[-1].score)]
        return older

    def _replaced(self, candidates: list[FactCandidate]) -> list[FactCandidate]:
        """Returns the newest values that a newer source replaced, of the facts that the candidates' sentences state."""
        sentences = {one.fact.sentence for one in candidates}
        about = {(f.subject, f.relation) for f in self.facts if f.sentence in sentences}
        gone = [f for f in self.facts if (f.subject, f.relation) in about and f.valid_to and f.relation != "departs"]
        kinds = {one.fact.object_kind for one in candidates}
        last = max((f.published for f in gone if f.object_kind in kinds), default="")
        return [
            FactCandidate(f, f.object, candidates[0].score)
            for f in gone
            if f.published == last and f.object_kind in kinds
        ]

    def _extreme(self, asked: NewsQuestion, candidates: list[FactCandidate]) -> NewsAnswer:
        timed = self._timed(asked, candidates)
        numbered = [
            (number_of(one.fact.object), one) for one in timed if one.fact.object_kind in ("money", "percent", "count")
        ]
        known = [(number, one) for number, one in numbered if number is not None]
        if not known:
            return NewsAnswer(why="there are no figures to compare")
        relation = known[0][1].fact.relation
        newest: dict[str, tuple[object, FactCandidate]] = {}
        single = frames().relations[relation].single if relation in frames().relations else False
        for number, one in known:
            if one.fact.relation == relation:
                if single:
                    newest[one.fact.subject] = (number, one)
                else:
                    newest[f"{one.fact.subject} {one.fact.document}"] = (number, one)
        lost = any(word in {base(w) for w in frames().down} for word, _ in asked.words) and relation == "share_change"
        sign = -asked.extreme if lost else asked.extreme
        best = max(newest.values(), key=lambda pair: sign * pair[0])  # type: ignore[operator]
        return NewsAnswer((best[1].fact.subject,), (best[1].fact,))

    def _polar(self, asked: NewsQuestion) -> NewsAnswer:
        """Answers yes or no where a fact says so."""
        words = {word for word, _ in asked.words}
        off = [f for f in self.facts if f.relation == "calls_off_merger_with" and self._both(asked, f)]
        if off and words & _HAPPEN:
            return NewsAnswer(("no",), (off[-1],))
        change = words & CHANGE
        open_question = parse_question(asked.text, self.directory)
        open_question.polar, open_question.kinds = False, ("money", "percent", "count")
        if change:
            wanted = _direction_of(asked)
            open_question.words = [(word, at) for word, at in asked.words if word not in CHANGE]
            found = (
                self._chosen(open_question, self.candidates(open_question) or [])
                if self.candidates(open_question)
                else NewsAnswer()
            )
            fact = found.facts[-1] if found.facts else None
            if fact is not None and fact.direction and wanted:
                return NewsAnswer(("yes" if fact.direction == wanted else "no",), (fact,))
        return self._stated(asked)

    def _stated(self, asked: NewsQuestion) -> NewsAnswer:
        """Answers yes where both named participants stand in a fact of the relation that is asked for."""
        words = [word for word, _ in asked.words]
        of_plans = asks_of_plans(asked.text)
        planned, proposed = None, None
        for fact in reversed(self.facts):
            if fact.relation in frames().relations and self._both(asked, fact):
                cue, _, needs = cues(fact.relation)
                relation = frames().relations[fact.relation]
                ordered = relation.symmetric or self.orientation(asked, fact.subject, relation) != "object"
                asked_for = cue & set(words) and (not needs or needs & set(words)) and ordered
                if not asked_for or not self._covered(asked, fact, words):
                    continue
                if asks_of_act(fact.relation, words):
                    proposed = fact
                    continue
                if fact.is_certain and (of_plans or not fact.status):
                    return NewsAnswer(("yes",), (fact,))
                planned = fact
        if proposed is not None:
            return NewsAnswer(why=f"it is only proposed: {proposed.sentence}")
        if planned is not None:
            return NewsAnswer(why=f"it is only {planned.note}: {planned.sentence}")
        return NewsAnswer(why="no fact says yes or no")

    def _covered(self, asked: NewsQuestion, fact: Fact, words: Sequence[str]) -> bool:
        cue, beside, _ = cues(fact.relation)
        covered = self.coverage(fact, words, cue, beside) is not None
        return covered and (asked.period is None or self._in_period(asked, fact))

    def _in_period(self, asked: NewsQuestion, fact: Fact) -> bool:
        return (
            asked.period is not None
            and asked.period.first.isoformat() <= fact.published <= asked.period.last.isoformat()
        )

    def _both(self, asked: NewsQuestion, fact: Fact) -> bool:
        named = {plain_name(entity[1]) for entity, _ in asked.entities}
        return named >= {plain_name(fact.subject), plain_name(fact.object)}

    def _missing(self, asked: NewsQuestion) -> str:
        """Returns the reason why no relation covers a question."""
        known = {word for name in frames().relations for part in cues(name) for word in part}
        for word, place in asked.words:
            if word not in known and not any(word in words for words in self._document_words.values()):
                return f"{asked.text[place:].split()[0].strip('?.,')!r} is no word of the graph"
        return "no fact covers the question"


def _best(candidates: Sequence[FactCandidate]) -> list[FactCandidate]:
    best = max(one.score for one in candidates)
    return [one for one in candidates if one.score >= best - 0.75]


def _direction_of(asked: NewsQuestion) -> str:
    up = {base(word) for word in frames().up}
    down = {base(word) for word in frames().down}
    words = [word for word, _ in asked.words] + [base(w) for w in re.findall(r"\b(?:up|down)\b", asked.lower)]
    for word in words:
        if word in down:
            return "down"
    return "up" if any(word in up for word in words) else ""
