"""The choice of an embedded model among the beam's candidates, before and after DSPy's compiling.

    python benchmarks/compiled_evidence.py ask --train convfinqa/train.json written/train.json \\
        --lm local/qwen2.5-coder-0.5b --variants likelihood likelihood+demonstrations index index+bootstrap \\
        --turns 120 --minutes 25 --out replies.jsonl
    python benchmarks/compiled_evidence.py report replies.jsonl

The turns are of training pages that the program's encoder and scorer were not fitted on, with gold history, where the
beam's confidence is below ``--below``. Every fourth of the pages gives the demonstrations and is not asked. Each reply
is a line of the file, so a stopped run continues. ``likelihood+shipped`` shows the program's own demonstrations.
``index+copro`` searches instructions on turns of the demonstrations' pages; ``--prompt-lm`` proposes them. ``report``
prints the model's own choice, and its blend with the beam's score, whose weights are cross-validated over the pages.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import dspy  # noqa: E402
import numpy as np  # noqa: E402

from experiments.data import conversation_examples, load_conversations  # noqa: E402
from experiments.lms.config import LMConfig, lm_settings  # noqa: E402
from experiments.saved import find_program  # noqa: E402
from kg.candidates import Candidate, fixed_history, search_turn  # noqa: E402
from kg.derivations import PastTurn  # noqa: E402
from kg.search import merge_key  # noqa: E402
from optimize.evidence import JudgedTurn, choose_blend, gold_turns, unseen  # noqa: E402
from optimize.evidence.demonstrations import choose_demonstrations  # noqa: E402
from optimize.metrics.statistics import bootstrap_mean, paired_difference  # noqa: E402
from optimize.needs import Extras  # noqa: E402
from optimize.prompts import (  # noqa: E402
    BootstrapOptimizer,
    COPROOptimizer,
    LabeledOptimizer,
    TurnStudent,
    apply_prompt_state,
    prompt_state,
    tidy_demonstrations,
)
from optimize.prompts.turns import turn_examples  # noqa: E402
from optimize.scorers import document_name  # noqa: E402
from programs.evidence import Evidence, EvidenceConfig, EvidencePlan, length_of  # noqa: E402
from programs.lm import metered  # noqa: E402
from programs.beam import BeamQA  # noqa: E402
from programs.reports.choice import gathered  # noqa: E402
from programs.reports.question import QuestionContext  # noqa: E402

SHOWN = 10
DEMONSTRATIONS_EVERY = 4
TRAINED_ON = {"bootstrap": 60, "labeled": 60, "copro": 24}
"""Turns that an optimizer is given at most; COPRO scores each instruction on all of them."""


@dataclass(frozen=True)
class AskedTurn:
    """A turn on which the model is asked.

    Attributes:
        name: The conversation and the turn's number.
        page: Its document.
        source: The file of the conversation.
        asked: The question after its gold history.
        candidates: The beam's best.
        right: Whether each of them has the gold answer.
    """

    name: str
    page: str
    source: str
    asked: QuestionContext
    candidates: tuple[Candidate, ...]
    right: tuple[bool, ...]


@dataclass(frozen=True)
class Split:
    """Conversations of unseen pages: those that are asked, and those of demonstrations, by file."""

    asked: dict[str, list[dspy.Example]]
    shown: list[dspy.Example]


def split(turn: BeamQA, files: Sequence[str], seed: int) -> Split:
    """Returns the conversations about pages that the program's encoder was not fitted on."""
    asked: dict[str, list[dspy.Example]] = {}
    shown: list[dspy.Example] = []
    for file in files:
        examples = conversation_examples(load_conversations(file).conversations)
        free = [examples[place] for place in unseen(turn, examples)]
        random.Random(seed).shuffle(free)
        pages = sorted({document_name(one.report.id) for one in free})
        of_demonstrations = set(pages[::DEMONSTRATIONS_EVERY])
        asked[file] = [one for one in free if document_name(one.report.id) not in of_demonstrations]
        shown += [one for one in free if document_name(one.report.id) in of_demonstrations]
    pages_shown = {document_name(one.report.id) for one in shown}
    asked = {
        file: [one for one in found if document_name(one.report.id) not in pages_shown] for file, found in asked.items()
    }
    return Split(asked, shown)


