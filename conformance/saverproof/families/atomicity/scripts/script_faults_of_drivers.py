"""Makes faults of a server's driver in scripts: one of the driver's methods fails at one of its
calls.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator

from saverproof.families.atomicity.scripts.plain_fault import PlainFault, after_passing
from saverproof.scripts.source import quoted
from saverproof_faults import Call, Event, Lasts, Moment, Places, Plan
from saverproof_faults.places import Method


def method_of(plan: Plan, places: Places) -> Call | None:
    """Return the call of a driver's method that a plan makes fail."""
    place = plan.place
    calls = (
        call for call in places.calls if (call.event, call.index) == (place.event, place.index)
    )
    return next((call for call in calls if call.method is not None), None)


def failing_method(plan: Plan, call: Call, places: Places, first: str = "") -> Iterator[PlainFault]:
    """Return a fault that replaces the method on its class, as tests do.

    ``first`` is the name of a function that is called before the method raises.
    """
    method = call.method
    if method is None or plan.place.row is not None or plan.lasts is Lasts.ONWARDS:
        return
    same = [one for one in places.calls if one.method == method]
    awaited, defined = ("await ", "async def") if method.awaited else ("", "def")
    plain = f"{awaited}plain(self, *given, **more)"
    after = plan.place.moment is Moment.AFTER
    yield PlainFault(
        top=(
            *(
                ()
                if hasattr(builtins, plan.error)
                else (f"from {method.errors} import {plan.error}",)
            ),
            f"from {method.module} import {method.owner} as Driver",
            "left = []  # True where a call to come fails; the last is for the next one",
            f"plain = Driver.{method.name}",
            f"{defined} failing(self, *given, **more):",
            f"    if not (left and {'(first := left.pop())' if first else 'left.pop()'}):",
            f"        return {plain}",
            *((f"    {plain}",) if after else ()),
            *(("    first()",) if first else ()),
            *_refused(call.event, method, after),
            f'    raise {plan.error}("refused")',
            f"Driver.{method.name} = failing",
        ),
        before=(f"left[:] = {after_passing(same.index(call), first)}",),
        after=("left.clear()",),
    )


def _refused(event: Event, method: Method, after: bool) -> Iterator[str]:
    """Yield the lines that end the transaction, as a server does when it refuses a statement."""
    if method.refused is None or (after and event is not Event.STATEMENT):
        return
    sent = f"plain(self, {quoted(method.refused)})"
    if event is Event.COMMIT:
        sent = 'plain(self, "ROLLBACK")' if method.manner == "execute" else "self.rollback()"
    if method.manner == "leave":
        sent = 'plain(self, RuntimeError, RuntimeError("refused"), None)'
    yield "    with contextlib.suppress(Exception):  # the server ends the transaction"
    yield f"        {'await ' if method.awaited else ''}{sent}"
