"""A worker of a cluster: a process with its own copy of the work, for many items one after another."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from threadpoolctl import threadpool_limits

from experiments.engines.base import Work
from experiments.tracking import describe_environment


@dataclass(frozen=True)
class Job:
    """The content that all workers share; it is in the cluster's object store once.

    Attributes:
        work: The work.
        items: The items.
        settings: Settings of ``dspy.context``.
    """

    work: Work[Any, Any]
    items: Sequence[Any]
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class Versions:
    """The versions that must be equal on all machines."""

    finpath: str
    python: str

    @classmethod
    def here(cls) -> Versions:
        """Those of this process."""
        return cls(describe_environment().finpath, ".".join(platform.python_version_tuple()[:2]))


class Worker:
    """An actor of the cluster.

    Args:
        job: The job.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        # The matrices are small, and processes that each ask BLAS for more threads wait for each other.
        self._limits = threadpool_limits(limits=1, user_api="blas")

    def ready(self) -> Versions:
        """Returns the worker's versions, once it has the job."""
        return Versions.here()

    def run(self, place: int, done: Sequence[Any]) -> Iterator[Any]:
        """Yields the results of an item that are not done."""
        import dspy

        with dspy.context(**self.job.settings):
            for result in self.job.work(self.job.items[place], done):  # noqa: UP028 - Ray sends into its generators
                yield result
