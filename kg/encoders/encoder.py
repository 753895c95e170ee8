"""The encoder of reports: inference by onnxruntime, and its heads in NumPy, which score templates and operands.

>>> encoder = TextEncoder.read(Path("experiments/shipped/beam/encoder"))
>>> page = encoder.page(index.observations, index.sentences)     # once a report
>>> question = encoder.question(["what were net sales in 2009?"])  # once a turn

The question's states at ``[CLS]``, the two slots and the earlier turns pass through one attention layer, in which each
earlier turn also carries its template, whether a later turn used it, and its figures. The first state then scores the
templates. A slot's state, with the template and the first operand, becomes a query: its product with a figure's vector
scores the figure, and every word of the question adds its similarity to the nearest word that speaks of the figure,
weighted by what the query listens to (late interaction; Khattab and Zaharia, 2020).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import erf

from kg.arrays import FloatArray, IntArray, log_softmax, read_arrays
from kg.encoders.sequences import TokenSequence, page_sequences, question_sequence, question_words
from kg.encoders.session import WordPiece, inference_session, mean_vectors, padded, states_of
from kg.errors import DataError
from kg.reports import Observation

FILES = ("encoder.onnx", "heads.npz", "vocab.txt")
"""The files of an encoder's folder: the transformer with int8 weights, the heads, and the pieces by number."""

PAGES = "pages.txt"
"""A further file: the keys of the pages that the encoder was fitted on, a line each."""

BATCH_TOKENS = 512
TEXT_TOKENS = 64
"""Tokens of a text that :meth:`TextEncoder.vectors` reads."""

WIDTH = 384
JOINED = 256
_ATTENTION_HEADS = 4
_SLOTS = 3


@dataclass(frozen=True)
class TurnOperands:
    """An earlier turn as the heads see it.

    Attributes:
        template: The name of its template.
        used: The earlier turns that it used.
        figures: The observations of its own operands.
    """

    template: str
    used: tuple[int, ...]
    figures: tuple[int, ...]


@dataclass(frozen=True)
class EncodedPage:
    """A report's figures as vectors.

    Attributes:
        vectors: Shape ``(observations, JOINED)``; zeros for figures of headers.
        order: The observations that have a vector.
        tokens: Unit vectors of all tokens of the report.
        near: For each observation in ``order`` the tokens that speak of it.
    """

    vectors: FloatArray
    order: IntArray
    tokens: FloatArray
    near: IntArray

    def similarities(self, spoken: FloatArray) -> FloatArray:
        """Returns how near each word of a question comes to a word of each figure; shape ``(words, figures)``."""
        if not len(self.order):
            return np.zeros((len(spoken), 0), dtype=np.float32)
        alike = spoken @ self.tokens.T
        result: FloatArray = alike[:, self.near.reshape(-1)].reshape(len(spoken), *self.near.shape).max(axis=-1)
        return result


@dataclass(frozen=True)
class EncodedQuestion:
    """A conversation's last question as states.

    Attributes:
        slots: States at ``[CLS]``, the two slots and the earlier turns ``numbers``.
        numbers: The earlier turns that the sequence holds.
        spoken: Unit vectors of all tokens, to compare with a report's.
        heard: Vectors of all tokens, by which a query weights them.
        words: The words in lower case with the places of their tokens.
    """

    slots: FloatArray
    numbers: tuple[int, ...]
    spoken: FloatArray
    heard: FloatArray
    words: tuple[tuple[str, slice], ...]


@dataclass(frozen=True)
class JoinedTurns:
    """Slots as queries begin with them, earlier turns under each history, and the templates' log-probabilities."""

    asked: FloatArray
    turns: FloatArray
    templates: FloatArray


