"""Replacement of the pronouns in a question by their referents.

>>> Pronouns(referents).replaced("Which of them is larger than it?")
'Which of Germany, Hungary and Italy is larger than Austria?'
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kg.coreference.referents import Referents, is_plural
from kg.questions import Tag

SINGULAR = frozenset(("it", "its", "that", "this", "there", "he", "she", "his", "her", "latter", "former"))
PLURAL = frozenset(("they", "them", "their", "theirs", "those", "these", "both", "two", "ones", "one", "each"))
"""Pronouns that stand for one entity, and those that stand for several."""


_BEHIND_A_PRONOUN = frozenset(
    ("in", "is", "was", "does", "has", "have", "a", "an", "the", "than", "to", "and", "or", "compared", "as")
)


class Pronouns:
    """Replaces the pronouns of one question.

    Args:
        who: The entities in play.
    """

    def __init__(self, who: Referents) -> None:
        self.who = who

    def replaced(self, text: str) -> str:
        """The text with every pronoun replaced by what it stands for."""
        tags = self.who.graph.lexicon.tags(text)
        edits = list(self._edits(tags))
        for start, end, words in sorted(edits, reverse=True):
            text = text[:start] + words + text[end:]
        return text

    def _edits(self, tags: Sequence[Tag]) -> Iterator[tuple[int, int, str]]:
        used = -1
        for place, tag in enumerate(tags):
            if place <= used or tag.known or tag.degree is not None:
                continue
            edit, used = self._edit(tags, place)
            if edit is not None:
                yield edit

    def _edit(self, tags: Sequence[Tag], place: int) -> tuple[tuple[int, int, str] | None, int]:
        """Returns the replacement of a pronoun, and the last tag that belongs to it."""
        tag, word = tags[place], tags[place].word
        behind = tags[place + 1] if place + 1 < len(tags) else None
        before = tags[place - 1].word if place else ""
        kinds = behind.classes if behind is not None else ()
        if word in ("its", "his", "her", "it", "there"):
            if word == "there" and before in ("is", "are", "was", "were"):
                return None, place
            owner = self.who.single(self._beside(tags, place), word=word)
            return self._as(
                owner, tag, tag.end, {"its": "'s", "his": "'s", "her": "'s", "there": "in"}.get(word, "")
            ), place
        if word in ("that", "this", "the") and behind is not None and kinds and not self._is_described(tags, place):
            if is_plural(behind.text):
                return None, place
            after = tags[place + 2].word if place + 2 < len(tags) else ""
            owner = self.who.single(self._beside(tags, place + 1), kinds)
            end = tags[place + 2].end if after in ("'s", "’s") else behind.end
            return self._as(owner, tag, end, "'s" if after in ("'s", "’s") else ""), place + 1
        if word in ("that", "this") and self._is_pronoun(behind):
            inverse = len(tags) > 1 and tags[-1].word == "of"
            owner = self.who.single(self._beside(tags, place), inverse=inverse)
            return self._as(owner, tag, tag.end, ""), place
        if word in ("former", "latter", "first", "second") and before == "the":
            pair = self.who.pair()
            if pair is None or (behind is not None and (behind.degree is not None or behind.known)):
                return None, place
            chosen = pair[0] if word in ("former", "first") else pair[1]
            self.who.refer([chosen], None)
            return (tags[place - 1].start, tag.end, self.who.graph.lexicon.label(chosen)), place
        if word == "other" and before == "the" and (behind is None or behind.word == "one" or not behind.known):
            other = self.who.other()
            if other is None:
                return None, place
            self.who.refer([other], None)
            last = place + (behind is not None and behind.word == "one")
            return (tags[place - 1].start, tags[last].end, self.who.graph.lexicon.label(other)), last
        return self._plural_edit(tags, place)

    @staticmethod
    def _is_pronoun(behind: Tag | None) -> bool:
        """Whether "that" stands alone: "is that in Spain?", "which country is that the capital of?"."""
        return behind is None or behind.degree is not None or behind.word in _BEHIND_A_PRONOUN

    def _is_described(self, tags: Sequence[Tag], place: int) -> bool:
        """Whether "the country" is described in the question itself: "the country that ...", "the country of X"."""
        later = tags[place + 2 : place + 4]
        return tags[place].word == "the" and (
            any(tag.word in ("that", "which", "with", "of", "in", "where") or tag.known for tag in later[:1])
            or any(tag.entities or tag.degree is not None for tag in tags)
        )

    def _plural_edit(self, tags: Sequence[Tag], place: int) -> tuple[tuple[int, int, str] | None, int]:
        tag, word = tags[place], tags[place].word
        behind = tags[place + 1] if place + 1 < len(tags) else None
        before = tags[place - 1].word if place else ""
        end, last = tag.end, place
        if word not in ("their", "them", "they", "those", "these", "both", "two", "one", "ones"):
            return None, place
        if word in ("one", "ones") and before not in ("which", "what"):
            return None, place
        if word == "both" and any(later.entities for later in tags[place + 1 :]):
            return None, place
        kinds: tuple[str, ...] = ()
        if behind is not None and behind.classes and word in ("those", "these", "two", "both"):
            kinds, end, last = behind.classes, behind.end, place + 1
        group = self.who.pair() if word in ("two", "both") else self.who.latest_set(kinds)
        if group is None and word in ("their", "they", "them"):  # of one: "their" may be said of a single answer
            last_results = self.who.past[-1].results
            owner = last_results[0] if len(last_results) == 1 else self.who.single(self._beside(tags, place))
            group = None if owner is None else [owner]
        if group is None:
            return None, place
        self.who.refer(group, None)
        listed = self.who.listed(group)
        start = tag.start
        if word == "two" and before in ("the", "these", "those"):
            start = tags[place - 1].start
        if word in ("one", "ones"):
            listed = f"of {listed}"
            if behind is not None and behind.word == "of":
                return None, place
        return (start, end, f"{listed}'s" if word == "their" else listed), last

    def _as(self, owner: str | None, tag: Tag, end: int, form: str) -> tuple[int, int, str] | None:
        if owner is None:
            return None
        label = self.who.graph.lexicon.label(owner)
        return tag.start, end, f"{label}'s" if form == "'s" else f"{form} {label}".strip()

    def _beside(self, tags: Sequence[Tag], place: int) -> list[str]:
        """The properties that a pronoun must have: the one behind it, else those of its clause."""
        behind = [tag for tag in tags[place + 1 :] if tag.properties and not tag.entities]
        anywhere = [tag for tag in tags if tag.properties and not tag.entities]
        measures = [p for tag in tags if tag.degree is not None for p in tag.degree.properties[:1]]
        chosen = behind[:1] if tags[place].word in ("its", "his", "her") and behind else behind or anywhere
        return [tag.properties[0] for tag in chosen] or measures
