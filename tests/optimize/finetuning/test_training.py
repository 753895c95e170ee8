"""The training of adapters: it learns, continues after it was killed, and packs conversations without mixing them."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kg.errors import DataError  # noqa: E402
from optimize.finetuning.model import AdapterShape, Decoder  # noqa: E402
from optimize.finetuning.sequences import ChatExample, MemoTokeniser, Reply, TokenSequence, joined, tokenised  # noqa: E402
from optimize.finetuning.settings import TrainingConfig  # noqa: E402
from optimize.finetuning.training import Training  # noqa: E402

CONFIG = TrainingConfig(epochs=8, learning_rate=0.02, batch_tokens=60, longest=100, vocabulary=16, hours=1.0)
SMALL = AdapterShape(rank=4, alpha=8.0, blocks=2)


@pytest.fixture
def sequences(tokeniser: Any) -> list[TokenSequence]:
    """The reply repeats the question's letter; the rival is another letter."""
    memo, found = MemoTokeniser(tokeniser), []
    for place in range(24):
        own, other = "abcd"[place % 4], "abcd"[(place + 1) % 4]
        messages = ({"role": "user", "content": own}, {"role": "assistant", "content": own})
        found.append(tokenised(ChatExample(messages, {1: Reply(own, (other,))}), memo, 100))
    return found


def _decoder(weights: Any, adapters: AdapterShape = SMALL) -> Decoder:
    torch.manual_seed(0)
    return Decoder(weights, adapters)


def test_it_learns_what_the_weights_do_not_know(weights: Any, sequences: list[TokenSequence]) -> None:
    training = Training(_decoder(weights), sequences, sequences[:4], CONFIG, seed=0)
    before = training.measure(sequences)
    curves = training.run()
    loss, right = training.measure(sequences)
    assert loss < before[0] / 3
    assert right == 1.0
    assert curves.replies == 8 * 24
    assert curves.points[-1].held_out_accuracy == 1.0


def test_replies_without_rivals_are_measured_by_their_tokens(weights: Any, tokeniser: Any) -> None:
    memo, chats = MemoTokeniser(tokeniser), []
    for letter in "abcd" * 6:
        messages = ({"role": "user", "content": letter}, {"role": "assistant", "content": letter})
        chats.append(tokenised(ChatExample(messages, {1: Reply(letter)}), memo, 100))
    training = Training(_decoder(weights), chats, chats[:4], CONFIG, seed=0)
    loss, right = training.measure(chats[:4])
    assert loss > 1.0
    assert right < 1.0, "a chat without rivals does not win by itself"
    start, *_, end = training.run().points
    assert (start.loss, start.held_out_accuracy) == (None, right)
    assert end.held_out_loss is not None
    assert end.held_out_loss < loss / 2
    json.dumps([asdict(start)], allow_nan=False)


def test_tokens_of_held_out_replies_alone_can_be_measured(weights: Any, tokeniser: Any) -> None:
    memo = MemoTokeniser(tokeniser)
    told = ({"role": "user", "content": "a"}, {"role": "assistant", "content": "a"})
    other = ({"role": "user", "content": "z"}, {"role": "assistant", "content": "z"})
    learned = [tokenised(ChatExample(told, {1: Reply("a", ("b",))}), memo, 100)]
    held_out = [tokenised(ChatExample(other, {1: Reply("z", ("b",))}), memo, 100)]
    training = Training(_decoder(weights), learned, held_out, replace(CONFIG, vocabulary=0), seed=0)
    assert training.measure(held_out)[0] > 0


def test_a_killed_training_continues_to_the_same_adapters(
    weights: Any, sequences: list[TokenSequence], tmp_path: Path
) -> None:
    config = replace(CONFIG, epochs=2, checkpoint_seconds=1e-9)
    whole = _decoder(weights)
    Training(whole, sequences, [], config, seed=0).run()
    checkpoint, calls = tmp_path / "adapter.pt", iter(range(100))
    half = Training(_decoder(weights), sequences, [], config, 0, checkpoint, is_cancelled=lambda: next(calls) >= 5)
    assert half.run().step == 5
    other = _decoder(weights)
    with torch.no_grad():
        for one in other.parameters():
            one.add_(1.0)  # a fresh process starts elsewhere; the checkpoint decides
    rest = Training(other, sequences, [], config, 0, checkpoint)
    assert rest.run().step == len(rest.batches)
    for name, value in whole.state_dict().items():
        assert torch.allclose(value, other.state_dict()[name], atol=2e-3), name


def test_a_checkpoint_of_other_data_is_refused(weights: Any, sequences: list[TokenSequence], tmp_path: Path) -> None:
    checkpoint = tmp_path / "adapter.pt"
    Training(_decoder(weights), sequences, [], replace(CONFIG, epochs=1), 0, checkpoint).run()
    with pytest.raises(DataError, match="remove it to start anew"):
        Training(_decoder(weights), sequences[:6], [], replace(CONFIG, epochs=1), 0, checkpoint).run()


def test_time_ends_the_training(weights: Any, sequences: list[TokenSequence]) -> None:
    training = Training(_decoder(weights), sequences, [], replace(CONFIG, hours=1e-9), seed=0)
    assert training.run().step <= 1


