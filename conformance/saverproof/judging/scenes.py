"""Takes the steps that are small scenes of their own: other workspaces, refused values, bulk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from saverproof.errors import OpeningError
from saverproof.execution.calls import address_config, put_call, put_writes_call, read_config
from saverproof.execution.store import Store, set_up
from saverproof.execution.versions import versions_of
from saverproof.judging.session import Raised, Session, perform
from saverproof.judging.store_check import survey
from saverproof.judging.tuples import field, shown_id
from saverproof.model.records import Address, PlannedPut
from saverproof.model.store import Model
from saverproof.process import heartbeat as pulse
from saverproof.steps.definitions import (
    Bulk,
    Elsewhere,
    FirstOperation,
    Put,
    PutWrites,
    RefuseValue,
)
from saverproof.steps.identifiers import task_id
from saverproof.values import Value, same


@perform.register
def _(step: Elsewhere, session: Session) -> None:
    """Two workspaces: neither shows what the other holds, and both at the same time."""
    contract = "isolation/workspaces"
    session.last_change = step
    answer = session.attempt(lambda: _visit(session, step))
    if isinstance(answer, Raised):
        session.sheet.differ(contract, "raised", None, "a second workspace", answer)
        return
    seen_there, put_there = answer
    address = (step.thread, "", step.number)
    session.sheet.compare(contract, "seen", address, [], seen_there, settled=True)
    session.sheet.compare(contract, "put", address, {"notes": -1}, put_there, settled=True)
    survey(session)


def _visit(session: Session, step: Elsewhere) -> tuple[list[Any], Any]:
    """What a second workspace shows of the first one's, and of what is put into it."""
    own = session.store
    with Store(own.target, own.folder, own.loop, own.apis[:1]) as other:
        driver = other.drivers[0]
        everything = {"filter": None, "before": None, "limit": None}
        shown = list(_quietly(lambda: driver.list_tuples(None, everything)) or ())
        for address in session.model.addresses():
            config = read_config(address, session.real(address[0]))
            shown.append(_quietly(partial(driver.get_tuple, config)))
        seen = [field(item, "config") for item in shown if shown_id(item) is not None]
        put = Put(step.thread, "", step.number, changes=(("notes", Value("integer", -1)),))
        planned = _planned(put, other)
        driver.put(put_call(put, planned, step.thread))
        there = driver.get_tuple(read_config((step.thread, "", step.number), step.thread))
        checkpoint = field(there, "checkpoint")
        values = checkpoint.get("channel_values") if isinstance(checkpoint, dict) else checkpoint
        return seen, values


def _quietly(ask: Callable[[], Any]) -> Any:
    """An answer, or None: whether what is unknown may raise is asked elsewhere."""
    try:
        return ask()
    except Exception:  # noqa: BLE001 - a saver may raise anything
        return None


def _planned(step: Put, store: Store) -> PlannedPut:
    return Model().plan_put(step, versions_of(store.saver))


@perform.register
def _(step: RefuseValue, session: Session) -> None:
    """A value that cannot be serialized is refused, and nothing of the call is stored."""
    contract = "serialization/unserializable-is-refused"
    session.last_change = step
    address = (step.thread, step.namespace, step.number)
    answer = session.attempt(lambda: _hand_over(session, step))
    if not isinstance(answer, Raised):
        session.sheet.differ(
            contract, "accepted", address, "an exception", "no exception", settled=True
        )
        _go_on_without(session, address)
        return
    known = len(session.sheet.differences)
    if step.operation == "put":
        session.model.gone.setdefault(address, "refused")
    survey(session)
    if len(session.sheet.differences) == known:
        session.sheet.agree(contract)


def _hand_over(session: Session, step: RefuseValue) -> Any:
    bad = Value("unserializable", 0)
    thread = session.real(step.thread)
    if step.operation == "put":
        put = Put(
            step.thread,
            step.namespace,
            step.number,
            step.parent,
            changes=(("count", Value("integer", 1)), ("notes", bad)),
        )
        planned = session.model.plan_put(put, session.next_version)
        return session.driver.put(put_call(put, planned, thread))
    good = [("count", Value("integer", n)) for n in range(4)]
    good.insert(step.position % 5, ("notes", bad))
    batch = PutWrites(step.thread, step.namespace, step.number, 91, tuple(good))
    return session.driver.put_writes(put_writes_call(batch, thread))


def _go_on_without(session: Session, address: Address) -> None:
    session.model.doubted_writes.add(address)
    if session.model.record(address) is None:
        session.model.ghosts.add(address)


