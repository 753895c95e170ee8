"""Processes on the machines of a Ray cluster.

    engine = RayEngine(address="auto", workers=32, threads=8)
    evaluate(find_program("beam"), task, config, engine=engine)

The job (the work, its items and the language model's settings) is put into the object store once. A worker is an actor
with a copy of it. An item is a task on a worker, and streams its results back to this process, which keeps them. The
tasks of a lost worker begin again elsewhere, after the results that were kept, and a new worker is started.
"""

from __future__ import annotations

import importlib.util
import math
import os
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic

from experiments.console import say
from experiments.engines.base import Done, ItemT, ResultT, Take, Work
from experiments.engines.ledger import ClusterExpenses, Ledger
from experiments.engines.worker import Job, Versions, Worker
from kg.errors import ConfigError

if TYPE_CHECKING:
    from programs.lm import GuardedLM

RETRIES = 3
"""The losses of workers that one item survives. Each costs one retry; an item that ends its worker itself stops."""

_OBJECT_STORE = 256 << 20
_NOTICE_SECONDS = 60.0


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
        if address is not None and address.startswith("ray://"):
            rule = "address must be auto or HOST:PORT, on a machine of the cluster or in a `ray job`"
            raise ConfigError(f"{rule}; got {address!r}")
        self.address = address if address is not None else os.environ.get("RAY_ADDRESS") or None
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
            ConfigError: The cluster cannot be reached, the work cannot be sent to it, or its versions differ.
        """
        if not items:
            return
        self._connect()
        with _Account(settings) as account:
            crew = _Crew(self._job(work, items, account.settings), self._size(len(items)), self.threads, account)
            try:
                _Dispatch(crew, items, take, done, account).run()
            finally:
                crew.dismiss()

    def _connect(self) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        import ray

        if ray.is_initialized():
            return
        settings: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
        if self.address is None:
            cores = self.workers if self.workers is not None else os.cpu_count()
            settings |= {"num_cpus": cores, "object_store_memory": _OBJECT_STORE, "include_dashboard": False}
        try:
            ray.init(address=self.address if self.address is not None else "local", **settings)
        except (ConnectionError, ValueError, RuntimeError) as error:
            where = self.address if self.address is not None else "this machine"
            raise ConfigError(f"the cluster at {where} cannot be reached: {error}") from error

    def _size(self, items: int) -> tuple[int, float]:
        """Returns the number of workers, and the cores that each of them reserves."""
        import ray

        cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
        workers = min(self.workers if self.workers is not None else cores, math.ceil(items / self.threads))
        return workers, 1 / math.ceil(workers / cores)

    @staticmethod
    def _job(work: Any, items: Sequence[Any], settings: Mapping[str, Any]) -> Any:
        import ray

        try:
            return ray.put(Job(work, items, settings))
        except TypeError as error:
            reason = str(error).partition("\n")[0]
            raise ConfigError(f"this work cannot be sent to other processes, use the engine local: {reason}") from error


class _Account:
    """The expenses of a run's language model, kept by an actor on this machine while the run lasts."""

    def __init__(self, settings: Mapping[str, Any] | None) -> None:
        self.settings = dict(settings or {})
        self._lm: GuardedLM | None = None
        self._ledger: Any = None

    def __enter__(self) -> _Account:
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        from programs.lm import GuardedLM

        lm = self.settings.get("lm")
        if isinstance(lm, GuardedLM):
            # It is on the machine of this process: no other machine's loss can take the counts along.
            here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
            self._lm = lm
            self._ledger = ray.remote(Ledger).options(num_cpus=0, scheduling_strategy=here).remote(lm.spent)
            held = lm.copy()
            held.spent = ClusterExpenses(self._ledger)
            self.settings["lm"] = held
        return self

    def update(self) -> None:
        """Brings the counts of this process up to date."""
        import ray

        if self._lm is not None:
            self._lm.spent.update(ray.get(self._ledger.counts.remote()))

    def give_up(self, worker: str) -> None:
        """Books the calls under way of a lost worker."""
        if self._ledger is not None:
            self._ledger.give_up.remote(worker)

    def __exit__(self, *_: object) -> None:
        import ray

        if self._ledger is not None:
            self.update()
            ray.kill(self._ledger)


@dataclass(eq=False)
class _Member:
    """A worker, as this process sees it.

    Attributes:
        actor: Its handle.
        starting: The reply for which it is waited, until it is ready.
        busy: The number of its tasks.
    """

    actor: Any
    starting: Any
    busy: int = 0

    @property
    def id(self) -> str:
        return str(self.actor._actor_id.hex())