class Heads:
    """The heads' weights.

    Args:
        templates: The names of the templates, in the order of their weights.
        weights: By name, each array in the layout of torch's linear layers.
    """

    def __init__(self, templates: Sequence[str], weights: Mapping[str, FloatArray]) -> None:
        self.templates = tuple(templates)
        self.number = {template: place for place, template in enumerate(self.templates)}
        self._weights = dict(weights)
        self._scale = np.float32(np.exp(self._weights["scale"]) / np.sqrt(JOINED))

    def join(
        self, question: EncodedQuestion, histories: Sequence[Sequence[TurnOperands]], page: EncodedPage
    ) -> JoinedTurns:
        """Returns the question's slots and earlier turns under several histories."""
        text = self.linear("slot", question.slots)
        text[:_SLOTS] += self._weights["kind.weight"][:_SLOTS]
        text[_SLOTS:] += self._weights["kind.weight"][_SLOTS]
        x = np.repeat(text[None], len(histories), axis=0)
        for row, turns in enumerate(histories):
            used = {place for turn in turns for place in turn.used}
            for column, number in enumerate(question.numbers, start=_SLOTS):
                x[row, column] += self._earlier(turns[number], page, is_used=number in used)
        x = self._attend(x)
        templates: FloatArray = log_softmax(self.linear("form", x[:, 0]), axis=-1).astype(np.float32)
        return JoinedTurns(self.linear("ask", x[:, 1:_SLOTS]), self.linear("turn", x[:, _SLOTS:]), templates)

    def queries(
        self, joined: JoinedTurns, histories: IntArray, numbers: IntArray, positions: IntArray, leads: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Returns the queries of several operands, and what they listen to; shape ``(operands, JOINED)`` both.

        Args:
            joined: The turns under all histories.
            histories: The number of each operand's history.
            numbers: The number of its template.
            positions: Its position, 0 or 1.
            leads: :meth:`lead` of the operand before it; zeros at position 0.
        """
        x = _gelu(joined.asked[histories, positions] + self._weights["role.weight"][2 * numbers + positions] + leads)
        return self.linear("ask_2", x) * self._scale, self.linear("listen", x) / np.float32(np.sqrt(JOINED))

    def lead(self, first: FloatArray) -> FloatArray:
        """Returns what the vector of a first operand adds to the query of the second one."""
        result: FloatArray = first @ self._weights["first.weight"].T
        return result

    def word_weights(self, heard: FloatArray, listened: FloatArray) -> FloatArray:
        """Returns how much each word of the question counts for each query, larger than 0; a row a query."""
        result: FloatArray = np.logaddexp(0, listened @ heard.T + self._weights["loud"]).astype(np.float32)
        return result

    def _earlier(self, turn: TurnOperands, page: EncodedPage, *, is_used: bool) -> FloatArray:
        result = self._weights["past_form.weight"][self.number.get(turn.template, len(self.templates))]
        result = result + self._weights["past_used.weight"][int(is_used)]
        # In training, figures beyond the last one with a vector are left out; those before it count as zeros.
        limit = int(page.order.max(initial=-1))
        figures = [figure for figure in turn.figures[:2] if figure <= limit]
        if figures:
            result = result + page.vectors[figures].mean(axis=0) @ self._weights["past_figure.weight"].T
        return np.asarray(result, dtype=np.float32)

    def _attend(self, x: FloatArray) -> FloatArray:
        rows, length, width = x.shape
        size = width // _ATTENTION_HEADS
        split = self.linear("join.qkv", x).reshape(rows, length, 3, _ATTENTION_HEADS, size)
        q, k, v = split.transpose(2, 0, 3, 1, 4)
        scores = q @ k.transpose(0, 1, 3, 2) / np.float32(np.sqrt(size))
        shares = np.exp(log_softmax(scores, axis=-1))
        mixed = (shares @ v).transpose(0, 2, 1, 3).reshape(rows, length, width)
        x = self._norm("join.norm_1", x + self.linear("join.out", mixed))
        return self._norm("join.norm_2", x + self.linear("join.down", _gelu(self.linear("join.up", x))))

    def linear(self, name: str, x: FloatArray) -> FloatArray:
        """Returns vectors after the linear layer of a name."""
        result: FloatArray = x @ self._weights[f"{name}.weight"].T
        bias = self._weights.get(f"{name}.bias")
        return result if bias is None else result + bias

    def _norm(self, name: str, x: FloatArray) -> FloatArray:
        x = x - x.mean(axis=-1, keepdims=True)
        scaled = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(1e-12))
        result: FloatArray = scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return result

    def unit_vectors(self, states: FloatArray) -> FloatArray:
        """Returns the states of tokens as vectors of length 1, by which words are compared."""
        vectors = self.linear("token", states)
        result: FloatArray = vectors / np.maximum(np.sqrt((vectors * vectors).sum(axis=-1, keepdims=True)), 1e-12)
        return result


def _gelu(x: FloatArray) -> FloatArray:
    result: FloatArray = (0.5 * x * (1 + erf(x * np.float32(2**-0.5)))).astype(np.float32)
    return result


class TextEncoder:
    """The transformer, its tokenizer and its heads; it may be shared by threads, copied and pickled.

    Args:
        files: The contents of :data:`FILES`, by name.

    Raises:
        DataError: A file is missing or damaged.
    """

    def __init__(self, files: dict[str, bytes]) -> None:
        missing = [name for name in FILES if name not in files]
        if missing:
            raise DataError(f"an encoder must have {', '.join(FILES)}; {missing[0]} is missing")
        self.files = {name: files[name] for name in (*FILES, PAGES) if name in files}
        self.wordpiece = WordPiece(self.files["vocab.txt"].decode("utf-8").split("\n")[:-1])
        self.heads = _heads(self.files["heads.npz"])

    @classmethod
    def read(cls, folder: Path) -> TextEncoder:
        """Reads the files of a folder; the record of the pages may be missing."""
        try:
            more = [PAGES] if (folder / PAGES).is_file() else []
            return cls({name: (folder / name).read_bytes() for name in (*FILES, *more)})
        except OSError as error:
            raise DataError(f"the encoder cannot be read: {error}", file=str(folder)) from error

    def write(self, folder: Path) -> None:
        """Writes the files into a folder, which is made."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            (folder / name).write_bytes(content)

    @cached_property
    def pages(self) -> frozenset[str]:
        """The keys of the pages that it was fitted on; empty where they are not recorded."""
        return frozenset(self.files.get(PAGES, b"").decode("utf-8").split())

    def with_pages(self, pages: Iterable[str]) -> TextEncoder:
        """Returns the encoder with a record of the pages that it was fitted on."""
        lines = "".join(f"{page}\n" for page in sorted(set(pages)))
        return TextEncoder({**self.files, PAGES: lines.encode()})

    @cached_property
    def sha256(self) -> str:
        """The hash of the weights."""
        return hashlib.sha256(b"".join(self.files[name] for name in FILES)).hexdigest()

    def page(self, observations: Sequence[Observation], sentences: Sequence[str]) -> EncodedPage:
        """Returns the vectors of a report's figures."""
        sequences = sorted(page_sequences(observations, sentences, self.wordpiece), key=len)
        states = states_of(self._run, sequences, tokens=BATCH_TOKENS)
        marks = [state[sorted(one.figures)] for one, state in zip(sequences, states, strict=True)]
        order = np.array([one.figures[mark] for one in sequences for mark in sorted(one.figures)], dtype=np.int64)
        nothing = np.zeros((0, WIDTH), dtype=np.float32)
        vectors = np.zeros((len(observations), JOINED), dtype=np.float32)
        vectors[order] = self.heads.linear("figure", np.concatenate([nothing, *marks]))
        tokens = self.heads.unit_vectors(np.concatenate([nothing, *states]))
        return EncodedPage(vectors, order, tokens, _near(sequences))

    def question(self, questions: Sequence[str]) -> EncodedQuestion:
        """Returns the states of the last of a conversation's questions."""
        sequence, places = question_sequence(questions, self.wordpiece)
        states, heads = self._run([sequence])[0], self.heads
        slots = states[[*range(_SLOTS), *places.values()]]
        spoken, words = heads.unit_vectors(states), tuple(question_words(questions[-1], self.wordpiece))
        return EncodedQuestion(slots, tuple(places), spoken, heads.linear("heard", states), words)

    def vectors(self, texts: Sequence[str]) -> FloatArray:
        """Returns one vector of length 1 for each text: the mean of its tokens' states; shape ``(texts, WIDTH)``."""
        pieces = [self.wordpiece.enclosed(text, TEXT_TOKENS) for text in texts]
        sequences = [TokenSequence(tokens, [0] * len(tokens)) for tokens in pieces]
        return mean_vectors(states_of(self._run, sequences, tokens=BATCH_TOKENS)).reshape(-1, WIDTH)

    @cached_property
    def _session(self) -> Any:
        return inference_session(self.files["encoder.onnx"])

    def _run(self, sequences: Sequence[TokenSequence]) -> FloatArray:
        """Returns the states of some sequences, padded; shape ``(sequences, longest, WIDTH)``."""
        tokens, mask = padded([one.tokens for one in sequences], 0)
        specials, _ = padded([one.specials for one in sequences], 0)
        given = {"tokens": tokens, "specials": specials, "mask": mask.astype(bool)}
        states: FloatArray = self._session.run(None, given)[0]
        return states

    def __deepcopy__(self, memo: dict[int, Any]) -> TextEncoder:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return TextEncoder, (self.files,)


def _heads(content: bytes) -> Heads:
    try:
        stored = read_arrays(content)
        weights = {name: array.astype(np.float32) for name, array in stored.items() if name != "forms"}
        return Heads([str(template) for template in stored["forms"]], weights)
    except (DataError, ValueError, KeyError) as error:
        raise DataError(f"the encoder's heads cannot be read: {error}", place="heads.npz") from error


def _near(sequences: Sequence[TokenSequence]) -> IntArray:
    """The tokens that speak of each figure, numbered through all sequences; shape ``(figures, most)``."""
    found: list[list[int]] = []
    begin = 0
    for one in sequences:
        found += [[begin + place for place in places] for places in one.near()]
        begin += len(one.tokens)
    most = max(map(len, found), default=1)
    padded = [[*places, *[places[-1]] * (most - len(places))] for places in found]
    return np.array(padded, dtype=np.int64).reshape(-1, most)
