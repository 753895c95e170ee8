"""Reads the news of outside writers by the product's commands, asks their questions, and scores facts and answers.

$ python benchmarks/news.py --part dev
$ python benchmarks/news.py --part held_out --json figures.json
$ python benchmarks/news.py --set writers_news_c --part held_out --lm openai/reader --lm-set api_base=... --threads 60

Each part is ingested into a graph of its own, in the order of the documents' dates. The scores follow the set's
README: facts with precision and recall, questions right, abstained and wrong. Documents and questions of the part
``held_out`` are only scored; nobody who writes a reader or fits a model reads them. Further options go to ``ask``, and
with a reader to ``ingest``.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from question_sets import unpacked

from experiments.commands.main import main as command
from kg.growing import GrowingGraph
from kg.news import Fact, number_of, plain_name, stored_facts
from optimize.metrics.turns import with_intervals
from programs.worlds.news.calculations import in_digits

DATA = unpacked("news")
SETS = ("news", "news_further", "news_styles", "news_varied", "news_groups", "strangers_news", "strangers_news_2",
        "strangers_news_3", "writers_news_a", "writers_news_b", "writers_news_c", "writers_news_d",
        "writers_news_e", "writers_news_f", "writers_news_g")  # fmt: skip

SMALL_WORDS = re.compile(
    r"^(?:(?:the|an?|some|about|around|nearly|almost|roughly|just|only|up to|more than|over|at least|its|his|her|their"
    r"|in|on|at|by|from|for|to|of|with|until|since|because of|due to) )+",
    re.I,
)
"""Small words at the beginning of an answer, which another one may lack."""

_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_QUARTER = re.compile(
    rf"(?:the )?(?:Q(?P<number>[1-4])|(?P<name>{'|'.join(_ORDINALS)})[ -]quarter)(?: of)? (?P<year>\d{{4}})", re.I
)
_NAMES = ("dollar", "euro", "pound", "rupee", "pence", "yen", "franc", "kron", "yuan")
_CURRENCIES = {
    "$": "dollar", "USD": "dollar", "CAD": "dollar", "AUD": "dollar", "€": "euro", "EUR": "euro", "£": "pound",
    "GBP": "pound", "¥": "yen", "JPY": "yen", "INR": "rupee", "CHF": "franc", "SEK": "kron", "NOK": "kron",
    "DKK": "kron", "CNY": "yuan",
}  # fmt: skip
_WORD = re.compile(rf"(?!(?:{'|'.join(filter(str.isalpha, _CURRENCIES))}) ?\d)[A-Za-z]{{2}}")


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    """Returns the rows of a file of a set; none where the set lacks it."""
    path = folder / name
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def aliases(folder: Path) -> dict[str, str]:
    """Returns for each name of a set, in its plain form, the name that stands for it."""
    found = json.loads((folder / "aliases.json").read_text(encoding="utf-8"))
    return {plain_name(name): plain_name(full) for full, names in found.items() for name in (full, *names)}


def normal(text: str, names: dict[str, str]) -> tuple[str, str]:
    """Returns a name, day or amount in the form in which it is compared, and its currency."""
    text = re.sub(r"\b(?:US|A|C|HK|S)(?=[$])", "", in_digits(text.strip()))
    if re.fullmatch(r"\d{4}-\d\d(?:-\d\d)?", text):
        return text, ""
    quarter = _QUARTER.fullmatch(text)
    if quarter is not None:
        return f"{quarter['year']}-Q{_ORDINALS.get((quarter['name'] or '').lower()) or quarter['number']}", ""
    number = number_of(text)
    if number is None or _WORD.match(text.lstrip("-+ ")):
        plain, bare = plain_name(text), plain_name(SMALL_WORDS.sub("", text))
        return names.get(plain, names.get(bare, bare)), ""
    signs = [name for sign, name in _CURRENCIES.items() if sign in text]
    currency = next((name for name in _NAMES if name in text.lower()), signs[0] if signs else "")
    return format(abs(number).normalize(), "f"), currency


def same(value: str, gold: str, names: dict[str, str]) -> bool:
    """Whether an answer equals a gold answer; a gold month is any day of it."""
    (one, currency), (other, wanted) = normal(value, names), normal(gold, names)
    if re.fullmatch(r"\d{4}-\d\d", other):
        return one.startswith(other)
    return one == other and (not wanted or currency == wanted)


def verdict(answers: Sequence[str], gold: Sequence[str] | None, names: dict[str, str]) -> str:
    """Returns ``right``, ``abstained`` or ``wrong``."""
    if gold is None:
        return "wrong" if answers else "right"
    if not answers:
        return "abstained"
    matched = all(any(same(value, one, names) for value in answers) for one in gold)
    return "right" if matched and len(answers) == len(gold) else "wrong"


def score_facts(folder: Path, part: str, stored: Sequence[Fact], names: dict[str, str]) -> dict[str, Any]:
    """Returns precision and recall of the facts of a part."""
    documents = {row["document"] for row in rows(folder, "documents.jsonl") if row["part"] == part}

    def keys(given: Sequence[tuple[str, str, str, str]]) -> dict[tuple[str, str, str, str], None]:
        return dict.fromkeys(
            (document, normal(subject, names)[0], relation, normal(value, names)[0])
            for document, subject, relation, value in given
            if document in documents
        )

    gold = keys([(f["document"], f["subject"], f["relation"], f["object"]) for f in rows(folder, "facts.jsonl")])
    also = keys([(f["document"], f["subject"], f["relation"], f["object"]) for f in rows(folder, "also_true.jsonl")])
    kinds = {row["relation"] for row in rows(folder, "facts.jsonl")}
    read = keys([(f.document.removesuffix(".txt"), f.subject, f.relation, f.value) for f in stored])
    known = [key for key in read if key[2] in kinds and key not in also]
    hits = sum(key in gold for key in known)
    return {"facts": len(gold), "recall": hits / max(len(gold), 1), "precision": hits / max(len(known), 1)}


def answered(
    part: str, questions: Sequence[dict[str, Any]], options: argparse.Namespace, further: Sequence[str]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Ingests a part of a set, asks its questions, and returns the replies and the figures of the facts."""
    folder = DATA / options.set
    with tempfile.TemporaryDirectory() as scratch:
        graph, asked, out = (str(Path(scratch) / name) for name in ("graph", "questions.jsonl", "answers.json"))
        Path(asked).write_text("\n".join(json.dumps(row) for row in questions), encoding="utf-8")
        documents = Path(scratch) / "documents"
        shutil.copytree(folder / part, documents)
        settings = further if options.reader_lm != "none" else ()
        with redirect_stdout(io.StringIO()):
            command(["ingest", str(documents), "--graph", graph, "--lm", options.reader_lm, *settings])
        with GrowingGraph(graph, read_only=True) as opened:
            facts = score_facts(folder, part, stored_facts(opened), aliases(folder))
        with redirect_stdout(io.StringIO()):
            command(["ask", graph, "--questions", asked, "--lm", options.lm, *further, "--json", out])
        return json.loads(Path(out).read_text(encoding="utf-8")), facts


