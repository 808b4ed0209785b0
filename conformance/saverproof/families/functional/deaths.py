"""Which contract is broken when a step ends the process, or is never answered."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from saverproof.judging.blame import WHOLE_STEP
from saverproof.judging.filters import contract_of_filter
from saverproof.steps.codec import step_from_json
from saverproof.steps.definitions import (
    CallOnLoop,
    CheckFiles,
    DeltaHistory,
    FirstOperation,
    GetTuple,
    ListTuples,
    NextVersions,
    PutWrites,
    Step,
    WalkPages,
)


def contract_of_death(last: Any) -> str:
    """The contract of the last step of a journal, as JSON."""
    return asked_for(step_from_json(last))


@singledispatch
def asked_for(step: Step) -> str:
    """The contract that a step leans on by being answered at all."""
    return WHOLE_STEP.get(type(step), "identity/put-returns-address")


@asked_for.register
def _(step: PutWrites) -> str:
    return "pending-writes/complete" if step.writes else "pending-writes/empty-batch"


@asked_for.register
def _(step: GetTuple) -> str:
    if step.number is None:
        return "ordering/latest-is-greatest-id"
    return "identity/tuple-addresses-itself"


@asked_for.register
def _(step: ListTuples) -> str:
    if step.filter:
        return contract_of_filter(step.filter)
    return "ordering/limit-is-a-prefix" if step.limit is not None else "identity/list-selects"


@asked_for.register
def _(step: WalkPages) -> str:
    return "ordering/pages-tile"


@asked_for.register
def _(step: DeltaHistory) -> str:
    return "delta-history/matches-walk"


@asked_for.register
def _(step: NextVersions) -> str:
    return "channels/versions-increase"


@asked_for.register
def _(step: CallOnLoop) -> str:
    return "parity/no-event-loop-hang"


@asked_for.register
def _(step: CheckFiles) -> str:
    private = step.look_for == "private"
    return "isolation/private-files" if private else "serialization/encrypted-at-rest"


@asked_for.register
def _(step: FirstOperation) -> str:
    return f"lifecycle/any-first-operation{'' if step.set_up else '-before-setup'}"
