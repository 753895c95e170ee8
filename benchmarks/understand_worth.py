"""Whether a language model's Understanding helps the search, on training reports that the search does not know.

    python benchmarks/understand_worth.py --train train.json --also finqa.json --dialogues dialogues.jsonl \\
        --lm local/qwen2.5-coder-1.5b --turns 60

The beam is fitted without a fifth of the reports. Conversations about those are answered with own history, by the beam
alone and by the beam that is told what the model understood; nothing else is asked of the model.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import dspy  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

from benchmarks.cross_validate import Data, fit, split  # noqa: E402
from experiments.data import ConversationRecord, load_conversations, read_dialogues  # noqa: E402
from experiments.lms.config import LMConfig, reach_lm  # noqa: E402
from optimize.metrics.statistics import paired_difference  # noqa: E402
from optimize.metrics.turns import TurnScore, score_conversation, summarise  # noqa: E402
from optimize.scorers.derivation_training import ScorerConfig  # noqa: E402
from programs.evidence.plans import EvidenceConfig, EvidencePlan, name_of  # noqa: E402
from programs.conversation import ConversationQA  # noqa: E402


def answer(program: ConversationQA, one: ConversationRecord) -> list[TurnScore]:
    """The scores of a conversation's turns."""
    return score_conversation(one, program(report=one.report, questions=list(one.questions)).turns)


def main() -> None:
    """Prints both, and the difference on the same turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", required=True)
    parser.add_argument("--also")
    parser.add_argument("--dialogues")
    parser.add_argument("--lm", default="local")
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    train = load_conversations(options.train).conversations
    also = load_conversations(options.also).conversations if options.also else ()
    data = Data(train, also, read_dialogues(options.dialogues).items if options.dialogues else ())
    fold_of = split(data, 5, 0)
    with threadpool_limits(limits=1):
        program = fit(data, fold_of, 0, "nothing", ScorerConfig(), 0)
    held_out = sorted((one for one in train if fold_of[one.document] == 0), key=lambda one: one.id)
    random.Random(3).shuffle(held_out)
    settings = reach_lm(LMConfig(options.lm))
    understanding = EvidencePlan("index", understand=True, skip_above=0.0)
    alone: list[TurnScore] = []
    told: list[TurnScore] = []
    for one in held_out:
        program.evidence = EvidenceConfig()
        with dspy.context(lm=None):
            alone += answer(program, one)
        program.evidence = EvidenceConfig(plans={name_of(settings["lm"]): understanding})
        with dspy.context(**settings):
            told += answer(program, one)
        if len(alone) >= options.turns:
            break
    groups = [score.conversation_id for score in alone]
    gain = paired_difference(groups, [float(one.exact) for one in alone], [float(one.exact) for one in told], seed=0)
    before, after = (summarise(scores, seed=0) for scores in (alone, told))
    shown = {"turns": len(alone), "gain": gain.value, "gain_low": gain.low, "gain_high": gain.high}
    for name in ("exe_accuracy", "recall_at_10"):
        shown |= {f"alone_{name}": before[name], f"told_{name}": after[name]}
        print(f"{name:15} alone {before[name]:.3f}   told {after[name]:.3f}")
    shown["tokens"] = after["prompt_tokens_per_turn"] + after["completion_tokens_per_turn"]
    interval = f"[{gain.low:+.3f}, {gain.high:+.3f}]"
    print(f"gain {gain.value:+.3f} {interval} on {len(alone)} turns, {shown['tokens']:.0f} tokens")
    if options.json is not None:
        options.json.write_text(json.dumps(shown, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
