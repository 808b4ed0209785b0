"""State machines of the families about what a saver stores and what reads give back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from saverproof.contracts.tables import (
    channels,
    identity,
    ordering,
    pending_writes,
    serialization,
    upsert,
)
from saverproof.families.machines.machine import SaverMachine
from saverproof.judging.scenes.bulk import BULKS
from saverproof.judging.scenes.files import CheckFiles
from saverproof.judging.scenes.refused_value import RefuseValue
from saverproof.judging.scenes.unread import LISTED
from saverproof.programs.directed.approvals import APPROVALS
from saverproof.programs.directed.every_value import EVERY_VALUE
from saverproof.programs.directed.finite_sets import (
    BESIDE_A_HISTORY,
    LONG_PATHS,
    MANY,
    NAMES,
    OWN_CHANNELS,
    SAVED_AT_EXIT,
    SPECIAL_LISTS,
    TASKS,
    TIES,
    VERSIONS_OF_CALLERS,
)
from saverproof.programs.directed.lookalikes import METADATA
from saverproof.programs.directed.questions import questions
from saverproof.programs.directed.removals import LISTS, NEWEST_REMOVED
from saverproof.programs.directed.resized import RESIZED
from saverproof.programs.makers import batches, checkpoints, reads, saver_lifecycle
from saverproof.programs.names import (
    ODD_CHANNELS,
    ODD_NODES,
    ODD_PATHS,
)
from saverproof.programs.steps.definitions import (
    NextVersions,
    Step,
)
from saverproof.programs.theme import Theme
from saverproof.programs.values.metadata import METADATA_KEYS, METADATA_VALUES
from saverproof.programs.weights import PUTS, READS, SMALL, Weights


def _only(step: Step) -> Callable[[Random], tuple[Step, ...]]:
    return lambda _: (step,)


def _ordering() -> tuple[Theme, ...]:
    lists: Weights = {reads.list_: 10, reads.list_all: 2, reads.pages: 3, reads.get: 5}
    writes: Weights = {batches.writes: 10, batches.writes_again: 2, batches.writes_special: 2}
    many = tuple(range(7))
    return (
        Theme("histories", {**PUTS, **lists}, whole_store=True),
        Theme(
            "tasks",
            {checkpoints.put: 1, **writes, reads.get: 2},
            threads=("a",),
            namespaces=("",),
            tasks=many,
            paths=("", "~p, 1", "~p, 10", "~p, 2", "~p, B", "~p, a", "~q, é"),
        ),
    )


class OrderingMachine(SaverMachine):
    """Programs of listings, pages and limits, the latest checkpoint, and the order of pending
    writes.
    """

    enforces = ordering.TABLE.contracts
    themes = _ordering()
    examples = (
        *LONG_PATHS,
        *SAVED_AT_EXIT,
        *NEWEST_REMOVED,
        questions(limit=1),
        questions(limit=3),
    )


def _upsert() -> tuple[Theme, ...]:
    puts: Weights = {
        checkpoints.put: 4,
        checkpoints.put_again: 5,
        checkpoints.put_replacing: 5,
        batches.writes: 3,
    }
    writes: Weights = {
        checkpoints.put: 2,
        batches.writes: 4,
        batches.writes_again: 12,
        batches.writes_special: 2,
    }
    return (
        Theme("puts", {**puts, reads.list_: 3, reads.get: 2}, metadata=({}, {"user": "ann"})),
        replace(SMALL, name="writes", weights={**writes, reads.get: 1}, tasks=(0, 1, 2), length=60),
    )


class UpsertMachine(SaverMachine):
    """Programs in which checkpoints and writes are stored a second time."""

    enforces = upsert.TABLE.contracts
    themes = _upsert()
    examples = (*SPECIAL_LISTS, *RESIZED)


def _pending_writes() -> tuple[Theme, ...]:
    writes: Weights = {batches.writes: 8, batches.writes_early: 4, batches.writes_again: 4}
    odd: Weights = {batches.writes_empty: 2, batches.writes_special: 5, batches.writes_to_root: 2}
    return (
        Theme(
            "batches",
            {checkpoints.put: 6, checkpoints.put_again: 1, **writes, **odd, **READS},
            tasks=(0, 1, 2),
        ),
    )


class PendingWritesMachine(SaverMachine):
    """Programs with batches of pending writes: early, late, special and empty ones."""

    enforces = pending_writes.TABLE.contracts
    themes = _pending_writes()
    examples = (
        *(*TASKS, *APPROVALS, *SAVED_AT_EXIT, *OWN_CHANNELS, *BESIDE_A_HISTORY),
        questions(limit=None),
    )


def _identity() -> tuple[Theme, ...]:
    forms: Weights = {
        reads.get_in_form: 6,
        reads.list_in_form: 4,
        reads.list_: 3,
        reads.list_all: 1,
    }
    puts: Weights = {checkpoints.put: 6, checkpoints.put_in_loop: 3, checkpoints.put_and_change: 2}
    writes: Weights = {batches.writes: 3, batches.writes_in_loop: 2, batches.writes_and_change: 2}
    roots: Weights = {checkpoints.put_root_in_form: 1, checkpoints.put_merging: 1}
    groups = ("plain", "container")
    return (
        Theme(
            "configs",
            {**puts, **writes, **forms, **roots, reads.get: 4},
            groups=groups,
            watch_inputs=True,
            missing_parents=True,
            whole_store=True,
        ),
    )


class IdentityMachine(SaverMachine):
    """Programs with addresses of checkpoints in every form that a config may have."""

    enforces = identity.TABLE.contracts
    themes = _identity()
    examples = (*TIES, *MANY, LISTS, LISTED, questions(limit=None))


_STORED: Weights = {checkpoints.put: 8, batches.writes: 6, reads.get: 2, reads.list_: 1}


def _values() -> tuple[Theme, ...]:
    steps, values = _STORED, ("plain", "falsy", "scalar", "container", "object", "message")
    return (
        replace(SMALL, name="values", weights=steps, groups=values),
        replace(SMALL, name="exceptions", weights=steps, groups=("plain", "exception")),
        replace(
            SMALL,
            name="large values",
            weights={checkpoints.put: 2, batches.writes: 1},
            groups=("large",),
            length=6,
        ),
        replace(SMALL, name="non-finite", weights=steps, groups=("plain", "non-finite"), length=12),
        replace(SMALL, name="nul", weights=steps, groups=("plain", "nul"), length=12),
    )


def _names_and_forms() -> tuple[Theme, ...]:
    metadata = tuple({k: v} for k in METADATA_KEYS for v in METADATA_VALUES)
    return (
        replace(
            SMALL,
            name="names",
            weights=_STORED,
            channels=ODD_CHANNELS,
            nodes=ODD_NODES,
            paths=ODD_PATHS,
        ),
        replace(SMALL, name="metadata", weights=_STORED, metadata=metadata),
        replace(
            SMALL,
            name="merged metadata",
            weights={checkpoints.put_merging: 5, reads.get: 2, reads.list_: 1},
        ),
        replace(
            SMALL,
            name="older forms",
            weights={checkpoints.put_older: 5, batches.writes: 2, reads.get: 2},
        ),
        replace(
            SMALL,
            name="legacy metadata",
            weights={checkpoints.put_with_legacy_writes: 4, checkpoints.put: 1},
            length=8,
        ),
        replace(
            SMALL,
            name="refused values",
            weights={checkpoints.put: 3, batches.writes: 2, RefuseValue.make: 5},
        ),
    )


def _bulks() -> tuple[Theme, ...]:
    return (
        *(
            replace(
                SMALL,
                name=f"bulk {one.kind}",
                script=_only(one),
                needs=frozenset({"large"}),
                heavy=True,
            )
            for one in BULKS
        ),
        Theme(
            "encryption",
            script=lambda _: (CheckFiles("encrypted"),),
            needs=frozenset({"serializer"}),
        ),
    )


class SerializationMachine(SaverMachine):
    """Programs with values, names and metadata of every kind."""

    enforces = serialization.TABLE.contracts
    themes = (*_values(), *_names_and_forms(), *_bulks())
    examples = (*NAMES, *METADATA, *EVERY_VALUE)


_BEYOND_FOUR_DIGITS = 10_050
"""How many versions a program asks for: enough to pass 9, 99, 999 and 9,999, where text sorts
wrongly.
"""


def _channels() -> tuple[Theme, ...]:
    puts: Weights = {checkpoints.put: 10, checkpoints.put_copy: 3, checkpoints.put_omitting: 2}
    return (
        Theme("forks", {**puts, **READS}, threads=("a",)),
        Theme(
            "forks after restarts",
            {**puts, saver_lifecycle.reopen: 2},
            threads=("a",),
            needs=frozenset({"durable"}),
            length=20,
            whole_store=True,
        ),
        Theme("versions", script=lambda choose: (NextVersions(choose.randint(101, 140)),)),
    )


class ChannelsMachine(SaverMachine):
    """Programs of forks and copies that keep some channel values and drop others."""

    enforces = channels.TABLE.contracts
    themes = _channels()
    examples = (
        *VERSIONS_OF_CALLERS,
        (NextVersions(_BEYOND_FOUR_DIGITS),),
        (NextVersions(100, clock_goes_back=True),),
    )
