"""A fine-tuned embedded model on turns that the search was not fitted on: its choice, its calculation, and none.

    python benchmarks/adapter_replies.py ask --train convfinqa/train.json written/train.json \\
        --also written/questions_train.json --lm local/qwen2.5-coder-0.5b+reports --turns 160 --out replies.jsonl
    python benchmarks/adapter_replies.py report replies.jsonl

The pages are training pages that the program's encoder and scorer were not fitted on, and the history is gold. Every
turn is asked, whatever the beam's confidence. A third of the turns have no answer: questions of ``--also`` whose gold
is null, and others whose figures were removed from the page. Each reply is a line of the file, so a stopped run
continues.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import dspy  # noqa: E402
import numpy as np  # noqa: E402

from benchmarks.compiled_evidence import embedded_settings  # noqa: E402
from experiments.data import conversation_examples, load_conversations  # noqa: E402
from experiments.saved import find_program  # noqa: E402
from kg.candidates import confidence_features, considered_figures, fixed_history, search_turn  # noqa: E402
from kg.derivations import Answer, PastTurn  # noqa: E402
from kg.figures import ReportIndex  # noqa: E402
from kg.search import merge_key  # noqa: E402
from optimize.evidence import (  # noqa: E402
    AbstentionExample,
    JudgedTurn,
    choose_blend,
    fit_abstention,
    gold_turns,
    unseen,
)
from optimize.metrics.statistics import bootstrap_mean, paired_difference  # noqa: E402
from optimize.scorers import content_sha256, training_turns, unanswerable_turn  # noqa: E402
from programs.evidence import Evidence, evidence_beside_none, length_of  # noqa: E402
from programs.lm import metered  # noqa: E402
from programs.worlds.page import NO_ANSWER, BriefPage, brief_prompt, brief_reply  # noqa: E402
from programs.beam import BeamQA  # noqa: E402
from programs.reports import QuestionContext  # noqa: E402
from programs.reports.brief_answer import named_in_brief  # noqa: E402

SHOWN = 10


@dataclass(frozen=True)
class Asked:
    """A question after its gold history.

    Attributes:
        name: The conversation and the turn's number.
        page: Its document.
        kind: The file's folder, or why there is no answer: ``unanswerable`` or ``removed``.
        index: The report's index.
        past: The earlier turns with the figures that the search considered for them.
        question: The question.
        gold: The answer; ``None`` where there is none.
    """

    name: str
    page: str
    kind: str
    index: ReportIndex
    past: tuple[PastTurn, ...]
    question: str
    gold: Answer | None

    @property
    def context(self) -> QuestionContext:
        """The question as a program is asked it."""
        questions = (*(one.question for one in self.past), self.question)
        return QuestionContext(self.index, questions, tuple(fixed_history(self.index, self.past)), self.past)


def answerable(turn: BeamQA, file: str, seed: int) -> Iterator[Asked]:
    """The turns of a file's unseen pages."""
    kind = Path(file).parent.name
    for example in _free(turn, file, seed):
        _, index = turn.reader.read(example.report)
        one = Asked(example.id, content_sha256(example.report), kind, index, (), "", None)
        for place, gold in enumerate(gold_turns(example, index)):
            yield replace(one, name=f"{example.id}#{place}", question=gold.question, gold=gold.answer)
            one = _after(turn, one, gold)


def removed(turn: BeamQA, file: str, seed: int) -> Iterator[Asked]:
    """Turns of a file's unseen pages, asked of the page without their figures; at most one a conversation."""
    rng = random.Random(seed + 1)
    for example in _free(turn, file, seed):
        _, index = turn.reader.read(example.report)
        turns = training_turns("page", index, example.questions, example.programs)
        places = list(range(len(turns)))
        rng.shuffle(places)
        for place in places[:2]:
            read = lambda report: turn.reader.read(report)[1]  # noqa: E731
            changed = unanswerable_turn(example.report, turns, example.programs, place, read)
            if changed is not None:
                page, question = content_sha256(example.report), example.questions[place]
                one = Asked(f"{example.id}#{place}-", page, "removed", changed.index, (), question, None)
                for gold in gold_turns(example, changed.index)[:place]:
                    one = _after(turn, one, gold)
                yield one
                break


def unanswerable(turn: BeamQA, file: str, seed: int) -> Iterator[Asked]:
    """The first questions of a file whose gold is null."""
    for example in _free(turn, file, seed):
        if example.gold[0] is None:
            _, index = turn.reader.read(example.report)
            page = content_sha256(example.report)
            yield Asked(example.id, page, "unanswerable", index, (), example.questions[0], None)


def _free(turn: BeamQA, file: str, seed: int) -> list[dspy.Example]:
    examples = conversation_examples(load_conversations(file).conversations)
    free = [examples[place] for place in unseen(turn, examples)]
    random.Random(seed).shuffle(free)
    return free


def _after(turn: BeamQA, one: Asked, gold: PastTurn) -> Asked:
    """A question with one more turn in its history, and the figures that the search considered there."""
    figures = considered_figures(_search(turn, replace(one, question=gold.question)).candidates[:SHOWN])
    return replace(one, past=(*one.past, replace(gold, considered=figures)))


