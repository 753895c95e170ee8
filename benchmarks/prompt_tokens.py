"""The length of the prompt that asks for an index among the candidates, in tokens of an embedded model.

    python benchmarks/prompt_tokens.py --data train.json --limit 25 --lm local/qwen2.5-coder-1.5b

Nothing is generated: a model that only listens stands in, and the real one counts what reached it. What likelihoods
take is on every evaluation (``prompt_tokens_per_turn``).
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import dspy  # noqa: E402
import numpy as np  # noqa: E402

from experiments.data import load_conversations  # noqa: E402
from experiments.lms.config import LMConfig, make_lm  # noqa: E402
from experiments.saved import find_program  # noqa: E402
from kg.errors import ConfigError  # noqa: E402
from programs.evidence.plans import EvidenceConfig, EvidencePlan  # noqa: E402
from programs.lm.engine import EmbeddedEngine  # noqa: E402
from programs.lm.guarded import GuardedLM  # noqa: E402
from tools.prompts_page import ListeningEngine  # noqa: E402


def lengths(data: str, limit: int, engine: EmbeddedEngine) -> list[int]:
    """The tokens of each turn's prompt, with the model's chat template around it."""
    program = find_program("beam").program
    program.evidence = EvidenceConfig(plans={"local/listening": EvidencePlan("index", understand=False)})
    listening = ListeningEngine(lambda _: "choice: 1\nconfidence: 0.9")
    with dspy.context(lm=GuardedLM("local/listening", engine=listening, cache=False)):
        for one in load_conversations(data).conversations[:limit]:
            program(report=one.report, questions=list(one.questions))
    messages = ([{"role": role, "content": text} for role, text in heard] for heard in listening.heard)
    return [engine.tokens(engine.template(one)) for one in messages]


def main() -> None:
    """Prints the median and the 95th percentile."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--limit", type=int, default=25)
    parser.add_argument("--lm", default="local")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    lm = make_lm(LMConfig(options.lm))
    engine = getattr(lm, "engine", None)
    if not isinstance(engine, EmbeddedEngine):
        raise ConfigError(f"lm must be an embedded model, which says how many tokens a text has; got {options.lm!r}")
    found = lengths(options.data, options.limit, engine)
    figures = {"turns": len(found), "p50": float(np.percentile(found, 50)), "p95": float(np.percentile(found, 95))}
    print(f"{figures['turns']} turns: median {figures['p50']:.0f} prompt tokens, 95% {figures['p95']:.0f}")
    if options.json is not None:
        options.json.write_text(json.dumps(figures) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