def measure(part: str, options: argparse.Namespace, further: Sequence[str]) -> dict[str, Any]:
    """Returns the figures of a part of a set, and prints them."""
    names = aliases(DATA / options.set)
    questions = [row for row in rows(DATA / options.set, "questions.jsonl") if row["part"] == part]
    replies, facts = answered(part, questions, options, further)
    pairs = zip(replies, questions, strict=True)
    verdicts = [verdict(row["answers"] or [], gold["answers"], names) for row, gold in pairs]
    counts, right = Counter(verdicts), [float(one == "right") for one in verdicts]
    _, low, high = with_intervals(range(len(right)), {"right": (right, None)}, seed=0).values()
    if options.reader_lm != "none" and facts["facts"]:
        print(f"{part}: facts precision {facts['precision']:.1%}, recall {facts['recall']:.1%} of {facts['facts']}")
    print(
        f"{part}: of {len(verdicts)} questions {counts['right']} right [{low:.1%}, {high:.1%}], "
        f"{counts['abstained']} abstained, {counts['wrong']} wrong"
    )
    return {"part": part, "facts": facts, "questions": dict(counts), "interval": [low, high]}


def main() -> None:
    """Measures the parts that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", nargs="+", default=["dev"], choices=["dev", "held_out"])
    parser.add_argument("--set", default="news", choices=SETS, help="the set of documents and questions")
    parser.add_argument("--reader-lm", default="none", help="a language model that reads the documents")
    parser.add_argument("--lm", default="none", help="a language model that answers")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options, further = parser.parse_known_args()
    figures = [measure(part, options, further) for part in options.part]
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