def turns_of(turn: BeamQA, source: str, examples: Sequence[dspy.Example], below: float) -> Iterator[AskedTurn]:
    """The turns where the beam's confidence is below a bound, each after its gold history."""
    for example in examples:
        _, index = turn.reader.read(example.report)
        past: list[PastTurn] = []
        for place, gold in enumerate(gold_turns(example, index)):
            asked = QuestionContext(
                index, tuple(example.questions[: place + 1]), tuple(fixed_history(index, past)), tuple(past)
            )
            found = search_turn(index, asked.questions, asked.histories, turn.reader.scorer, turn.config)
            past.append(gold)
            shown = found.candidates[:SHOWN]
            if len(shown) > 1 and math.exp(shown[0].score) < below:
                right = tuple(merge_key(one.answer) == merge_key(gold.answer) for one in shown)
                name = f"{example.id}#{place}"
                yield AskedTurn(name, document_name(example.report.id), source, asked, shown, right)


def alternating(turn: BeamQA, found: Split, below: float, count: int) -> Iterator[AskedTurn]:
    """The turns of all files in turn, at most ``count``."""
    every = [turns_of(turn, Path(file).parent.name, examples, below) for file, examples in found.asked.items()]
    number = 0
    for one in chain.from_iterable(zip_longest(*every)):
        if one is not None and number < count:
            number += 1
            yield one
        if number >= count:
            return


Ask = Callable[[AskedTurn], Evidence]


def asking(variant: str, turn: BeamQA, found: Split, lms: dict[str, Any], below: float, folder: Path) -> Ask:
    """Returns the way to ask for a variant: its mode, and what was compiled."""
    mode, _, compiled = variant.partition("+")
    plan = EvidencePlan(mode, shown=SHOWN)  # type: ignore[arg-type]
    config, aggregate = EvidenceConfig(), turn.aggregate
    if variant == "likelihood+shipped":
        config = EvidenceConfig(demonstrations=turn.evidence.demonstrations)
    elif mode == "likelihood" and compiled:
        shown = choose_demonstrations(found.shown, turn.reader, count=10, seed=0)
        config = EvidenceConfig(demonstrations=shown.demonstrations)
    elif compiled:
        aggregate = compiled_choice(turn, compiled, found, lms, below, folder).turn.aggregate

    def ask(one: AskedTurn) -> Evidence:
        report = turn.reader.graph_of(one.asked.index).report
        return gathered(plan, one.candidates, one.asked, report, config, aggregate, None, one.asked.question)

    return ask


def compiled_choice(
    turn: BeamQA, optimizer: str, found: Split, lms: dict[str, Any], below: float, folder: Path
) -> TurnStudent:
    """Returns the program for one turn after a prompt optimizer; its prompts are kept in a file.

    Args:
        turn: The program for one turn.
        optimizer: Its name after ``index+``.
        found: The conversations.
        lms: The ``task`` model, and the ``prompt`` model that proposes instructions.
        below: The beam's confidence below which a turn is learned.
        folder: Where the prompts are kept.
    """
    chooses: BeamQA = turn.deepcopy()
    chooses.set_evidence(EvidenceConfig(evidence="index", trust="model", understand=False, answer="always"))
    student = TurnStudent(chooses, active={"turn.aggregate"})
    kept = folder / f"{lms['task'].model.replace('/', '-')}.{optimizer}.json"
    if kept.exists():
        apply_prompt_state(student, json.loads(kept.read_text(encoding="utf-8")))
        return student
    unsure = {one.name for one in turns_of(turn, "", found.shown, below)}
    examples = [
        one
        for example in found.shown
        for place, one in enumerate(turn_examples([example], turn.reader))
        if f"{example.id}#{place}" in unsure
    ]
    random.Random(0).shuffle(examples)
    made = {
        "bootstrap": BootstrapOptimizer(),
        "labeled": LabeledOptimizer(k=4, longest=1200),
        "copro": COPROOptimizer(breadth=3, depth=1),
    }[optimizer]
    with dspy.context(lm=lms["task"], adapter=None), _stating_confidence(lms["task"].engine):
        extras = Extras(lms={**lms, "teacher": lms["task"]})
        student = made.make(0, extras).compile(student, trainset=examples[: TRAINED_ON[optimizer]])
    tidy_demonstrations(student)
    kept.write_text(json.dumps(prompt_state(student), indent=1), encoding="utf-8")
    return student


