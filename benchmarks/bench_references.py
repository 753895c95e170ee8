"""The share of the gold references to earlier turns is resolved to the right turn, with and without graph context.

    python benchmarks/bench_references.py --train train.json --data dev.json \\
        --dialogues train_dialogues_without_documents.jsonl --beam beam --json out.json

Three models are fitted on the training conversations alone: one sees the questions, one also how they were answered,
one also the report's graph. With ``--folds N`` they are cross-validated on the training conversations instead, which is
how settings are chosen. A gold reference is a calculation of an earlier turn that a gold program repeats, or a figure
that an earlier turn selected; it is resolved if a turn that has it is among those the model says are used. Histories
are gold. Two wider counts go by the programs' text: every program that begins with an earlier one, also where the
steps are not used (``begins``), and every earlier selected figure that a calculation names, also inside a repeated
calculation (``names``); for these the turns that the turns said to be used had used in turn count too.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.data import ConversationRecord, conversation_examples, load_conversations, read_dialogues
from experiments.saved import find_program
from experiments.tracking import Tracker, TrackingConfig
from kg.coreference.turns import References, Sight, references_of, used_turns
from kg.derivations.derivation import Derivation
from kg.derivations.history import PastTurn
from optimize.scorers.coreference import ReferenceExample, fit_references, gold_past, reference_examples
from programs.conversation import ConversationQA

Resolver = Callable[[ReferenceExample, Sequence[PastTurn], int], frozenset[int]]
Row = dict[str, float]
COUNTS = (
    *("embedded", "embedded_right", "reused", "reused_right", "said", "said_right", "turns", "exact"),
    *("programs_embedding", "programs_reusing", "programs_naming", "begins", "begins_right", "names", "names_right"),
)
SHARES = (
    *("references_resolved", "embedded_resolved", "reused_resolved", "begins_resolved", "names_resolved"),
    *("precision", "exact_turns"),
)
MODELS: dict[str, Sight] = {
    "questions alone": "questions",
    "without graph context": "conversation",
    "with graph context": "graph",
}


def score(example: ReferenceExample, resolver: Resolver) -> Row:
    """Counts of one conversation: gold references by kind, those resolved, turns said to be used, exact sets."""
    past = gold_past(example.questions, example.programs)
    row: Row = dict.fromkeys(COUNTS, 0.0)
    for place in range(1, len(past)):
        gold = references_of(example.programs[place], example.programs[:place])
        said = resolver(example, past, place)
        right = {turn for group in (*gold.embedded, *gold.reused) for turn in group}
        for kind, groups in (("embedded", gold.embedded), ("reused", gold.reused)):
            row[kind] += len(groups)
            row[f"{kind}_right"] += sum(bool(group & said) for group in groups)
        row["programs_embedding"] += bool(gold.embedded)
        row["programs_reusing"] += bool(gold.reused)
        row["said"] += len(said)
        row["said_right"] += len(said & right)
        row["turns"] += 1
        groups = (*gold.embedded, *gold.reused)
        row["exact"] += said <= right and all(group & said for group in groups)
        _score_text(row, example.programs[: place + 1], _closed(said, example.programs))
    return row


def _score_text(row: Row, programs: Sequence[Derivation], said: frozenset[int]) -> None:
    """The two counts that go by the programs' text."""
    *earlier, program = programs
    calculated = [place for place, one in enumerate(earlier) if not one.is_look_up]
    repeated = [place for place in calculated if str(program).startswith(str(earlier[place]))]
    if repeated:
        longest = max(len(str(earlier[place])) for place in repeated)
        row["begins"] += 1
        row["begins_right"] += any(place in said for place in repeated if len(str(earlier[place])) == longest)
    if program.is_look_up:
        return
    figures = {number.text for number in program.numbers}
    named = {str(one) for one in earlier if one.is_look_up and str(one) in figures}
    row["programs_naming"] += bool(named)
    row["names"] += len(named)
    row["names_right"] += sum(
        any(str(one) == figure and place in said for place, one in enumerate(earlier)) for figure in named
    )


def _closed(said: frozenset[int], programs: Sequence[Derivation]) -> frozenset[int]:
    """The turns, with those that they use in turn."""
    reached, waiting = set(said), list(said)
    while waiting:
        place = waiting.pop()
        groups = references_of(programs[place], programs[:place])
        new = {turn for group in (*groups.embedded, *groups.reused) for turn in group} - reached
        reached |= new
        waiting += new
    return frozenset(reached)


def summarise(rows: Sequence[Row], seed: int) -> dict[str, Any]:
    """Shares over all conversations, each with a 95% interval by a bootstrap over conversations."""
    table = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    draws = np.random.default_rng(seed).integers(0, len(rows), (2000, len(rows)))
    result: dict[str, Any] = {name: int(values.sum()) for name, values in table.items()}
    shares = {
        "references_resolved": (table["embedded_right"] + table["reused_right"], table["embedded"] + table["reused"]),
        "embedded_resolved": (table["embedded_right"], table["embedded"]),
        "reused_resolved": (table["reused_right"], table["reused"]),
        "begins_resolved": (table["begins_right"], table["begins"]),
        "names_resolved": (table["names_right"], table["names"]),
        "precision": (table["said_right"], table["said"]),
        "exact_turns": (table["exact"], table["turns"]),
    }
    for name, (part, whole) in shares.items():
        result[name] = float(part.sum() / max(whole.sum(), 1))
        sampled = part[draws].sum(axis=1) / np.maximum(whole[draws].sum(axis=1), 1)
        result[f"{name}_low"], result[f"{name}_high"] = (float(one) for one in np.percentile(sampled, [2.5, 97.5]))
    return result


