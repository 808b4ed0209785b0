"""Faults for programs that use databases: at each statement, row, commit, await, I/O, and kills.

The program under test does nothing for it, and nothing of it is changed: connections are proxied
and watched however it opens them. Enter an ``Injector`` before the program connects; count the
places that an operation passes in a clean run; then let one place fail at a time.

    from saverproof_faults import Injector, outside_view, open_transactions

    with Injector() as injector:
        store = open_store(path)                          # opens sqlite3, aiosqlite, SQLAlchemy...
        places = injector.count(lambda: store.add(rows))  # a clean run, on data of its own
        for plan in places.plans():                       # every single fault that can strike it
            store = open_store(fresh_path())
            before = outside_view(store.path)
            with injector.armed(plan) as armed:           # heals at the end, whatever happened
                with suppress(Exception):
                    store.add(rows)
            armed.require_fired()                         # what never fired has tested nothing
            after = outside_view(store.path)              # a second, raw connection
            print(plan.describe(), after.changed(before), after.write_locked,
                  open_transactions(injector.watch))
    print(injector.report.as_data())

Asynchronous operations are counted and armed with the same blocks, in which one may await, and
work that was handed to threads is waited for before judging:

    with injector.counting() as counting:
        clean = await count_awaits(store.add_async)
    for plan in counting.places.plans() + clean.plans():  # clean.plans(): its cancellations
        if plan.fault is Fault.CANCEL:
            ended = await injector.cancel(store.add_async, plan)    # settles by itself
        else:
            with injector.armed(plan) as armed:
                ...
                await injector.drain()

What there is
    Plan, Place and the enumerations Fault, Event, Moment, Lasts, Side
        A plan is frozen data, ``to_json`` and ``from_json``, ``describe()`` in words. ``plan.side``
        is its class: client-side (the driver raises), engine-side (the database fails),
        cancellation, process. Never mix them in a report: they leave different things behind.
    Injector
        ``count``, ``counting``, ``arm``, ``heal``, ``armed``, ``trapped`` (an action at a place,
        for kills), ``cancel``, ``drain``, ``watch``, ``report``. With ``folder=``, also SQLite's
        I/O below it; with ``drivers=``, drivers beside the known ones. ``arm`` takes several plans
        at once.
    Places
        What passed: ``calls`` (the program's), ``statements`` (SQLite's), ``transactions``,
        ``io_calls``; ``unproxied_connections`` and ``unproxied_statements``, which no client-side
        fault can reach; ``plans(faults=None)``. ``io_to_fail(io_calls)`` are the I/O calls of them
        that are worth failing: of a long row of writes, some.
    ArmedPlan, InjectionReport
        Whether a plan fired; counts by fault and class, and ``never_fired``, each an error of a
        run.
    outside_view, write_locked, commit_elsewhere, open_transactions
        What a second connection sees; an unrelated commit by another; transactions left open.
    count_awaits, cancel_at, Handoffs
        Cancellation at the k-th suspension, and settling, without an injector.
    wrap
        A wrapper for one connection in hand, of any DB-API driver.
    standalone.source (from saverproof_faults.standalone)
        A fired plan as some 25 lines of plain Python, for reproducers without this package.
    Driver, ClassDriver, KNOWN_DRIVERS, WITHOUT_HOOKS, loaded_drivers, why_nothing_passed
        What is known, loaded, and how to declare another driver.
    InjectedFault, was_injected, FaultsError, PlanError, HookFailed, NotSettled, Unavailable
        Errors raised on purpose, and errors of this package.

Subpackages: ``io`` (SQLite's file I/O failed and recorded), ``syscalls`` (system calls on files
failed below any library), ``power`` (disk images of power cuts),
``kill`` (SIGKILL at places and at random), ``servers`` (private database servers, a TCP proxy), and
``sqlite``, where connections are watched, proxied, failed and looked at.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from saverproof_faults.armed_plans import ArmedPlan, InjectionReport
    from saverproof_faults.cancel import Awaited, Ending, cancel_at, count_awaits
    from saverproof_faults.drain import Handoffs
    from saverproof_faults.drivers import ClassDriver, Driver
    from saverproof_faults.errors import (
        FaultsError,
        HookFailed,
        InjectedFault,
        NotSettled,
        PlanError,
        Unavailable,
        was_injected,
    )
    from saverproof_faults.injector import Counting, Injector
    from saverproof_faults.kinds import Event, Fault, Lasts, Moment, Side
    from saverproof_faults.known_drivers import (
        KNOWN_DRIVERS,
        WITHOUT_HOOKS,
        loaded_drivers,
        why_nothing_passed,
    )
    from saverproof_faults.places import Call, Places, Statement, io_to_fail
    from saverproof_faults.plan import Place, Plan
    from saverproof_faults.sqlite.outside_view import (
        OutsideView,
        TableView,
        commit_elsewhere,
        open_transactions,
        outside_view,
        write_locked,
    )
    from saverproof_faults.wrapping import wrap

_HOMES = {
    "cancel": ("Awaited", "Ending", "cancel_at", "count_awaits"),
    "drivers": ("ClassDriver", "Driver"),
    "known_drivers": ("KNOWN_DRIVERS", "WITHOUT_HOOKS", "loaded_drivers", "why_nothing_passed"),
    "errors": (
        "FaultsError",
        "HookFailed",
        "InjectedFault",
        "NotSettled",
        "PlanError",
        "Unavailable",
        "was_injected",
    ),
    "injector": ("Counting", "Injector"),
    "kinds": ("Event", "Fault", "Lasts", "Moment", "Side"),
    "places": ("Call", "Places", "Statement", "io_to_fail"),
    "plan": ("Place", "Plan"),
    "drain": ("Handoffs",),
    "armed_plans": ("InjectionReport", "ArmedPlan"),
    "sqlite.outside_view": (
        "OutsideView",
        "TableView",
        "commit_elsewhere",
        "outside_view",
        "open_transactions",
        "write_locked",
    ),
    "wrapping": ("wrap",),
}

__all__ = [
    "KNOWN_DRIVERS",
    "WITHOUT_HOOKS",
    "ArmedPlan",
    "Awaited",
    "Call",
    "ClassDriver",
    "Counting",
    "Driver",
    "Ending",
    "Event",
    "Fault",
    "FaultsError",
    "Handoffs",
    "HookFailed",
    "InjectedFault",
    "InjectionReport",
    "Injector",
    "Lasts",
    "Moment",
    "NotSettled",
    "OutsideView",
    "Place",
    "Places",
    "Plan",
    "PlanError",
    "Side",
    "Statement",
    "TableView",
    "Unavailable",
    "cancel_at",
    "commit_elsewhere",
    "count_awaits",
    "io_to_fail",
    "loaded_drivers",
    "open_transactions",
    "outside_view",
    "was_injected",
    "why_nothing_passed",
    "wrap",
    "write_locked",
]


def __getattr__(name: str) -> Any:
    # Import a module only when one of its names is asked for: most users need a part of the
    # package.
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
