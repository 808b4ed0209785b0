"""Calls whose arguments are settled once, so that every run gives the saver the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from saverproof.programs.model.records import Version
from saverproof.programs.model.store import Model
from saverproof.programs.steps import definitions as steps
from saverproof.programs.steps.identifiers import mint
from saverproof.savers.execution.calls import (
    PutCall,
    PutWritesCall,
    address_config,
    copied,
    get_config,
    list_arguments,
    prune_arguments,
    put_call,
    put_writes_call,
)
from saverproof.savers.execution.driver import ApiDriver, AwaitedDriver

Key = tuple[str, str, str]
"""Thread, namespace and checkpoint id. In reads, the id "" stands for the latest checkpoint."""


@dataclass(frozen=True, slots=True)
class SettledCall:
    """One step with its settled arguments, which include channel versions, ids and times."""

    step: steps.Step
    arguments: PutCall | PutWritesCall | None = None

    @property
    def key(self) -> Key | None:
        """The address of the checkpoint that a put stores; None for other steps."""
        step = self.step
        return (
            (step.thread, step.namespace, mint(step.number))
            if isinstance(step, steps.Put)
            else None
        )


class Calls:
    """A maker of settled calls, which follows the steps in a model of its own."""

    def __init__(self, next_version: Callable[[Version | None], Version]) -> None:
        self._next_version = next_version
        self.model = Model()

    def settle(self, program: Iterable[steps.Step]) -> tuple[SettledCall, ...]:
        """Return the calls for the next steps of a program."""
        return tuple(self._settled(step) for step in program)

    def make(self, driver: ApiDriver, step: steps.Step) -> Any:
        """Settle a step, call the saver, and return its answer."""
        return perform(driver, self._settled(step))

    def _settled(self, step: steps.Step) -> SettledCall:
        planned = self.model.apply(step, self._next_version)
        if isinstance(step, steps.Put) and planned is not None:
            return SettledCall(step, put_call(step, planned, step.thread))
        if isinstance(step, steps.PutWrites):
            return SettledCall(step, put_writes_call(step, step.thread))
        return SettledCall(step)


def perform(driver: ApiDriver, call: SettledCall) -> Any:
    """Call the saver with copies of the arguments, which it may change; return its answer."""
    match call.arguments:
        case PutCall(config, checkpoint, metadata, versions):
            return driver.put(
                PutCall(copied(config), copied(checkpoint), copied(metadata), dict(versions))
            )
        case PutWritesCall(config, writes, task, path):
            return driver.put_writes(PutWritesCall(copied(config), list(writes), task, path))
    match call.step:
        case steps.DeleteThread(thread):
            return driver.invoke("delete_thread", thread)
        case steps.DeleteForRuns(runs):
            return driver.invoke("delete_for_runs", list(runs))
        case steps.CopyThread(source, target):
            return driver.invoke("copy_thread", source, target)
        case steps.Prune() as prune:
            return driver.invoke("prune", list(prune.threads), **prune_arguments(prune))
        case steps.GetTuple() as read:
            return driver.get_tuple(get_config(read, read.thread))
        case steps.ListTuples() as listing:
            at, arguments = list_arguments(listing, listing.thread)
            given = {name: value for name, value in arguments.items() if value is not None}
            return driver.list_tuples(at, given)
        case steps.DeltaHistory(thread, namespace, number, channels):
            return driver.delta_history(address_config(thread, namespace, number), channels)
    raise NotImplementedError(f"no call for a {type(call.step).__name__} step")


def awaiting(driver: ApiDriver, call: SettledCall) -> Callable[[], Awaitable[object]]:
    """Return a function that makes the call through the async API each time it is awaited."""
    awaited = AwaitedDriver(driver.saver, driver.through, driver.ids)

    def operation() -> Awaitable[object]:
        answer: Awaitable[object] = perform(awaited, call)
        return answer

    return operation
