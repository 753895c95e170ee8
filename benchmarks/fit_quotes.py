"""Trains an adapter (LoRA) of an embedded model that answers questions about news by quoting, on passages people wrote.

$ python benchmarks/fit_quotes.py --lm local/qwen2.5-coder-1.5b --passes 3 --rank 8 --blocks 24

It needs the extra ``finetune``. Two or three passages that follow each other in a file are read together with all their
questions, as the product shows the documents nearest to a question. They often report on one affair. Some questions
are of passages that are not shown, and their reply is ``none``. The files that end in ``03`` are only measured.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from passage_readings import PassageQuestion, passage_files, read_file

from experiments.lms import LMConfig, lm_settings
from kg.news import Passage
from optimize.finetuning import AdapterConfig, Chat, train_adapter
from programs.worlds.news.quoting import ADAPTER, NONE, POLAR, ShownDocument, quote_messages, quote_reply

SIZES = (3, 3, 2, 3)
"""The passages that are read together, in turn."""

OTHERS = 2
"""Questions of passages that are not shown, for each reading."""


def contexts(paths: Sequence[Path], generator: random.Random) -> Iterator[list[Chat]]:
    """Yields the questions about passages that are read together, one example each.

    Args:
        paths: The files; the passages of each begin to be grouped at a random place.
        generator: Of the groups, the order of the questions and the questions of other passages.
    """
    read = [(path, *read_file(path)) for path in paths]
    every = [question for _, _, questions in read for question in questions]
    for path, sentences, questions in read:
        names = list(dict.fromkeys(one.document for one in sentences))
        place = -generator.randrange(max(SIZES))
        while place < len(names):
            size = generator.choice(SIZES)
            shown = names[max(place, 0) : place + size]
            place += size
            if shown:
                others = [one for one in generator.sample(every, 4 * OTHERS) if one.passage not in names][:OTHERS]
                own = [one for one in questions if one.passage in shown]
                yield list(_examples(f"{path.stem}:{','.join(shown)}", sentences, shown, own, others, generator))


def _examples(
    group: str,
    sentences: Sequence[Passage],
    shown: Sequence[str],
    own: Sequence[PassageQuestion],
    others: Sequence[PassageQuestion],
    generator: random.Random,
) -> Iterator[Chat]:
    documents = [_document([one for one in sentences if one.document == name]) for name in shown]
    replies = [(one.text, reply_of(one, sentences)) for one in own] + [(one.text, NONE) for one in others]
    generator.shuffle(replies)
    for text, reply in replies:
        if reply is not None:
            messages = quote_messages(documents, text)
            answered = (*messages, {"role": "assistant", "content": reply})
            yield Chat(answered, frozenset({len(messages)}), group)


def _document(sentences: Sequence[Passage]) -> ShownDocument:
    headline, *rest = sentences
    return ShownDocument(headline.text, headline.published, tuple(one.text for one in rest))


def reply_of(question: PassageQuestion, sentences: Sequence[Passage]) -> str | None:
    """Returns the reply to a question, several quotes in the order of the passage; ``None`` if one is no quote."""
    if len(question.answers) == 1 and question.answers[0] in POLAR:
        return question.answers[0]
    text = "\n".join(one.text for one in sentences if one.document == question.passage)
    if any(answer not in text for answer in question.answers):
        return None
    return quote_reply(sorted(question.answers, key=text.index))


def main() -> None:
    """Trains the adapter; it is written into the folder ``adapters`` beside the model's file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lm", default="local/qwen2.5-coder-0.5b", help="the model")
    parser.add_argument("--files", default="*", metavar="PATTERN", help="the files of passages, by their names")
    parser.add_argument(
        "--kept", default="*", metavar="PATTERN", help="the files that are only measured, by their names"
    )
    parser.add_argument("--passes", type=int, default=1, help="how often each question is learned")
    parser.add_argument("--rate", type=float, default=4e-4, help="the largest learning rate")
    parser.add_argument("--rank", type=int, default=4, help="the rank of the adapter")
    parser.add_argument("--batch", type=int, default=16, help="questions of a step")
    parser.add_argument("--blocks", type=int, default=14, help="blocks that get matrices, the last ones")
    parser.add_argument("--seed", type=int, default=0, help="of the groups, their order and the adapter's start")
    parser.add_argument("--folder", type=Path, help="the place of checkpoints, to continue from")
    arguments = parser.parse_args()
    generator = random.Random(arguments.seed)
    paths = [path for path in passage_files(kept=False) if path.match(f"{arguments.files}.txt")]
    learned = [one for _ in range(arguments.passes) for group in contexts(paths, generator) for one in group]
    kept = [path for path in passage_files(kept=True) if path.match(f"{arguments.kept}.txt")]
    measured = [one for group in contexts(kept, random.Random(0)) for one in group]
    config = AdapterConfig(
        rank=arguments.rank,
        blocks=arguments.blocks,
        learning_rate=arguments.rate,
        batch=arguments.batch,
        longest=4096,
    )
    card = train_adapter(
        lm_settings(LMConfig(arguments.lm, threads=1))["lm"].engine,
        learned,
        measured,
        name=ADAPTER,
        config=config,
        seed=arguments.seed,
        folder=arguments.folder,
        progress=lambda line: print(line, flush=True),
    )
    print(card["curves"][-1])


if __name__ == "__main__":
    main()
