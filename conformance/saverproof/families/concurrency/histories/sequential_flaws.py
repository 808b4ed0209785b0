"""Finds what is wrong with the calls of a single caller, by the judging of the functional
families.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from saverproof.capability import Capability
from saverproof.families.concurrency.callers.calling import CHANNELS, MOST_NUMBERS
from saverproof.families.concurrency.callers.records import (
    FIRST_OF_ROUNDS,
    PLACES,
    Operation,
    OperationKind,
    copy_of,
)
from saverproof.families.concurrency.callers.workload import KNOWN
from saverproof.families.concurrency.histories.history_playing import CallPlan
from saverproof.families.items import Finding, ItemPlan
from saverproof.families.machines.explaining.search import ProgramSearch
from saverproof.families.machines.explaining.trials import Trials
from saverproof.families.machines.findings import finding
from saverproof.programs.small import TASK_PATH
from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    GetTuple,
    ListTuples,
    Program,
    Prune,
    Put,
    PutWrites,
    Step,
)
from saverproof.programs.values import Value
from saverproof.savers.targets.event_loop import loop_for
from saverproof.savers.targets.target import Target

_MOST_LOOKS = 3
"""How many histories are looked into: more of them mostly show the same."""


@dataclass(slots=True)
class SequentialFlaws:
    """Violations of other families' contracts that a single caller's calls show, with shortened
    programs.
    """

    plan: ItemPlan
    target: Target
    found: dict[str, Finding] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    """The contracts that are known to be broken, by a finding, or by a known mistake that predicts
    the answers.
    """
    _looks: int = 0

    def look_into(self, calls: CallPlan) -> frozenset[str]:
        """Return the contracts that these calls, made by one caller, are known to break."""
        return self.look_into_program(program_of(calls))

    def look_into_program(self, program: Program) -> frozenset[str]:
        """Return the contracts that this program is known to break."""
        if self._looks < _MOST_LOOKS:
            self._looks += 1
            self._search(program)
        return frozenset(self.known)

    def _search(self, program: Program) -> None:
        plan = self.plan
        with loop_for(plan.api) as loop:
            shallow = Capability.HISTORY not in plan.facts["capabilities"]
            trials = Trials(self.target, Path(plan.folder), loop, (plan.api,), shallow=shallow)
            # Whatever contract is broken is another family's.
            search = ProgramSearch(trials, frozenset())
            search.follow_up(trials.replay(program, thorough=False))
            search.settle_the_rest()
            shown = [finding(self.target, plan.api, one) for one in search.others]
        for one in shown:
            self.found.setdefault(one.contract, one)
        self.known |= self.found.keys() | {behind[0] for behind in search.ledger.elsewhere}


def program_of(calls: CallPlan) -> Program:
    """Return the calls of one caller as a program."""
    (made,) = calls.callers
    operations = (*calls.before, *made, *calls.after)
    return tuple(_step(one) for one in operations if one.kind is not OperationKind.SETUP)


def _step(operation: Operation) -> Step:
    thread, namespace = PLACES[operation.place]
    number = _number(operation, operation.number)
    match operation.kind:
        case OperationKind.PUT:
            return _put(operation, thread, namespace)
        case OperationKind.WRITES:
            writes = (
                (CHANNELS[at % len(CHANNELS)], Value("text", text))
                for at, text in enumerate(operation.texts)
            )
            task = operation.task
            return PutWrites(thread, namespace, number, task, tuple(writes), TASK_PATH)
        case OperationKind.GET:
            return GetTuple(thread, namespace, number)
        case OperationKind.LATEST:
            return GetTuple(thread, namespace)
        case OperationKind.LIST:
            return ListTuples(thread, namespace)
        case OperationKind.COPY:
            return CopyThread(thread, PLACES[copy_of(operation.place)][0])
        case OperationKind.PRUNE:
            return Prune((thread,), "keep_latest")
        case OperationKind.PRUNE_ALL:
            return Prune((thread,), "delete")
        case OperationKind.DELETE_RUN:
            return DeleteForRuns((operation.run,))
        case _:
            return DeleteThread(thread)


def _put(operation: Operation, thread: str, namespace: str) -> Put:
    number, first = (_number(operation, one) for one in (operation.number, KNOWN[0]))
    parent = _number(operation, operation.parent) if operation.parent else first
    changed = CHANNELS[:1] if operation.carries else CHANNELS
    changes = [(name, Value("text", f"p{operation.tag}")) for name in changed]
    metadata = {"run_id": operation.run} if operation.run else None
    return Put(
        thread,
        namespace,
        number,
        None if number == first else parent,
        tuple(changes),
        metadata=metadata,
    )


def _number(operation: Operation, number: int) -> int:
    """Return a number for the checkpoint that no checkpoint in another namespace of the thread
    has.
    """
    place = operation.place
    return (place % 2 if place >= FIRST_OF_ROUNDS else place) * MOST_NUMBERS + number
