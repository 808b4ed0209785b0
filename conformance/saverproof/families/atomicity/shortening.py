"""The same flaw on the smallest store that shows it, and by the plainest fault."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from functools import partial

from saverproof.errors import OpeningError
from saverproof.families.atomicity.bench import Bench
from saverproof.families.atomicity.observation import Sight
from saverproof.families.atomicity.prepared_store import NoCleanRunError
from saverproof.families.atomicity.record import Found, plainness
from saverproof.families.atomicity.scenarios import NEW, THREAD, Scenario
from saverproof.families.atomicity.sweep import Sweep, swept
from saverproof.families.atomicity.worker import HungError
from saverproof.steps.definitions import (
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    Prune,
    Put,
    PutWrites,
    SetUp,
)
from saverproof.values import Value

_MOST_TRIALS = 60
_MOST_SHOWN = 5


def _put(number: int, count: int = 1) -> Put:
    parent = number - 1 or None
    changes = (("count", Value("integer", count)),)
    metadata = {"run_id": "run"}
    return Put(THREAD, "", number, parent, changes=changes, metadata=metadata)


def _writes(*channels: str, task: int = 1) -> PutWrites:
    made = tuple((name, Value("integer", n)) for n, name in enumerate(channels, 1))
    return PutWrites(THREAD, "", 1, task, made)


_LONG = ("a", "b", "__interrupt__", *"cdefghijk")
_ONE, _THREE = (_put(1),), (_put(1), _writes("a", "b", "c"))
SMALL = (
    Scenario("an empty store", (), _put(1)),
    Scenario("the same id again", _ONE, _put(1, 2)),
    Scenario("a history", _ONE, _put(2)),
    Scenario("a checkpoint", _ONE, _writes("a", "b", "c")),
    Scenario("a checkpoint, a long batch", _ONE, _writes(*_LONG)),
    Scenario("a checkpoint with writes", _THREE, DeleteThread(THREAD)),
    Scenario("a checkpoint with writes", _THREE, DeleteForRuns(("run",))),
    Scenario("a checkpoint with writes", _THREE, CopyThread(THREAD, NEW)),
    Scenario("two checkpoints", (*_THREE, _put(2)), Prune((THREAD,), "keep_latest")),
    Scenario("a checkpoint", _ONE, SetUp()),
)
"""Stores with nothing in them that could be left out, the smallest first for each operation."""


def shortened(bench: Bench, found: Found, stack: ExitStack) -> list[Found]:
    """Smaller trials that break the same contract, the plainest first; at worst the one given."""
    attack, scenario = found.attack, found.sweep.scenario
    if attack is None:
        return [found]
    shown: list[Found] = []
    for small in SMALL:
        if small.operation == scenario.operation and len(small.start) < len(scenario.start):
            with suppress(NoCleanRunError, OpeningError):
                count = partial(swept, bench, small, stack, also_lasting=False)
                try:
                    sweep = bench.on_worker(count)
                except HungError:
                    # What is left of another trial may hold this one up: none is to follow.
                    bench.renew()
                    return [found]
                if sweep.clean is None:
                    shown += _shown(bench, sweep, found)
        if shown:
            break
    return sorted(shown, key=lambda one: one.rank) or [found]


def _shown(bench: Bench, sweep: Sweep, found: Found) -> Iterator[Found]:
    """Trials with other faults than I/O's that come to the same verdict."""
    assert found.attack is not None
    kinds = {found.attack.kind} if found.attack.kind in _ALONE else {"client", "engine"}
    chosen = sorted(
        (attack for attack in sweep.attacks if attack.kind in kinds),
        key=lambda attack: plainness(attack, found.verdict.contract),
    )
    count = 0
    for attack in chosen[:_MOST_TRIALS]:
        sight = Sight()
        try:
            bench.on_worker(partial(sweep.strike, attack, sight))
        except HungError as hung:
            sight.hung = str(hung)
            bench.renew()
        verdict = sweep.verdict(attack, sight)
        same = verdict.outcome == found.verdict.outcome
        if verdict.contract == found.verdict.contract and same:
            count += 1
            yield Found(verdict, sweep, attack, f"{sight.ending} {sight.error}".strip())
        if count >= _MOST_SHOWN or sight.hung:
            return


_ALONE = frozenset({"cancellation", "serialization", "connection", "io"})