def _search(turn: BeamQA, one: Asked) -> Any:
    asked = one.context
    return search_turn(asked.index, asked.questions, asked.histories, turn.reader.scorer, turn.config)


def drawn(turn: BeamQA, options: argparse.Namespace) -> list[Asked]:
    """The turns that are asked: two of three have an answer, and all kinds come in turn."""
    kinds = [answerable(turn, file, 0) for file in options.train]
    without = [unanswerable(turn, file, 0) for file in options.also] + [
        removed(turn, file, 0) for file in options.train
    ]
    found: list[list[Asked]] = []
    for sources, count in ((kinds, options.turns), (without, options.turns // 2)):
        mixed = (one for one in chain.from_iterable(zip_longest(*sources)) if one is not None)
        found.append([one for _, one in zip(range(count), mixed, strict=False)])
    rows = [found[0][0::2], found[0][1::2], found[1]]
    return [one for one in chain.from_iterable(zip_longest(*rows)) if one is not None]


def ask(options: argparse.Namespace) -> None:
    """Asks the model, and adds a line for each turn."""
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)  # the seconds must be those of the model
    turn = find_program(options.program).program.turn
    assert isinstance(turn, BeamQA)
    stop = time.monotonic() + 60 * options.minutes
    lines = [json.loads(line) for line in options.out.open()] if options.out.exists() else []
    done = {line["turn"] for line in lines if line["lm"] == options.lm}
    settings = embedded_settings(options.lm, options.engine)
    with options.out.open("a", encoding="utf-8") as out, dspy.context(**settings):
        for one in drawn(turn, options):
            if one.name in done or time.monotonic() > stop:
                continue
            line = asked_once(turn, one, settings["lm"])
            if line is not None:
                out.write(json.dumps({"lm": options.lm, **line}) + "\n")
                out.flush()


def asked_once(turn: BeamQA, one: Asked, lm: Any) -> dict[str, Any] | None:
    """The line of one turn: the shares of its candidates and of none, and the calculation that the model writes."""
    found = _search(turn, one)
    shown = found.candidates[:SHOWN]
    if len(shown) < 2 or turn.reader.scorer.confidence is None:
        return None
    report = turn.reader.graph_of(one.index).report
    considered = considered_figures(shown)
    prompt = brief_prompt(BriefPage(report, one.index), one.past, one.question, considered)
    replies = [brief_reply(candidate.derivation, one.past) for candidate in shown]
    with metered() as chosen:
        evidence = evidence_beside_none(lm, prompt, replies, NO_ANSWER)
    exact = getattr(lm.engine, "exact", None)
    with metered() as written:
        named = named_in_brief(lm, one.context, found, shown, report)
    answers = [merge_key(candidate.answer) for candidate in shown]
    gold = merge_key(one.gold) if one.gold is not None else None
    answered = merge_key(named.answer) if named is not None else None
    return {
        "turn": one.name,
        "page": one.page,
        "kind": one.kind,
        "scores": [round(candidate.score, 5) for candidate in shown],
        "lengths": [length_of(candidate.derivation) for candidate in shown],
        "right": [gold is not None and answer == gold for answer in answers],
        "shares": [round(share, 4) for share in evidence.shares],
        "likelihoods": [round(value, 4) for value in evidence.likelihoods],
        "none": evidence.none,
        "exact_none": exact[-1] if exact else None,
        "written": getattr(lm.engine, "said", None),
        "answerable": turn.reader.scorer.confidence.judge(confidence_features(found)).answerable,
        "named": str(named.derivation) if named is not None else None,
        "named_score": round(named.score, 5) if named is not None else None,
        "named_length": length_of(named.derivation) if named is not None else None,
        "named_right": answered is not None and answered == gold,
        "named_place": answers.index(answered) if answered in answers else None,
        "seconds": [round(part.usage.seconds, 3) for part in (chosen, written)],
        "tokens": [
            [part.usage.prompt_tokens, part.usage.cached_prompt_tokens, part.usage.completion_tokens]
            for part in (chosen, written)
        ],
        "load": round(os.getloadavg()[0], 1),
    }


def judged(line: dict[str, Any], *, named: bool) -> JudgedTurn:
    """A turn as the fit of weights takes it, with the model's own calculation as a candidate or without."""
    columns = {name: line[name] for name in ("scores", "lengths", "right", "shares", "likelihoods")}
    place = line["named_place"]
    if named and line["named"] is not None and place is None:  # it takes the last place, as in the program
        place = len(columns["scores"]) - 1
        own = {"scores": line["named_score"], "lengths": line["named_length"], "right": line["named_right"]}
        own |= {"shares": 0.0, "likelihoods": max(line["likelihoods"])}
        columns = {name: [*values[:-1], own[name]] for name, values in columns.items()}
    evidence = Evidence(
        "likelihood",
        tuple(columns["shares"]),
        tuple(columns["likelihoods"]),
        named=place if named else None,
    )
    return JudgedTurn(
        line["page"], tuple(columns["scores"]), tuple(columns["lengths"]), tuple(columns["right"]), evidence
    )


def report(options: argparse.Namespace) -> None:
    """Prints the table of answers, alone and blended, and that of abstention."""
    lines = [json.loads(line) for line in options.replies.open()]
    asked = [line for line in lines if line["kind"] not in ("unanswerable", "removed")]
    print(f"{len(asked)} turns with an answer, {len({line['page'] for line in asked})} pages")
    columns = answers(asked)
    kinds = {kind: [line["kind"] == kind for line in asked] for kind in dict.fromkeys(line["kind"] for line in asked)}
    unsure = [math.exp(line["scores"][0]) < 0.7 for line in asked]
    for name, chosen in {"all": [True] * len(asked), **kinds, "below 0.7": unsure}.items():
        table(name, asked, columns, np.flatnonzero(chosen))
    for part, what in enumerate(("choice", "calculation")):
        seconds = [line["seconds"][part] for line in lines]
        new = [line["tokens"][part][0] - line["tokens"][part][1] for line in lines]
        print(f"{what}: {_spread(seconds)} seconds, {_spread(new)} new prompt tokens (median, 95%)")
    print(f"mean load {np.mean([line['load'] for line in lines]):.1f}")
    abstention(lines)


def answers(lines: Sequence[dict[str, Any]]) -> dict[str, list[float]]:
    """Whether each turn is right by the beam, the model, and both; the weights are cross-validated over all turns."""
    plain = [judged(line, named=False) for line in lines]
    return {
        "beam": [float(one.right[0]) for one in plain],
        "choice": [float(one.right[one.evidence.first]) for one in plain if one.evidence is not None],
        "calculation": [float(line["named_right"]) for line in lines],
        "blend with the choice": _blended(plain),
        "blend with both": _blended([judged(line, named=True) for line in lines]),
    }


def table(name: str, lines: Sequence[dict[str, Any]], columns: dict[str, list[float]], places: Sequence[int]) -> None:
    """Right answers on some of the turns."""
    pages = [lines[place]["page"] for place in places]
    print(f"\n{name}: {len(pages)} turns, {len(set(pages))} pages")
    beam = [columns["beam"][place] for place in places]
    for what, column in columns.items():
        values = [column[place] for place in places]
        found = bootstrap_mean(pages, values, seed=0)
        gain = paired_difference(pages, beam, values, seed=0)
        print(f"  {what} {_percent(found)}; less beam {_percent(gain, '+')}")
    some = [lines[place] for place in places]
    unread = sum(line["named"] is None for line in some)
    new = sum(line["named_right"] and not any(line["right"]) for line in some)
    print(f"  no calculation written: {unread}; right ones that are no candidate: {new}")


def _blended(turns: Sequence[JudgedTurn]) -> list[float]:
    fitted = choose_blend(turns, seed=0)
    return [float(one.right[pick]) for one, pick in zip(turns, fitted.picks, strict=True)]


def abstention(lines: Sequence[dict[str, Any]]) -> None:
    """Unanswerable turns that are recognised at given shares of lost answers: by the search, the model, and both."""
    examples = [
        AbstentionExample(
            line["page"], line["kind"] not in ("unanswerable", "removed"), line["answerable"], line["none"]
        )
        for line in lines
    ]
    print()
    for parts in (("answerable",), ("none",), ("answerable", "none")):
        fitted = fit_abstention(examples, parts=parts, seed=0)
        shown = []
        for lost in (0.05, 0.1, 0.2):
            share, pages = fitted.recognised(lost)
            shown.append(f"{_percent(bootstrap_mean(pages, share, seed=0))} at {lost:.0%}")
        print(f"unanswerable recognised by {' and '.join(parts)}: {'; '.join(shown)}; log-loss {fitted.loss:.3f}")


def _spread(values: Sequence[float]) -> str:
    return f"{np.median(values):.3g}, {np.quantile(values, 0.95):.3g}"


def _percent(found: Any, sign: str = "") -> str:
    return f"{100 * found.value:{sign}.1f} [{100 * found.low:{sign}.1f}, {100 * found.high:{sign}.1f}]"


def main() -> None:
    """Runs one of the two steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(required=True)
    asks = steps.add_parser("ask")
    asks.add_argument("--train", nargs="+", required=True)
    asks.add_argument("--also", nargs="*", default=[], help="files with gold answers alone")
    asks.add_argument("--program", default="beam")
    asks.add_argument("--lm", default="local/qwen2.5-coder-0.5b+reports")
    asks.add_argument("--engine", choices=("runtime", "torch"), default="runtime")
    asks.add_argument("--turns", type=int, default=160)
    asks.add_argument("--minutes", type=float, default=20.0)
    asks.add_argument("--out", type=Path, required=True)
    asks.set_defaults(run=ask)
    reports = steps.add_parser("report")
    reports.add_argument("replies", type=Path)
    reports.set_defaults(run=report)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