class _Crew:
    """The workers of a run; a lost one is replaced."""

    def __init__(self, job: Any, size: tuple[int, float], threads: int, account: _Account) -> None:
        import ray

        self._job, self.threads, self._account = job, threads, account
        count, cores = size
        options = {"num_cpus": cores, "max_concurrency": threads, "scheduling_strategy": "SPREAD"}
        self._kind = ray.remote(Worker).options(**options)
        self.members: list[_Member] = []
        for _ in range(count):
            self._hire()

    def _hire(self) -> None:
        actor = self._kind.remote(self._job)
        self.members.append(_Member(actor, actor.ready.remote()))

    def free(self) -> _Member | None:
        """Returns the ready worker with the fewest tasks, if one has room for another."""
        ready = [one for one in self.members if one.starting is None and one.busy < self.threads]
        return min(ready, key=lambda one: one.busy, default=None)

    def admit(self, member: _Member) -> None:
        """Makes a worker ready whose reply has come.

        Raises:
            ConfigError: It runs other versions.
        """
        import ray

        here, there = Versions.here(), ray.get(member.starting)
        if there != here:
            raise ConfigError(f"all machines must have the same versions: here {here}, on a worker {there}")
        member.starting = None

    def replace(self, member: _Member) -> None:
        """Gives up a worker and starts another."""
        import ray

        self.members.remove(member)
        self._account.give_up(member.id)
        ray.kill(member.actor)  # it may still work where only the connection was lost
        self._hire()

    def dismiss(self) -> None:
        """Ends all workers."""
        import ray

        for member in self.members:
            ray.kill(member.actor)


@dataclass
class _Dispatch(Generic[ItemT, ResultT]):
    """The distribution of items to workers, and the collection of their results."""

    crew: _Crew
    items: Sequence[ItemT]
    take: Take[ResultT]
    done: Done[ItemT, ResultT] | None
    account: _Account
    waiting: deque[int] = field(default_factory=deque)
    losses: Counter[int] = field(default_factory=Counter)
    tasks: dict[Any, tuple[int, _Member]] = field(default_factory=dict)
    kept: dict[int, list[ResultT]] = field(default_factory=dict)

    def run(self) -> None:
        self.waiting.extend(range(len(self.items)))
        while self.waiting or self.tasks:
            self._start()
            self._collect()

    def _start(self) -> None:
        while self.waiting and (member := self.crew.free()) is not None:
            place = self.waiting.popleft()
            done = list(self.done(self.items[place]) if self.done is not None else self.kept.get(place, ()))
            task = member.actor.run.options(num_returns="streaming").remote(place, done)
            member.busy += 1
            self.tasks[task] = place, member

    def _collect(self) -> None:
        """Waits for the next results and takes them."""
        import ray

        starting = {one.starting: one for one in self.crew.members if one.starting is not None}
        pending = [*self.tasks, *starting]
        first, _ = ray.wait(pending, num_returns=1, timeout=_NOTICE_SECONDS)
        if not first and not self.tasks:
            say("* waiting for the cluster: it has no room for a worker")
        ready, _ = ray.wait(pending, num_returns=len(pending), timeout=0) if first else ([], None)
        for one in ready:
            if one in starting:
                self._admit(starting[one])
            elif one in self.tasks:  # it may have been lost with its worker a moment ago
                self._next(one)

    def _admit(self, member: _Member) -> None:
        from ray.exceptions import RayError, RayTaskError

        try:
            self.crew.admit(member)
        except RayTaskError as error:
            raise _cause(error) from error
        except RayError as error:
            self._lose(member, error)

    def _next(self, task: Any) -> None:
        import ray
        from ray.exceptions import RayError, RayTaskError

        place, member = self.tasks[task]
        try:
            result = ray.get(next(task))
        except StopIteration:
            del self.tasks[task]
            member.busy -= 1
            self.kept.pop(place, None)
            return
        except RayTaskError as error:
            raise _cause(error) from error
        except RayError as error:
            self._lose(member, error)
            return
        if self.done is None:
            self.kept.setdefault(place, []).append(result)
        self.account.update()
        self.take(result)

    def _lose(self, member: _Member, error: Exception) -> None:
        """Puts the tasks of a lost worker first in the queue."""
        lost = [task for task, (_, one) in self.tasks.items() if one is member]
        places = [self.tasks.pop(task)[0] for task in lost]
        say(f"* a worker was lost ({type(error).__name__}); {len(places)} of its tasks are repeated")
        self.losses.update(places)
        for place in places:
            if self.losses[place] > RETRIES:
                raise ConfigError(f"the task of item {place + 1} was lost with its worker {RETRIES + 1} times: {error}")
        self.waiting.extendleft(reversed(places))
        self.crew.replace(member)


def _cause(error: Any) -> BaseException:
    """Returns the error that a worker raised."""
    cause = getattr(error, "cause", None)
    return cause if isinstance(cause, Exception) else error
