"""Chat examples as tokens: replies alone are learned, and only where rivals branch."""

from __future__ import annotations

from optimize.finetuning.sequences import ChatExample, MemoTokeniser, Reply, tokenised

MESSAGES = (
    {"role": "user", "content": "q"},
    {"role": "assistant", "content": "ab"},
    {"role": "user", "content": "r"},
    {"role": "assistant", "content": "cd"},
)


def _text(tokens: list[int]) -> str:
    known = {1: "<", 2: ">", 3: "/"}
    return "".join(known.get(token, chr(token)) for token in tokens)


def test_only_learned_replies_are_targets(tokeniser: object) -> None:
    found = tokenised(ChatExample(MESSAGES, {3: Reply("cd")}), MemoTokeniser(tokeniser), 200)  # type: ignore[arg-type]
    assert _text(found.tokens) == "<user:q/<assistant:ab/<user:r/<assistant:cd"
    assert [_text([one.token]) for one in found.targets] == ["c", "d", "/"]
    assert [found.tokens[one.place + 1] for one in found.targets[:2]] == found.tokens[-2:]
    assert found.replies == 1


def test_branches_are_where_rivals_part(tokeniser: object) -> None:
    reply = Reply("cd", rivals=("ce", "cdx", "y"))
    found = tokenised(ChatExample(MESSAGES, {3: reply}), MemoTokeniser(tokeniser), 200)  # type: ignore[arg-type]
    assert [{_text([one]) for one in target.branches} for target in found.targets] == [
        {"c", "y"},
        {"d", "e"},
        {"x", "/"},
    ]


def test_turns_beyond_the_length_are_left_out(tokeniser: object) -> None:
    example = ChatExample.of_record({"messages": list(MESSAGES)})
    assert tokenised(example, MemoTokeniser(tokeniser), 200).replies == 2  # type: ignore[arg-type]
    assert tokenised(example, MemoTokeniser(tokeniser), 25).replies == 1  # type: ignore[arg-type]
