"""Programs as generators of steps: written once, they run with and without ``await``.

>>> def answer(question):
...     reply = yield step(predict, {"question": question})
...     return reply.answer
>>> run(answer("what were revenues in 2008?"))  # or: await arun(answer(...))
'9362.2'
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class Step:
    """Something to wait for, in either way."""

    call: Callable[[], Any]
    acall: Callable[[], Awaitable[Any]]


Steps = Generator[Step, Any, ResultT]
"""A program that yields steps, is sent what comes of each, and returns a result."""


def step(predict: Any, inputs: dict[str, Any]) -> Step:
    """A call of a DSPy module."""
    return Step(lambda: predict(**inputs), lambda: predict.acall(**inputs))


def in_thread(call: Callable[[], Any]) -> Step:
    """Work that knows no ``await`` of its own."""
    return Step(call, lambda: asyncio.to_thread(call))


def run(steps: Steps[ResultT]) -> ResultT:
    """Takes all steps, one after the other; an error of a step is raised where the program yielded it."""
    try:
        taken = next(steps)
        while True:
            try:
                result = taken.call()
            except Exception as error:  # noqa: BLE001 - it is the program's to handle
                taken = steps.throw(error)
            else:
                taken = steps.send(result)
    except StopIteration as stopped:
        finished: ResultT = stopped.value
        return finished


async def arun(steps: Steps[ResultT]) -> ResultT:
    """:func:`run`, while other work goes on."""
    try:
        taken = next(steps)
        while True:
            try:
                result = await taken.acall()
            except Exception as error:  # noqa: BLE001 - it is the program's to handle
                taken = steps.throw(error)
            else:
                taken = steps.send(result)
    except StopIteration as stopped:
        finished: ResultT = stopped.value
        return finished
