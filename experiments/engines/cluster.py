"""Processes on the machines of a Ray cluster.

    engine = RayEngine(address="auto", workers=32, threads=8)
    evaluate(find_program("beam"), task, config, engine=engine)

A worker is an actor with a copy of the work. An item is a task of a worker, and streams its results to this process.
The tasks of a lost worker go to the others. A budget is refused: a router in front of the servers can keep to one.
"""

from __future__ import annotations

import importlib.util
import math
import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from threadpoolctl import threadpool_limits

from experiments.engines.base import Done, ItemT, ResultT, Take, Work
from kg.errors import ConfigError
from programs.lm import Budget, Expenses, GuardedLM

_OBJECT_STORE = 256 << 20
_PATIENCE = 5.0


class RayEngine:
    """Workers on a cluster.

    Args:
        address: Address of an existing cluster: ``auto`` on one of its machines, or ``HOST:PORT``. ``None`` for
            ``RAY_ADDRESS``, and without it for a cluster of this machine alone, which ends with this process.
        workers: The number of processes; by default one for each core of the cluster.
        threads: Items at a time in each process.

    Raises:
        ConfigError: Ray is not installed, or a setting is out of its range.
    """

    def __init__(self, address: str | None = None, *, workers: int | None = None, threads: int = 1) -> None:
        if importlib.util.find_spec("ray") is None:
            raise ConfigError("the engine ray needs Ray: pip install 'finpath[ray]'")
        for name, value in (("workers", workers), ("threads", threads)):
            if value is not None and value < 1:
                raise ConfigError(f"{name} must be at least 1, got {value}")
        self.address = address if address is not None else os.environ.get("RAY_ADDRESS") or "local"
        self.workers, self.threads = workers, threads

    @property
    def description(self) -> Mapping[str, Any]:
        """Its settings, for the run."""
        return {"engine": "ray", "workers": self.workers, "threads": self.threads}

    def run(
        self,
        work: Work[ItemT, ResultT],
        items: Sequence[ItemT],
        take: Take[ResultT],
        *,
        done: Done[ItemT, ResultT] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        """Runs ``work`` for each item on the cluster, and ``take`` in this thread.

        Raises:
            ConfigError: The cluster cannot be reached, the work cannot be sent to it, or all workers were lost.
        """
        self._connect()
        import ray
        from ray.exceptions import RayError, RayTaskError

        lm = (settings or {}).get("lm")
        workers = self._start(work, settings or {}, len(items))
        waiting, free = deque(range(len(items))), deque(workers * self.threads)
        taken: dict[int, list[ResultT]] = {place: [] for place in waiting}
        running: dict[Any, tuple[int, Any]] = {}
        try:
            while waiting or running:
                while waiting and free:
                    place, worker = waiting.popleft(), free.popleft()
                    known = list(done(items[place])) if done is not None else taken[place]
                    task = worker.run.options(num_returns="streaming").remote(items[place], known)
                    running[task] = place, worker
                [ready], _ = ray.wait(list(running), num_returns=1)
                place, worker = running[ready]
                try:
                    taken[place].append(ray.get(next(ready)))
                    take(taken[place][-1])
                except StopIteration:
                    free.append(running.pop(ready)[1])
                except RayTaskError as error:
                    raise error.cause if isinstance(error.cause, Exception) else error from error
                except RayError as error:  # the worker is lost
                    lost = [task for task, (_, other) in running.items() if other is worker]
                    waiting.extendleft(running.pop(task)[0] for task in lost)
                    free = deque(other for other in free if other is not worker)
                    workers.remove(worker)
                    if not workers:
                        raise ConfigError(f"all workers were lost, the last at item {place + 1}: {error}") from error
        finally:
            for worker in workers:
                with suppress(RayError):
                    if isinstance(lm, GuardedLM):
                        lm.spent.add(ray.get(worker.expenses.remote(), timeout=_PATIENCE))
                ray.kill(worker)

    def _connect(self) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        import ray

        if ray.is_initialized():
            return
        settings: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
        if self.address == "local":
            cores = self.workers if self.workers is not None else os.cpu_count()
            settings |= {"num_cpus": cores, "object_store_memory": _OBJECT_STORE, "include_dashboard": False}
        try:
            ray.init(address=self.address, **settings)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise ConfigError(f"the cluster at {self.address} cannot be reached: {error}") from error

    def _start(self, work: Any, settings: Mapping[str, Any], items: int) -> list[Any]:
        import ray

        cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
        count = min(self.workers if self.workers is not None else cores, math.ceil(items / self.threads))
        if isinstance(lm := settings.get("lm"), GuardedLM):
            if lm.budget != Budget():
                raise ConfigError(
                    "a budget is kept to by one process alone: use the engine local, or a router's budget"
                )
            copied = lm.copy()
            copied.spent = Expenses()
            settings = {**settings, "lm": copied}
        kind = ray.remote(_Worker).options(
            num_cpus=1 / math.ceil(max(count, 1) / cores),
            max_concurrency=self.threads + 1,
            scheduling_strategy="SPREAD",
        )
        try:
            job = ray.put((work, settings))  # it is in the object store of each machine once
        except TypeError as error:
            reason = str(error).partition("\n")[0]
            raise ConfigError(f"this work cannot be sent to other processes, use the engine local: {reason}") from error
        return [kind.remote(job) for _ in range(count)]


class _Worker:
    """A process with its own copy of the work."""

    def __init__(self, job: tuple[Any, Mapping[str, Any]]) -> None:
        self.work, self.settings = job
        # The matrices are small, and processes that each ask BLAS for more threads wait for each other.
        threadpool_limits(limits=1, user_api="blas")

    def run(self, item: Any, done: Sequence[Any]) -> Iterator[Any]:
        """Yields the results of an item that are not done."""
        import dspy

        with dspy.context(**self.settings):
            for result in self.work(item, done):  # noqa: UP028 - Ray sends into its generators
                yield result

    def expenses(self) -> Expenses:
        """Returns the expenses of its copy of the language model."""
        spent: Expenses = self.settings["lm"].spent
        return spent
