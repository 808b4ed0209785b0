"""What all trials of an item have in common: the target, its place, and the fault layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from saverproof.execution.driver import ApiDriver, driver_of
from saverproof.families.atomicity.disk import FailingDisk, watched
from saverproof.families.atomicity.drivers import CutsConnections, load, with_loaded
from saverproof.families.atomicity.worker import SlowError, Worker
from saverproof.items import ItemPlan
from saverproof.targets.event_loop import Loop, loop_for
from saverproof.targets.target import Target
from saverproof_faults import Driver as FaultDriver
from saverproof_faults import FaultsError, Injector, NotSettled

T = TypeVar("T")


@dataclass(slots=True)
class FaultBench:
    """``fresh`` says that a second saver can be opened while the first one is; ``disk`` is None
    where SQLite's I/O cannot be failed; ``losing`` are the drivers whose connections can be cut.
    """

    target: Target
    folder: Path
    api: str
    fresh: bool
    injector: Injector
    disk: FailingDisk | None
    losing: tuple[CutsConnections, ...]
    loop: Loop
    worker: Worker
    calls: int = 0
    seconds: float = 0.0

    @classmethod
    @contextmanager
    def opened(
        cls, plan: ItemPlan, target: Target, drivers: Sequence[FaultDriver]
    ) -> Iterator[FaultBench]:
        """A bench with the fault layer entered, until the block ends.

        Raises:
            OpeningError: the saver could not be opened or closed.
        """
        folder = Path(plan.folder)
        loop, worker = loop_for(plan.api), Worker()
        bench: FaultBench | None = None
        try:
            worker.run(lambda: load(target, folder, loop))
            drivers = with_loaded(drivers)
            with Injector(drivers) as injector, watched(folder) as disk:
                losing = tuple(driver for driver in drivers if isinstance(driver, CutsConnections))
                fresh = target.durable and "many_processes" in plan.facts["capabilities"]
                bench = cls(target, folder, plan.api, fresh, injector, disk, losing, loop, worker)
                yield bench
        finally:
            if bench is not None:
                loop, worker = bench.loop, bench.worker
            worker.close()
            loop.close()

    def on_worker(self, work: Callable[[], T]) -> T:
        """Do it on the worker's thread.

        Raises:
            UnansweredError: a call of the saver does not return, or leaves work that is not done.
        """
        try:
            return self.worker.run(work)
        except NotSettled as undone:
            raise SlowError(str(undone)) from undone

    def renew(self) -> None:
        """Go on with another thread and another event loop: the saver hangs on those in use."""
        self.worker.close()
        # What hangs may hold up the healing of its own connection; the others are healed.
        with suppress(FaultsError):
            self.injector.heal()
        if self.disk is not None:
            self.disk.disarm()
        _stop(self.loop)
        self.loop, self.worker = loop_for(self.api), Worker(self.worker.patience_s)

    def driver(self, saver: Any) -> ApiDriver:
        """The saver, called through this item's API."""
        return driver_of(saver, self.api, self.loop)


_BLOCKED: list[Loop] = []
"""Loops whose thread hangs inside a saver: they end with the process, and are kept until then."""


def _stop(loop: Loop) -> None:
    """Close a loop; one that is blocked is left alone."""
    if loop.is_blocked():
        _BLOCKED.append(loop)
    else:
        loop.close()
