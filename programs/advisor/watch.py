"""A watch over news: what is new is ingested, and each briefing is an alert once, also after a kill.

>>> watch = Watch(advisor, portfolio, Path("knowledge/alerts.jsonl"))
>>> [alert.symbol for alert in watch.step(documents, today).alerts]
['HLXN']
>>> watch.step(documents, today).alerts
()

The file of alerts is the delivery: an alert is appended to it and flushed before it is returned. A document is in the
graph completely or not at all. A step that was killed is thus taken up by the next one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from kg.errors import FinpathError
from kg.growing import Applied
from kg.investments import Freshness, NewsDocument
from kg.locks import locked
from programs.advisor.advisor import Advisor, Ingestion
from programs.advisor.briefings import Briefing
from programs.advisor.portfolio import Portfolio
from programs.tools import Prices


@dataclass(frozen=True)
class Step:
    """The result of one look at the sources.

    Attributes:
        ingested: The documents that were new.
        alerts: The briefings that no earlier step gave.
        problems: Documents that could not be ingested, one line each.
    """

    ingested: tuple[Ingestion, ...]
    alerts: tuple[Briefing, ...]
    problems: tuple[str, ...] = ()


class Watch:
    """A watch for one user.

    Args:
        advisor: It ingests documents.
        portfolio: What the user holds and watches.
        alerts: The file of alerts, one JSON object a line; it is made where it is missing.
        freshness: For how many days events of each kind count.
        prices: Closing prices for notes and correlations.
    """

    def __init__(
        self,
        advisor: Advisor,
        portfolio: Portfolio,
        alerts: Path,
        freshness: Freshness | None = None,
        prices: Prices | None = None,
    ) -> None:
        self._advisor, self._portfolio, self._path = advisor, portfolio, alerts
        self._freshness, self._prices = freshness, prices

    def step(self, documents: Iterable[NewsDocument], today: date) -> Step:
        """Ingests the new ones of some documents, and returns the alerts that follow."""
        ingested: list[Ingestion] = []
        problems: list[str] = []
        for document in sorted(documents, key=lambda one: one.published):
            try:
                found = self._advisor.ingest(document)
            except FinpathError as error:
                problems.append(f"{document.name}: {error}")
                continue
            # What waits for a type is tried at each look, and is news only when it is written.
            if not found.known and (found.applied != Applied() or not found.left_out):
                ingested.append(found)
        self._advisor.reflect(today, self._freshness, self._prices.closes if self._prices is not None else None)
        briefings = self._advisor.brief(self._portfolio, today, self._prices, self._freshness)
        return Step(tuple(ingested), tuple(self._delivered(briefings, today)), tuple(problems))

    def _delivered(self, briefings: Iterable[Briefing], today: date) -> list[Briefing]:
        """Appends the briefings that are not in the file, and returns them."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with locked(self._path.with_name(f"{self._path.name}.lock")):
            known, cited, whole = self._known()
            new: dict[str, Briefing] = {}
            for one in briefings:
                if one.key not in known and _is_new(one, cited):
                    new[one.key] = one
                    cited |= {(one.symbol, event) for event in one.citations[1:]}
            if not new:
                return []
            lines = [json.dumps({"key": key, "day": today.isoformat(), **one.as_record()}) for key, one in new.items()]
            with self._path.open("r+b" if self._path.exists() else "w+b") as file:
                file.seek(whole)
                file.truncate()
                file.write("".join(f"{line}\n" for line in lines).encode("utf-8"))
                file.flush()
                os.fsync(file.fileno())
        return list(new.values())

    def _known(self) -> tuple[set[str], set[tuple[str, str]], int]:
        """Returns the keys of earlier alerts, what they cite by symbol, and the length of the file's whole lines."""
        if not self._path.exists():
            return set(), set(), 0
        content = self._path.read_bytes()
        whole = content.rfind(b"\n") + 1  # a line without its end was cut by a kill
        rows = [json.loads(line) for line in content[:whole].splitlines() if line.strip()]
        cited = {(str(row["symbol"]), str(citation)) for row in rows for citation in row["citations"][1:]}
        return {str(row["key"]) for row in rows}, cited, whole


def _is_new(briefing: Briefing, cited: set[tuple[str, str]]) -> bool:
    """Whether a briefing cites an event that no earlier alert about the instrument cited, or no event at all."""
    events = briefing.citations[1:]
    return not events or any((briefing.symbol, event) not in cited for event in events)
