"""Answers to questions about news from the facts of a graph.

    answer = NewsAnswers(facts, directory).answer("where was Kestrel's head office in January 2026")
    answer.values      # ("Kansas City",)
    answer.facts       # the facts with their sentences

A question is answered only if a relation covers its words, and a fact of it the rest; else there is no answer.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from kg.news.facts import Fact, number_of
from kg.news.language import Relation, frames, language
from kg.news.names import Directory, Entity, plain_name
from kg.news.offices import Offices
from kg.news.question import NewsQuestion, base, base_words, parse_question, parts_of

_CHANGE = frozenset(
    base(word)
    for word in [
        "raise",
        "lift",
        "increase",
        "rise",
        "up",
        "more",
        "grow",
        "higher",
        "gain",
        "improve",
        "better",
        "cut",
        "lower",
        "fall",
        "drop",
        "down",
        "less",
        "decline",
        "decrease",
        "reduce",
        "trim",
        "worse",
        "shrink",
        "lose",
        "go",
        "make",
        "have",
    ]
)
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


@dataclass(frozen=True)
class _Candidate:
    fact: Fact
    value: str
    score: float


@cache
def _cues(name: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Returns the words that ask for a relation, the words beside them, and the words it needs."""
    relation = frames().relations[name]
    words = _word_set(relation.words)
    beside = _word_set((*relation.also, *relation.subject, *relation.object))
    return words, beside, _word_set(relation.needs)


def _word_set(words: Iterable[str]) -> frozenset[str]:
    return frozenset(base(part) for word in words for part in (*word.split(), word) if " " not in part)