@contextmanager
def _stating_confidence(engine: Any) -> Iterator[None]:
    """Demonstrations state a confidence; replies whose probabilities are read need none."""
    engine.states_confidence = True
    yield
    engine.states_confidence = False


def ask(options: argparse.Namespace) -> None:
    """Asks the models, and adds a line for each reply."""
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)  # the seconds must be those of the model
    turn = find_program(options.program).program.turn
    assert isinstance(turn, BeamQA)
    stop = time.monotonic() + 60 * options.minutes
    prompting = {}
    if options.prompt_lm is not None:
        proposes = LMConfig(options.prompt_lm, api_base=options.api_base, timeout=3000, retries=0)
        prompting = {"prompt": lm_settings(proposes)["lm"]}
    found = split(turn, options.train, 0)
    turns = list(alternating(turn, found, options.below, options.turns))
    print(f"{len(turns)} turns of {len({one.page for one in turns})} pages", flush=True)
    lines = [json.loads(line) for line in options.out.open()] if options.out.exists() else []
    done = {(line["lm"], line["variant"], line["turn"]) for line in lines}
    with options.out.open("a", encoding="utf-8") as out:
        for lm in options.lm:
            settings = embedded_settings(lm, options.engine)
            for variant in options.variants:
                left = [one for one in turns if (lm, variant, one.name) not in done]
                if not left or time.monotonic() > stop:
                    continue
                lms = {"task": settings["lm"], **prompting}
                asks = asking(variant, turn, found, lms, options.below, options.out.parent)
                print(f"{lm}, {variant}: {len(left)} turns", flush=True)
                for one in left:
                    if time.monotonic() > stop:
                        break
                    out.write(json.dumps(asked_once(one, asks, lm, variant, settings)) + "\n")
                    out.flush()


def embedded_settings(lm: str, engine: str) -> dict[str, Any]:
    """Returns an embedded model as settings of ``dspy.context``, computed by the runtime or by torch."""
    settings = lm_settings(LMConfig(lm, threads=1))
    if engine == "torch":
        from benchmarks.torch_engine import TorchEngine

        settings["lm"] = settings["lm"].copy(engine=TorchEngine(settings["lm"].engine.settings))
    return settings