def test_packed_conversations_do_not_see_each_other(weights: Any, sequences: list[TokenSequence]) -> None:
    model = _decoder(weights)
    rows = [torch.tensor(one.tokens) for one in sequences[:3]]
    packed = model(torch.cat(rows), [(len(row),) for row in rows]).split([len(row) for row in rows])
    for row, together in zip(rows, packed, strict=True):
        assert torch.allclose(model(row, [(len(row),)]), together, atol=1e-5)


def test_a_common_beginning_is_computed_once_with_the_same_results(weights: Any, tokeniser: Any) -> None:
    memo, chats = MemoTokeniser(tokeniser), []
    for question, reply in (("abcd a", "a"), ("abcd bcd", "dcb"), ("abcd c", "cc")):
        messages = ({"role": "user", "content": question}, {"role": "assistant", "content": reply})
        chats.append(tokenised(ChatExample(messages, {1: Reply(reply)}), memo, 100))
    together = joined(chats)
    assert len(together.tokens) < sum(len(one.tokens) for one in chats)
    assert together.replies == 3
    by_itself = [(one.tokens[target.place], target.token) for one in chats for target in one.targets]
    assert [(together.tokens[target.place], target.token) for target in together.targets] == by_itself
    found = []
    for sequences in (chats, [together]):
        model = _decoder(weights)
        tokens = torch.tensor([token for one in sequences for token in one.tokens])
        starts = [sum(len(one.tokens) for one in sequences[:place]) for place in range(len(sequences))]
        places = [start + target.place for start, one in zip(starts, sequences, strict=True) for target in one.targets]
        learned = model(tokens, [one.lengths for one in sequences])[places]
        learned.pow(2).mean().backward()
        with torch.no_grad():
            frozen = _decoder(weights, replace(SMALL, blocks=0))(tokens, [one.lengths for one in sequences])[places]
        found.append((learned, frozen, *(one.grad for one in model.parameters())))
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, atol=1e-5)


def test_gradients_are_those_of_attention_as_torch_has_it(weights: Any, sequences: list[TokenSequence]) -> None:
    """Blocks with adapters attend by plain products, those below by torch's own attention: both must agree."""
    row = torch.tensor(sequences[0].tokens)
    plain = _decoder(weights)(row, [(len(row),)])
    with torch.no_grad():
        own = _decoder(weights)(row, [(len(row),)])
    assert plain.requires_grad
    assert torch.allclose(plain, own, atol=1e-5)


def test_only_adapters_of_the_last_blocks_are_trained(weights: Any) -> None:
    names = {
        name.partition(".attention_in")[0] for name, _ in _decoder(weights, replace(SMALL, blocks=1)).named_parameters()
    }
    assert {name.split(".")[1] for name in names} == {"1"}


def test_the_file_has_a_pair_of_matrices_for_each_projection(weights: Any, tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    from optimize.finetuning.export import write_adapter

    write_adapter(_decoder(weights, replace(SMALL, blocks=1)), tmp_path / "a.gguf", "a")
    read = gguf.GGUFReader(str(tmp_path / "a.gguf"))
    assert {one.name for one in read.tensors} == {
        f"blk.1.{name}.weight.lora_{end}"
        for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
        for end in "ab"
    }
    assert read.get_field("adapter.lora.alpha").contents() == 8.0
    sizes = {one.name: tuple(one.shape.tolist()) for one in read.tensors}
    assert sizes["blk.1.attn_k.weight.lora_a"] == (32, 4), "the runtime's order: inputs, then the rank"
    assert sizes["blk.1.attn_k.weight.lora_b"] == (4, 16)


def test_training_continues_from_a_written_adapter(
    weights: Any, sequences: list[TokenSequence], tmp_path: Path
) -> None:
    pytest.importorskip("gguf")
    from optimize.finetuning.export import adapter_shape, read_adapter, write_adapter

    learned = _decoder(weights, replace(SMALL, blocks=1))
    training = Training(learned, sequences, [], CONFIG, seed=0)
    training.run()
    write_adapter(learned, tmp_path / "a.gguf", "a")
    assert adapter_shape(tmp_path / "a.gguf") == replace(SMALL, blocks=1)
    fresh = _decoder(weights, adapter_shape(tmp_path / "a.gguf"))
    read_adapter(fresh, tmp_path / "a.gguf")
    again = Training(fresh, sequences, [], CONFIG, seed=1)
    assert again.measure(sequences) == pytest.approx(training.measure(sequences), abs=1e-2)
    assert again.measure(sequences)[1] == 1.0
    with pytest.raises(DataError, match=r"does not fit the model at blk\.0"):
        read_adapter(_decoder(weights), tmp_path / "a.gguf")


def test_points_are_plotted_as_they_come(weights: Any, sequences: list[TokenSequence]) -> None:
    points: list[tuple[dict[str, float], int]] = []
    config = replace(CONFIG, epochs=1, point_seconds=1e-9)
    training = Training(
        _decoder(weights), sequences, sequences[:4], config, 0, plot=lambda values, step: points.append((values, step))
    )
    curves = training.run()
    assert [step for _, step in points] == [one.step for one in curves.points]
    assert len(points) > 2
    first, last = points[0][0], points[-1][0]
    assert "training/loss" not in first, "nothing was learned before the first point"
    assert last["training/loss"] == curves.points[-1].loss
    assert last["training/held_out_accuracy"] == curves.points[-1].held_out_accuracy