@perform.register
def _(step: Bulk, session: Session) -> None:
    """Many writes, channels or checkpoints at once: advice on limits that a saver may have."""
    contract = "serialization/large"
    address = (step.thread, "", step.number)
    answer = session.attempt(lambda: _in_bulk(session, step))
    if isinstance(answer, Raised):
        session.sheet.differ(contract, "raised", address, f"{step.count} {step.kind}", answer)
    else:
        expected, shown = answer
        session.sheet.compare(contract, "count", address, expected, shown, settled=True)


def _in_bulk(session: Session, step: Bulk) -> tuple[Any, Any]:
    thread = session.real(step.thread)
    driver = session.driver
    if step.kind == "checkpoints":
        return step.count, _long_history(session, step, thread)
    changes = (
        ("total", Value("integer", 0)),
        *(
            (f"channel_{n}", Value("integer", n))
            for n in range(step.count if step.kind == "channels" else 0)
        ),
    )
    put = Put(step.thread, "", step.number, changes=changes)
    driver.put(put_call(put, session.model.plan_put(put, session.next_version), thread))
    config = read_config((step.thread, "", step.number), thread)
    if step.kind == "channels":
        return step.count + 1, len(driver.get_tuple(config).checkpoint["channel_values"])
    writes = tuple(("total", Value("integer", n)) for n in range(step.count))
    batch = PutWrites(step.thread, "", step.number, 1, writes)
    driver.put_writes(put_writes_call(batch, thread))
    shown = [write[2] for write in driver.get_tuple(config).pending_writes]
    right = same(list(range(step.count)), shown)
    return step.count, len(shown) if right else f"{len(shown)} writes, not the ones given"


def _long_history(session: Session, step: Bulk, thread: str) -> int:
    driver = session.driver
    model = Model()
    for number in range(step.count):
        put = Put(
            step.thread,
            "",
            step.number + number,
            parent=step.number + number - 1 if number else None,
            changes=(("total", Value("integer", number)),),
        )
        # One call of many, each of which may take its time.
        pulse.beat(len(session.taken))
        planned = model.plan_put(put, session.next_version)
        driver.put(put_call(put, planned, thread))
        model.put(put, planned)
        if number:
            model.remove((step.thread, "", step.number + number - 1), "bulk")
    config = address_config(thread, None, None)
    listed = driver.list_tuples(config, {"filter": None, "before": None, "limit": None})
    return len(listed)


@perform.register
def _(step: FirstOperation, session: Session) -> None:
    """Any operation may be the first on a new store."""
    before = "" if step.set_up else "-before-setup"
    contract = f"lifecycle/any-first-operation{before}"
    answer = session.attempt(lambda: _first_on_new(session, step))
    if not isinstance(answer, Raised):
        session.sheet.agree(contract)
        return
    expected = f"{step.operation} to work on a new store"
    if isinstance(answer.error, _SetUpError) and _works_as_opened(session, step):
        # What was opened was set up already.
        contract, expected = "lifecycle/setup-idempotent", "the store to be set up again"
    session.sheet.differ(contract, "raised", None, expected, answer, settled=True)


class _SetUpError(Exception):
    """The saver's setup raised."""


def _works_as_opened(session: Session, step: FirstOperation) -> bool:
    unprepared = replace(step, set_up=False)
    answer = session.attempt(lambda: _first_on_new(session, unprepared))
    return not isinstance(answer, Raised)


def _prepare(store: Store) -> None:
    try:
        set_up(store.saver, store.loop)
    except OpeningError as error:
        raise _SetUpError(error.message) from error


def _first_on_new(session: Session, step: FirstOperation) -> None:
    own = session.store
    with Store(own.target, own.folder, own.loop, own.apis[:1]) as other:
        if step.set_up:
            _prepare(other)
        driver = other.drivers[0]
        put = Put("a", "", 1, changes=(("count", Value("integer", 1)),))
        config = read_config(("a", "", 1), "a")
        match step.operation:
            case "put":
                driver.put(put_call(put, _planned(put, other), "a"))
            case "put_writes":
                batch = PutWrites("a", "", 1, 1, (("count", Value("integer", 1)),))
                driver.put_writes(put_writes_call(batch, "a"))
            case "get_tuple":
                driver.get_tuple(config)
            case "list":
                driver.list_tuples(config, {"filter": None, "before": None, "limit": None})
            case "delete_thread":
                driver.invoke("delete_thread", "a")
            case "delete_for_runs":
                driver.invoke("delete_for_runs", [task_id(1)])
            case "copy_thread":
                driver.invoke("copy_thread", "a", "b")
            case "prune":
                driver.invoke("prune", ["a"], strategy="keep_latest")
            case unknown:
                raise ValueError(f"no scene begins with {unknown!r}")