def asked_once(one: AskedTurn, asks: Ask, lm: str, variant: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Returns the line of one reply, with its time and tokens."""
    spent, load = time.process_time(), os.getloadavg()[0]
    with dspy.context(**settings), metered() as measured:
        evidence = asks(one)
    usage = measured.usage
    return {
        "lm": lm,
        "variant": variant,
        "turn": one.name,
        "page": one.page,
        "source": one.source,
        "scores": [round(candidate.score, 5) for candidate in one.candidates],
        "lengths": [length_of(candidate.derivation) for candidate in one.candidates],
        "right": one.right,
        "shares": [round(share, 4) for share in evidence.shares],
        "likelihoods": [round(value, 4) for value in evidence.likelihoods],
        "exact": [round(share, 4) for share in getattr(settings["lm"].engine, "exact", ())],
        "none": evidence.none,
        "mode": evidence.mode,
        "seconds": round(usage.seconds, 3),
        "processor_seconds": round(time.process_time() - spent, 3),
        "load": round(load, 1),
        "calls": usage.lm_calls,
        "prompt_tokens": usage.prompt_tokens,
        "cached_tokens": usage.cached_prompt_tokens,
        "completion_tokens": usage.completion_tokens,
    }


def judged(line: dict[str, Any]) -> JudgedTurn:
    """A reply as the fit of weights takes it."""
    evidence = Evidence(line["mode"], tuple(line["shares"]), tuple(line["likelihoods"]), none=line["none"])
    return JudgedTurn(
        line["page"], tuple(line["scores"]), tuple(line["lengths"]), tuple(map(bool, line["right"])), evidence
    )


def report(options: argparse.Namespace) -> None:
    """Prints the figures of each variant, and the paired differences from the variant without compiling."""
    lines = [json.loads(line) for line in options.replies.open()]
    for lm in dict.fromkeys(line["lm"] for line in lines):
        variants: dict[str, dict[str, dict[str, Any]]] = {}
        for line in lines:
            if line["lm"] == lm:
                variants.setdefault(line["variant"], {})[line["turn"]] = line
        for name, found in variants.items():
            print(f"\n{lm}, {name}: {_figures(list(found.values()))}")
        for name, found in variants.items():
            before = variants.get(name.partition("+")[0])
            if "+" in name and before is not None:
                print(f"\n{lm}, {name} less without: {_difference(before, found)}")


def _figures(lines: Sequence[dict[str, Any]]) -> str:
    pages = [line["page"] for line in lines]
    turns = [judged(line) for line in lines]
    beam = [float(one.right[0]) for one in turns]
    own = [float(one.right[one.evidence.first]) for one in turns if one.evidence is not None]
    blend = _blended(turns)
    gain = paired_difference(pages, beam, blend, seed=0)
    seconds, load = [line["seconds"] for line in lines], np.mean([line["load"] for line in lines])
    new = [line["prompt_tokens"] - line["cached_tokens"] for line in lines]
    parts = [
        f"{len(lines)} turns, {len(set(pages))} pages",
        f"beam {_interval(pages, beam)}",
        f"own choice {_interval(pages, own)}",
        f"blend {_interval(pages, blend)}",
        f"blend less beam {_written(gain)}",
        f"among the candidates {_interval(pages, [float(any(one.right)) for one in turns])}",
        f"seconds median {np.median(seconds):.2f}, 95% {np.quantile(seconds, 0.95):.2f}, mean load {load:.1f}",
        f"processor seconds median {np.median([line['processor_seconds'] for line in lines]):.2f}",
        (
            f"new prompt tokens median {np.median(new):.0f}, 95% {np.quantile(new, 0.95):.0f}; "
            f"all {np.median([line['prompt_tokens'] for line in lines]):.0f}; "
            f"reply {np.median([line['completion_tokens'] for line in lines]):.0f}"
        ),
    ]
    return "\n  ".join(parts)


def _blended(turns: Sequence[JudgedTurn]) -> list[float]:
    fitted = choose_blend(turns, seed=0)
    return [float(one.right[pick]) for one, pick in zip(turns, fitted.picks, strict=True)]


def _difference(before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]]) -> str:
    names = [name for name in before if name in after]
    pages = [before[name]["page"] for name in names]
    both = [[judged(lines[name]) for name in names] for lines in (before, after)]
    own = [[float(one.right[one.evidence.first]) for one in turns if one.evidence is not None] for turns in both]
    blends = [_blended(turns) for turns in both]
    return (
        f"{len(names)} turns; own choice {_written(paired_difference(pages, *own, seed=0))}; "
        f"blend {_written(paired_difference(pages, *blends, seed=0))}"
    )


def _interval(groups: Sequence[str], values: Sequence[float]) -> str:
    found = bootstrap_mean(groups, values, seed=0)
    return f"{100 * found.value:.1f} [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def _written(found: Any) -> str:
    return f"{100 * found.value:+.1f} [{100 * found.low:+.1f}, {100 * found.high:+.1f}]"


def main() -> None:
    """Runs one of the two steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(required=True)
    asks = steps.add_parser("ask")
    asks.add_argument("--train", nargs="+", required=True)
    asks.add_argument("--program", default="beam")
    asks.add_argument("--lm", nargs="+", default=["local/qwen2.5-coder-0.5b"])
    asks.add_argument("--engine", choices=("runtime", "torch"), default="runtime")
    asks.add_argument("--prompt-lm", help="proposes the instructions of index+copro")
    asks.add_argument("--api-base", help="the address of --prompt-lm")
    asks.add_argument("--variants", nargs="+", required=True)
    asks.add_argument("--turns", type=int, default=120)
    asks.add_argument("--below", type=float, default=0.7)
    asks.add_argument("--minutes", type=float, default=30.0)
    asks.add_argument("--out", type=Path, required=True)
    asks.set_defaults(run=ask)
    reports = steps.add_parser("report")
    reports.add_argument("replies", type=Path)
    reports.set_defaults(run=report)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
