"""Fits themes and programs to what a saver can do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from saverproof.capability import Capability
from saverproof.judging.scenes.close_again import CloseAgain
from saverproof.judging.scenes.first_operation import FirstOperation
from saverproof.judging.scenes.second_saver import TakeTurns
from saverproof.programs.axes import table
from saverproof.programs.makers import batches, reads, saver_lifecycle, whole_threads
from saverproof.programs.small import OPERATIONS
from saverproof.programs.steps.definitions import Program, Put, PutWrites, Step
from saverproof.programs.theme import Maker, Theme
from saverproof.programs.values import Value, roundtrips, values
from saverproof.savers.facts import Facts
from saverproof.savers.targets.target import Target

DURABLE = table.DURABLE
_NEEDS: Mapping[Maker, str] = {
    whole_threads.delete_thread: "delete_thread",
    whole_threads.delete_runs: "delete_for_runs",
    whole_threads.copy_thread: "copy_thread",
    whole_threads.prune: "prune",
    whole_threads.prune_to_latest: "prune",
    reads.delta_history: "delta_history",
    batches.writes_early: "early_writes",
    saver_lifecycle.reopen: DURABLE,
    saver_lifecycle.set_up: DURABLE,
    CloseAgain.make: DURABLE,
    TakeTurns.make: Capability.MANY_PROCESSES,
}
"""The capability that a maker's steps need."""
_DECLINED = {
    kind: operation for kind, operation in OPERATIONS.items() if operation in {*_NEEDS.values()}
}
"""The operation that a step needs, for operations that savers may lack."""


def able_of(facts: Facts, target: Target) -> frozenset[str]:
    """Return the capabilities of a saver that steps and points of axes may need."""
    able = {*facts["capabilities"], *([DURABLE] if facts["durable"] else [])}
    shared = target.ref is not None and target.ref.shares_store
    return frozenset(able if shared else {*able, table.OWN_STORE})


def suited(themes: Iterable[Theme], serde: Any, able: Collection[str]) -> tuple[Theme, ...]:
    """Return the themes that a saver can take. They have only values that its serializer keeps."""
    return tuple(_within(theme, serde, able) for theme in themes if theme.needs <= {*able})


def suited_program(program: Program, able: Collection[str], serde: Any = None) -> Program:
    """Return a program without the steps for which the saver lacks the operation.

    If ``serde`` is given, values that it does not keep are left out as well.
    """
    possible = (step for step in program if _has(able, step))
    return tuple(possible if serde is None else (_kept(step, serde) for step in possible))


def _has(able: Collection[str], step: Step) -> bool:
    """Return whether the saver has the operation of a step. Operations that no saver may lack count
    as present.
    """
    first = step.operation if isinstance(step, FirstOperation) else None
    operation = first or _DECLINED.get(type(step))
    return operation not in _NEEDS.values() or operation in able


def _kept(step: Step, serde: Any) -> Step:
    match step:
        case Put(changes=changes):
            known = tuple((n, v) for n, v in changes if v is None or _keeps(serde, v))
            return step if known == changes else replace(step, changes=known)
        case PutWrites(writes=writes):
            told = tuple((n, v) for n, v in writes if _keeps(serde, v))
            return step if told == writes else replace(step, writes=told)
    return step


def _keeps(serde: Any, value: Value) -> bool:
    return value.group == "exception" or roundtrips(serde, value)


def _within(theme: Theme, serde: Any, able: Collection[str]) -> Theme:
    kept = tuple(v for v in values(*theme.groups) if _keeps(serde, v))
    weights = {
        maker: weight
        for maker, weight in theme.weights.items()
        if maker not in _NEEDS or _NEEDS[maker] in able
    }
    return replace(theme, values=kept, weights=weights)
