"""Makes faults in scripts by plain means: a trigger, a second connection, a subclass, a cancelled
task.

Each takes a few lines, while ``saverproof_faults.standalone`` follows a plan exactly. The script is
run to see whether its fault leads to the same flaw.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.scripts.plain_fault import PlainFault
from saverproof.families.atomicity.scripts.script_faults_below import (
    before_operation,
    failing_calls,
    failing_write,
    losing_message,
)
from saverproof.families.atomicity.scripts.script_faults_of_drivers import failing_method, method_of
from saverproof.families.atomicity.scripts.script_faults_of_sqlite import (
    failing_commit,
    failing_io,
    failing_statement,
    held_by_another,
    locked,
    path_of,
    row_trigger,
    statement_trigger,
)
from saverproof.families.atomicity.trials.disk import FAILURES
from saverproof.families.atomicity.trials.server import WAYS
from saverproof.programs.steps.definitions import Put
from saverproof_faults import ArmedPlan, Event, Fault, FaultsError, Places, Plan
from saverproof_faults.standalone import source


def plain_faults(
    injection: Injection, places: Places, database: str, step: object
) -> Iterator[PlainFault]:
    """Yield plain ways to make the same call fail in a store that holds nothing else, the plainest
    first.

    ``database`` is the file of the store, "" where none is known: then faults that change the file
    from outside are left out.
    """
    plan, where = injection.plan, path_of(database)
    inside = plan is not None and plan.place.event in (Event.STATEMENT, Event.ENGINE_STATEMENT)
    by_trigger = injection.also is None and not injection.interrupts and not isinstance(step, Put)
    if plan is not None and inside and by_trigger and database:
        trigger = row_trigger(plan, places, where) or statement_trigger(plan, places, where)
        if trigger is not None:
            yield trigger
    yield from faults_anywhere(injection, places, database)


def faults_anywhere(injection: Injection, places: Places, database: str) -> Iterator[PlainFault]:
    """Yield the faults that do not depend on what the store already holds."""
    for fault in _anywhere(injection, places, database):
        yield replace(fault, error="BaseException") if injection.interrupts else fault


def _anywhere(injection: Injection, places: Places, database: str) -> Iterator[PlainFault]:
    plan = injection.plan
    if injection.value:
        yield _refusing(injection.value)
    if injection.locked_out and database:
        yield held_by_another(path_of(database))
    if plan is None or injection.also is not None:
        return
    if plan.fault is Fault.CANCEL:
        if plan.place.index == 1:
            yield _CANCELLED
    elif plan.fault is Fault.LOCKED:
        if database:  # an empty store has no file yet, and the script would fail by itself
            yield locked(path_of(database))
    elif plan.place.event is Event.START:
        yield before_operation(plan)
        return
    elif plan.place.event is Event.SEND:
        yield from losing_message(plan)
        yield from failing_calls(plan, places)
        return
    elif plan.place.event is Event.SYSTEM_CALL:
        yield from failing_calls(plan, places)
        return
    elif plan.fault in WAYS:
        yield failing_write(plan)
        return
    elif plan.fault in FAILURES:
        yield failing_io(plan)
        return
    elif (call := method_of(plan, places)) is not None:
        yield from failing_method(plan, call, places)
        return
    elif plan.place.event is Event.COMMIT:
        yield failing_commit(plan, places)
    if plan.fault is Fault.RAISE and plan.place.event is Event.STATEMENT:
        yield from failing_statement(plan, places)
    yield from _to_the_letter(plan, places)


_CANCELLED = PlainFault(
    call=(
        "task = asyncio.create_task({coroutine})",
        "await asyncio.sleep(0)  # until it waits for the database",
        "task.cancel() or sys.exit(2)  # it never suspended, and was not cancelled",
        "await asyncio.wait([task])",
        "await asyncio.sleep(0.3)  # for work that was handed to a thread",
    ),
    raises=False,
)


def _refusing(number: int) -> PlainFault:
    """Return a fault: a serializer that refuses one value in the way in which it refuses unknown
    types.
    """
    return PlainFault(
        top=(
            "class Refusing:",
            "    def __init__(self, serde): self.serde, self.count = serde, 0",
            "    def __getattr__(self, name): return getattr(self.serde, name)",
            "    def dumps_typed(self, value):",
            "        self.count += 1",
            f'        if self.count == {number}: raise TypeError("not to be serialized")',
            "        return self.serde.dumps_typed(value)",
        ),
        before=("saver.serde = Refusing(saver.serde)",),
        after=("saver.serde = saver.serde.serde",),
    )


def _to_the_letter(plan: Plan, places: Places) -> Iterator[PlainFault]:
    shot = ArmedPlan(plan, fired=1)
    try:
        text = source(shot, places)
    except FaultsError:
        return
    top = tuple(line for line in text.splitlines() if line and not line.startswith("import "))
    if plan.fault is Fault.CANCEL:
        yield PlainFault(top, call=("await cancelled({coroutine})",), raises=False)
    else:
        yield PlainFault(top, before=("Fault.arm()",), after=("Fault.heal()",))