class NewsAnswers:
    """The facts of a graph as a source of answers.

    Args:
        facts: The facts.
        directory: The names.
    """

    def __init__(self, facts: Sequence[Fact], directory: Directory) -> None:
        self.facts = sorted(facts, key=lambda fact: (fact.published, fact.document))
        self.directory = directory
        self.offices = Offices(self.facts)
        self._by_document: defaultdict[str, list[str]] = defaultdict(list)
        for fact in self.facts:
            self._by_document[fact.document].append(fact.sentence)
        self._document_words = {name: base_words(" ".join(set(texts))) for name, texts in self._by_document.items()}
        self._sentence_words: dict[str, frozenset[str]] = {}

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
            values += [value for value in found.values if value not in values]
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
        if asked.role and not asked.polar:
            found = self.offices.answer(asked)
            if found is not None:
                return NewsAnswer(*found)
            if asked.kinds[:1] in (("person",),):
                return NewsAnswer(why=f"no {asked.role} is known")
            return NewsAnswer(why=f"nothing is known of the {asked.role}'s {' '.join(w for w, _ in asked.words)}")
        if asked.polar:
            return self._polar(asked)
        candidates = self._candidates(asked) or self._two_steps(asked)
        if not candidates:
            return NewsAnswer(why=self._missing(asked))
        return self._chosen(asked, candidates)

    # Candidates

    def _candidates(self, asked: NewsQuestion, extra: frozenset[str] = frozenset()) -> list[_Candidate]:
        """Returns the facts of the relation that the words of a question ask for."""
        words = [word for word, _ in asked.words if word not in extra]
        found: list[_Candidate] = []
        for name, relation in frames().relations.items():
            cue, beside, needs = _cues(name)
            if not cue & set(words) or (needs and not needs & set(words)):
                continue
            for fact in self.facts:
                if fact.relation == name:
                    found += self._fits(asked, fact, relation, words, cue, beside)
        found += self._counts(asked, words)
        best = max((one.score for one in found), default=0)
        names = {one.fact.relation for one in found if one.score >= best - 0.01}
        return [one for one in found if one.fact.relation in names and one.score > best - 1.5]

    def _fits(
        self,
        asked: NewsQuestion,
        fact: Fact,
        relation: Relation,
        words: Sequence[str],
        cue: frozenset[str],
        beside: frozenset[str],
    ) -> list[_Candidate]:
        score = self._coverage(fact, words, cue, beside)
        if score is None or not self._names_fit(asked, fact):
            return []
        slots = self._slots(asked, fact, relation)
        direct = {plain_name(fact.subject), plain_name(fact.object), plain_name(fact.company)}
        named = sum(plain_name(entity[1]) in direct for entity, _ in asked.entities)
        return [_Candidate(fact, value, score + named + bonus) for value, bonus in slots]

    def _coverage(self, fact: Fact, words: Sequence[str], cue: frozenset[str], beside: frozenset[str]) -> float | None:
        """Returns the part of a question's words that a fact covers, or ``None`` if one is covered by nothing."""
        sentence = self._sentence_words.setdefault(fact.sentence, base_words(fact.sentence))
        document = self._document_words[fact.document]
        names = base_words(f"{fact.subject} {fact.object}")
        score = 0.0
        for word in words:
            if word in cue:
                score += 1.0
            elif word in beside or word in names:
                score += 0.8
            elif word in sentence:
                score += 0.7
            elif word in document:
                score += 0.2
            else:
                return None
        return score / max(len(words), 1) * 2

    def _names_fit(self, asked: NewsQuestion, fact: Fact) -> bool:
        """Whether the names of a question are in a fact, one of them as a participant."""
        if not asked.entities:
            return True
        direct = {plain_name(fact.subject), plain_name(fact.object), plain_name(fact.company)}
        inside = 0
        listed = asked.extreme and len(asked.entities) > 2
        for entity, _ in asked.entities:
            if plain_name(entity[1]) in direct:
                inside += 1
            elif not listed and not self._mentions(fact, entity):
                return False
        return inside > 0 or (not listed and self._in_sentence(fact, asked.entities[0][0]))

    def _mentions(self, fact: Fact, entity: Entity) -> bool:
        return set(plain_name(entity[1]).split()[:1]) <= {
            w for t in self._by_document[fact.document] for w in plain_name(t).split()
        }

    def _in_sentence(self, fact: Fact, entity: Entity) -> bool:
        return plain_name(entity[1]).split()[0] in plain_name(fact.sentence).split()

    def _slots(self, asked: NewsQuestion, fact: Fact, relation: Relation) -> list[tuple[str, float]]:
        """Returns the values of a fact that a question may ask for, each with a bonus."""
        named = {plain_name(entity[1]) for entity, _ in asked.entities}
        found: list[tuple[str, float]] = []
        free_object = plain_name(fact.object) not in named
        free_subject = plain_name(fact.subject) not in named
        wants_object = fact.object_kind in asked.kinds and free_object
        wants_subject = fact.subject_kind in asked.kinds and free_subject
        if asked.extreme:
            return (
                [(fact.subject, 0.5)]
                if fact.subject_kind in asked.kinds or len(named) > 1 or "company" in asked.kinds
                else []
            )
        if wants_object and wants_subject and not relation.symmetric and not named:
            passive = re.search(r"\b(?:was|were|is|are|been|being|get|got) \w+ed\b", asked.lower) is not None
            nouns = {base(word) for word in relation.object}
            to_object = passive or (
                base(asked.noun) in nouns and base(asked.noun) not in {base(w) for w in relation.subject}
            )
            wants_object, wants_subject = to_object, not to_object
        if wants_object and (
            not named or relation.symmetric or self._orientation(asked, fact.subject, relation) != "object"
        ):
            found.append((fact.object, 0.2))
        elif wants_subject and (
            not named or relation.symmetric or self._orientation(asked, fact.object, relation) != "subject"
        ):
            found.append((fact.subject, 0.2))
        elif "date" in asked.kinds and fact.object_kind in ("company", "product", "name", "rating"):
            found.append((fact.published, -0.5))
        return found

    def _orientation(self, asked: NewsQuestion, name: str, relation: Relation) -> str:
        """Returns whether a named participant is the subject or the object of the question's verb."""
        place = next((at for entity, at in asked.entities if plain_name(entity[1]) == plain_name(name)), None)
        cue = _word_set(relation.words)
        verbs = [at for word, at in asked.words if word in cue]
        if (
            place is None
            or not verbs
            or relation.subject_types != ("company",)
            or "company" not in relation.object_types
        ):
            return ""
        verb = asked.text[verbs[0] :].split()[0].lower().strip("?.,")
        if not re.search(r"(?:ed|t|n|s|ing|d|e|y|l)$", verb):
            return ""
        passive = re.search(r"\b(?:was|were|is|are|been|be|being)\b[^?]*$", asked.lower[: verbs[0]]) and re.search(
            r"(?:ed|t|n)$", verb
        )
        if place < verbs[0]:
            return "object" if passive else "subject"
        if re.search(r"\bby $", asked.lower[:place]):
            return "subject"
        return "object"

    def _counts(self, asked: NewsQuestion, words: Sequence[str]) -> list[_Candidate]:
        """Returns counts of things: "how many ships does Bluehull have?"."""
        found = []
        if asked.kinds == ("count",) and asked.noun and asked.entities:
            noun = base(asked.noun)
            for fact in self.facts:
                if fact.relation.startswith("number of ") and base(fact.relation.split()[-1]) == noun:
                    named = {plain_name(entity[1]) for entity, _ in asked.entities}
                    score = self._coverage(
                        fact,
                        [w for w in words if w not in _CHANGE],
                        frozenset((noun,)),
                        _word_set(("have", "operate", "own", "run")),
                    )
                    if score is not None and plain_name(fact.subject) in named:
                        found.append(_Candidate(fact, fact.object, score))
        return found

    def _two_steps(self, asked: NewsQuestion) -> list[_Candidate]:
        """Follows a relative clause: "the laser company that Orvane bought"."""
        clause = re.search(r"\b(?:that|which|whom)\b (?=[^?]*$)", asked.lower[6:])
        if clause is None or len(asked.entities) != 1:
            return []
        entity = asked.entities[0][0]
        words = {word for word, _ in asked.words}
        for fact in reversed(self.facts):
            cue, _, needs = (
                _cues(fact.relation) if fact.relation in frames().relations else (frozenset(), (), frozenset())
            )
            inner = {word for word, place in asked.words if place > clause.end() + 5}
            if (needs and not needs & words) or not cue & inner:
                continue
            if plain_name(fact.subject) == plain_name(entity[1]) and fact.object_kind in ("company", "product", "name"):
                nouns = frozenset(base(noun) for noun in (*language().organisation_nouns, "maker"))
                second = parse_question(asked.text, self.directory)
                second.entities = [((fact.object_kind, fact.object), asked.entities[0][1])]
                found = self._candidates(second, frozenset(cue | nouns))
                if found:
                    return found
        return []

    # Choice

    def _chosen(self, asked: NewsQuestion, candidates: list[_Candidate]) -> NewsAnswer:
        """Returns the values that hold at the time of the question."""
        if asked.extreme:
            return self._extreme(asked, candidates)
        listed = asked.plural or (not asked.entities and asked.kinds[:1] == ("company",))
        if asked.kinds == ("count",) and base(asked.noun) in {
            base(w) for w in ("companies", "firms", "businesses", "airlines", "banks")
        }:
            return NewsAnswer(why="counted")
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
        if len(merged) != 1:
            return NewsAnswer(why=f"{len(merged)} answers fit: {', '.join(merged.values())}")
        return NewsAnswer(tuple(merged.values()), tuple(one.fact for one in kept))

    def _timed(self, asked: NewsQuestion, candidates: list[_Candidate]) -> list[_Candidate]:
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
            return about
        if candidates[0].fact.object_kind == "place" or frames().relations[candidates[0].fact.relation].single:
            earlier = [one for one in candidates if one.fact.published <= last]
            return [one for one in earlier if one.fact.published == max(e.fact.published for e in earlier)] or (
                [one for one in about if one.fact.object_kind != "place"]
            )
        return about

    def _earlier(self, asked: NewsQuestion, candidates: list[_Candidate]) -> list[_Candidate]:
        """Returns what held before: the values before the newest, or before the one that the question names."""
        named = {plain_name(entity[1]) for entity, _ in asked.entities}
        objects = [one for one in candidates if plain_name(one.value) not in named]
        newest = max((one.fact.published for one in candidates), default="")
        given = [f for f in self.facts if plain_name(f.object) in named and f.relation == candidates[0].fact.relation]
        limit = min((fact.published for fact in given), default=newest)
        older = [one for one in objects if one.fact.published <= limit]
        previous = [one for one in candidates if one.fact.previous]
        if not older and previous:
            return [_Candidate(previous[-1].fact, previous[-1].fact.previous, previous[-1].score)]
        return older

    def _extreme(self, asked: NewsQuestion, candidates: list[_Candidate]) -> NewsAnswer:
        timed = self._timed(asked, candidates)
        numbered = [
            (number_of(one.fact.object), one) for one in timed if one.fact.object_kind in ("money", "percent", "count")
        ]
        known = [(number, one) for number, one in numbered if number is not None]
        if not known:
            return NewsAnswer(why="there are no figures to compare")
        relation = known[0][1].fact.relation
        newest: dict[str, tuple[object, _Candidate]] = {}
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
        change = words & _CHANGE
        open_question = parse_question(asked.text, self.directory)
        open_question.polar, open_question.kinds = False, ("money", "percent", "count")
        if change:
            wanted = _direction_of(asked)
            open_question.words = [(word, at) for word, at in asked.words if word not in _CHANGE]
            found = (
                self._chosen(open_question, self._candidates(open_question) or [])
                if self._candidates(open_question)
                else NewsAnswer()
            )
            fact = found.facts[-1] if found.facts else None
            if fact is not None and fact.direction and wanted:
                return NewsAnswer(("yes" if fact.direction == wanted else "no",), (fact,))
        return self._stated(asked)

    def _stated(self, asked: NewsQuestion) -> NewsAnswer:
        """Answers yes where both named participants stand in a fact of the relation that is asked for."""
        words = [word for word, _ in asked.words]
        for fact in reversed(self.facts):
            if fact.relation in frames().relations and self._both(asked, fact):
                cue, _, needs = _cues(fact.relation)
                relation = frames().relations[fact.relation]
                ordered = relation.symmetric or self._orientation(asked, fact.subject, relation) != "object"
                asked_for = cue & set(words) and (not needs or needs & set(words)) and ordered
                if asked_for and self._covered(asked, fact, words):
                    return NewsAnswer(("yes",), (fact,))
        return NewsAnswer(why="no fact says yes or no")

    def _covered(self, asked: NewsQuestion, fact: Fact, words: Sequence[str]) -> bool:
        cue, beside, _ = _cues(fact.relation)
        covered = self._coverage(fact, words, cue, beside) is not None
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
        known = {word for name in frames().relations for part in _cues(name) for word in part}
        for word, place in asked.words:
            if word not in known and not any(word in words for words in self._document_words.values()):
                return f"{asked.text[place:].split()[0].strip('?.,')!r} is no word of the graph"
        return "no fact covers the question"


def _best(candidates: Sequence[_Candidate]) -> list[_Candidate]:
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
