"""Records prompts and replies as a transcript that stands in for the language model (:mod:`programs.lm.replay`).

    python tools/record_transcript.py FOLDER transcript.jsonl       # in/00001.json with out/00001.txt, and so on
    python tools/record_transcript.py FOLDER transcript.jsonl --limit 60

The folder holds requests of the OpenAI protocol and the replies to them, as text. Evaluate with the transcript by
``finpath evaluate beam --data sample:dev --lm replay/transcript.jsonl``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from programs.lm import Transcript  # noqa: E402


def main(arguments: list[str] | None = None) -> int:
    """Writes the transcript."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder of requests (in) and replies (out)")
    parser.add_argument("out", type=Path, help="the transcript to write")
    parser.add_argument("--limit", type=int, help="only the first exchanges")
    options = parser.parse_args(arguments)
    found = Transcript.of_folder(options.folder)
    Transcript(found.exchanges[: options.limit]).write(options.out)
    sys.stdout.write(f"{len(found.exchanges[: options.limit])} exchanges in {options.out}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