def by_model(model: Any) -> Resolver:
    """Resolves by a fitted model."""

    def resolve(example: ReferenceExample, past: Sequence[PastTurn], place: int) -> frozenset[int]:
        return frozenset(used_turns(model, example.questions[place], past[:place], example.index))

    return resolve


def latest(example: ReferenceExample, past: Sequence[PastTurn], place: int) -> frozenset[int]:
    """The simplest way: every question uses the turn before it."""
    return frozenset((place - 1,))


def by_program(program: ConversationQA, conversations: Sequence[ConversationRecord]) -> list[Row]:
    """Resolves by what the program's own derivation uses, the turns before it given."""
    rows = []
    for one in conversations:
        programs = [Derivation.parse(text) for text in one.programs or ()]
        past = gold_past(one.questions, programs)
        turns = program(report=one.report, questions=list(one.questions), past=past).turns
        found: list[References] = [
            references_of(turn.derivation, programs[:place]) if turn.derivation is not None else References()
            for place, turn in enumerate(turns)
        ]
        every = [frozenset(t for group in (*f.embedded, *f.reused) for t in group) for f in found]
        example = ReferenceExample(one.questions, programs)
        rows.append(score(example, lambda _, __, place, every=every: every[place]))  # type: ignore[misc]
    return rows


def main() -> None:
    """Prints a row for each way of resolving."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", required=True)
    parser.add_argument("--dialogues")
    parser.add_argument("--data")
    parser.add_argument("--folds", type=int, default=0)
    parser.add_argument("--penalty", type=float, default=4.0)
    parser.add_argument("--beam", help="also the references of this program's own derivations")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    saved = find_program("beam", Tracker(TrackingConfig.from_environment()))
    reader = saved.program.turn.reader
    conversations = load_conversations(options.train).conversations
    train = reference_examples(conversation_examples(conversations), reader)
    ids = {one.id for one in conversations}
    extra = read_dialogues(options.dialogues).without(ids).items if options.dialogues else ()
    dialogues = [(one[0], ReferenceExample(one[1], [Derivation.parse(text) for text in one[2]])) for one in extra]
    results: dict[str, Any] = {}
    with threadpool_limits(limits=1):
        if options.folds:
            results = cross_validated(conversations, train, dialogues, options)
        else:
            data = load_conversations(options.data).conversations
            test = reference_examples(conversation_examples(data), reader)
            both = [*train, *(one for _, one in dialogues)]
            models = {title: fit_references(both, sees=sees, penalty=options.penalty) for title, sees in MODELS.items()}
            ways = {"the turn before": latest, **{name: by_model(model) for name, model in models.items()}}
            for name, way in ways.items():
                results[name] = summarise([score(one, way) for one in test], options.seed)
            if options.beam:
                program = find_program(options.beam, Tracker(TrackingConfig.from_environment())).program
                results[f"derivations of {options.beam}"] = summarise(by_program(program, data), options.seed)
    for name, found in results.items():
        shown = (
            f"{key} {100 * found[key]:.1f} [{100 * found[key + '_low']:.1f}, {100 * found[key + '_high']:.1f}]"
            for key in SHARES
        )
        print(f"{name}: {'; '.join(shown)}")
    first = next(iter(results.values()))
    counts = (
        "programs_embedding",
        "programs_reusing",
        "embedded",
        "reused",
        "begins",
        "programs_naming",
        "names",
        "turns",
    )
    print(", ".join(f"{name} {first[name]}" for name in counts))
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def cross_validated(
    conversations: Sequence[ConversationRecord],
    train: Sequence[ReferenceExample],
    dialogues: Sequence[tuple[str, ReferenceExample]],
    options: argparse.Namespace,
) -> dict[str, Any]:
    """Both models on training conversations, each fitted without the documents that it is asked about."""
    documents = sorted({one.document for one in conversations})
    np.random.default_rng(options.seed).shuffle(documents)
    fold_of = {document: place % options.folds for place, document in enumerate(documents)}
    rows: dict[str, list[Row]] = {"the turn before": [], **{title: [] for title in MODELS}}
    for fold in range(options.folds):
        inside = [e for c, e in zip(conversations, train, strict=True) if fold_of[c.document] != fold]
        held = [e for c, e in zip(conversations, train, strict=True) if fold_of[c.document] == fold]
        names = {document for document in documents if fold_of[document] == fold}
        inside += [one for name, one in dialogues if not any(document in name for document in names)]
        for title, sees in MODELS.items():
            model = fit_references(inside, sees=sees, penalty=options.penalty)
            rows[title] += [score(one, by_model(model)) for one in held]
        rows["the turn before"] += [score(one, latest) for one in held]
    return {name: summarise(found, options.seed) for name, found in rows.items()}


if __name__ == "__main__":
    main()
