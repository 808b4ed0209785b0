"""Takes the steps that are small scenes of their own: other workspaces, refused values, bulk."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from saverproof.errors import OpeningError
from saverproof.execution.calls import address_config, put_call, put_writes_call, read_config
from saverproof.execution.store import Store, set_up
from saverproof.execution.versions import versions_of
from saverproof.judging import facts
from saverproof.judging.answers import field, shown_id
from saverproof.judging.context import Context
from saverproof.judging.facts import Cause, Raised
from saverproof.judging.store_check import check_store
from saverproof.model.records import Address, PlannedPut
from saverproof.model.store import Model
from saverproof.process import heartbeat
from saverproof.steps import definitions as steps
from saverproof.steps.identifiers import task_id
from saverproof.values import Value, same


def take_elsewhere(step: steps.Elsewhere, context: Context) -> None:
    """Two workspaces: neither shows what the other holds, and both at the same time."""
    context.last_change = step
    answer = context.attempt(lambda: _visit(context, step))
    if isinstance(answer, Raised):
        context.facts.differ(facts.RAISED, None, "a second workspace", answer)
        return
    seen_there, put_there = answer
    address = (step.thread, "", step.number)
    context.facts.compare(facts.SEEN_ELSEWHERE, address, [], seen_there)
    context.facts.compare(facts.PUT_ELSEWHERE, address, {"notes": -1}, put_there)
    check_store(context)


def _visit(context: Context, step: steps.Elsewhere) -> tuple[list[Any], Any]:
    """What a second workspace shows of the first one's, and of what is put into it."""
    own = context.store
    # By the same ids in both: one store for all would show it.
    with Store(own.target, own.folder, own.loop, own.apis[:1], own.ids) as other:
        driver = other.drivers[0]
        shown = [] if own.ids else context.attempt(lambda: list(driver.list_tuples(None, {})))
        if isinstance(shown, Raised):
            cause = Cause.EMPTY_THREAD
            context.facts.differ(facts.RAISED, None, "an empty listing", shown, cause=cause)
            shown = []
        for address in context.model.addresses():
            config = read_config(address, context.real(address[0]))
            found = context.attempt(partial(driver.get_tuple, config))
            if isinstance(found, Raised):
                cause = Cause.ANY_UNKNOWN
                context.facts.differ(facts.UNKNOWN_RAISES, address, None, found, cause=cause)
            shown.append(found)
        seen = [field(item, "config") for item in shown if shown_id(item) is not None]
        put = steps.Put(step.thread, "", step.number, changes=(("notes", Value("integer", -1)),))
        planned = _planned(put, other)
        driver.put(put_call(put, planned, step.thread))
        there = driver.get_tuple(read_config((step.thread, "", step.number), step.thread))
        checkpoint = field(there, "checkpoint")
        values = checkpoint.get("channel_values") if isinstance(checkpoint, dict) else checkpoint
        return seen, values


def _planned(step: steps.Put, store: Store) -> PlannedPut:
    return Model().plan_put(step, versions_of(store.saver))


def take_refuse_value(step: steps.RefuseValue, context: Context) -> None:
    """A value that cannot be serialized is refused, and nothing of the call is stored."""
    context.last_change = step
    address = (step.thread, step.namespace, step.number)
    answer = context.attempt(lambda: _hand_over(context, step))
    if not isinstance(answer, Raised):
        context.facts.differ(facts.ACCEPTED, address, "an exception", "no exception")
        _go_on_without(context, address)
        return
    known = len(context.facts.differences)
    if step.operation == "put":
        context.model.gone.setdefault(address, "refused")
    check_store(context)
    if len(context.facts.differences) == known:
        context.facts.agree(type(step))


def _hand_over(context: Context, step: steps.RefuseValue) -> Any:
    bad = Value("unserializable", 0)
    thread = context.real(step.thread)
    if step.operation == "put":
        put = steps.Put(
            step.thread,
            step.namespace,
            step.number,
            step.parent,
            changes=(("count", Value("integer", 1)), ("notes", bad)),
        )
        planned = context.model.plan_put(put, context.next_version)
        return context.driver.put(put_call(put, planned, thread))
    good = [("count", Value("integer", n)) for n in range(4)]
    good.insert(step.position % 5, ("notes", bad))
    batch = steps.PutWrites(step.thread, step.namespace, step.number, 91, tuple(good))
    return context.driver.put_writes(put_writes_call(batch, thread))


def _go_on_without(context: Context, address: Address) -> None:
    context.model.doubted_writes.add(address)
    if context.model.record(address) is None:
        context.model.unexpected.add(address)


def take_bulk(step: steps.Bulk, context: Context) -> None:
    """Many writes, channels or checkpoints at once: advice on limits that a saver may have."""
    address = (step.thread, "", step.number)
    answer = context.attempt(lambda: _in_bulk(context, step))
    if isinstance(answer, Raised):
        context.facts.differ(facts.RAISED, address, f"{step.count} {step.kind}", answer)
    else:
        expected, shown = answer
        context.facts.compare(facts.COUNT, address, expected, shown)


def _in_bulk(context: Context, step: steps.Bulk) -> tuple[Any, Any]:
    thread = context.real(step.thread)
    driver = context.driver
    if step.kind == "checkpoints":
        return step.count, _long_history(context, step, thread)
    changes = (
        ("total", Value("integer", 0)),
        *(
            (f"channel_{n}", Value("integer", n))
            for n in range(step.count if step.kind == "channels" else 0)
        ),
    )
    put = steps.Put(step.thread, "", step.number, changes=changes)
    driver.put(put_call(put, context.model.plan_put(put, context.next_version), thread))
    config = read_config((step.thread, "", step.number), thread)
    if step.kind == "channels":
        return step.count + 1, len(driver.get_tuple(config).checkpoint["channel_values"])
    writes = tuple(("total", Value("integer", n)) for n in range(step.count))
    batch = steps.PutWrites(step.thread, "", step.number, 1, writes)
    driver.put_writes(put_writes_call(batch, thread))
    shown = [write[2] for write in driver.get_tuple(config).pending_writes]
    # In whichever order: that is told of a few.
    right = same(sorted(range(step.count), key=repr), sorted(shown, key=repr))
    return step.count, len(shown) if right else f"{len(shown)} writes, not the ones given"


def _long_history(context: Context, step: steps.Bulk, thread: str) -> int:
    driver = context.driver
    model = Model()
    for number in range(step.count):
        put = steps.Put(
            step.thread,
            "",
            step.number + number,
            parent=step.number + number - 1 if number else None,
            changes=(("total", Value("integer", number)),),
        )
        # One call of many, each of which may take its time.
        heartbeat.beat(len(context.taken))
        planned = model.plan_put(put, context.next_version)
        driver.put(put_call(put, planned, thread))
        model.put(put, planned)
        if number:
            model.remove((step.thread, "", step.number + number - 1), "bulk")
    config = address_config(thread, None, None)
    listed = driver.list_tuples(config, {})
    return len(listed)


def take_first_operation(step: steps.FirstOperation, context: Context) -> None:
    """Any operation may be the first on a new store."""
    fact = facts.FIRST_OPERATION if step.set_up else facts.FIRST_OPERATION_BEFORE_SETUP
    answer = context.attempt(lambda: _first_on_new(context, step))
    if not isinstance(answer, Raised):
        context.facts.agree(fact)
        return
    expected, cause = f"{step.operation} to work on a new store", None
    if isinstance(answer.error, _SetUpError) and _works_as_opened(context, step):
        # What was opened was set up already.
        expected, cause = "the store to be set up again", Cause.SET_UP_ALREADY
    context.facts.differ(fact, None, expected, answer, cause=cause)


class _SetUpError(Exception):
    """The saver's setup raised."""


def _works_as_opened(context: Context, step: steps.FirstOperation) -> bool:
    unprepared = replace(step, set_up=False)
    answer = context.attempt(lambda: _first_on_new(context, unprepared))
    return not isinstance(answer, Raised)


def _prepare(store: Store) -> None:
    try:
        set_up(store.saver, store.loop)
    except OpeningError as error:
        raise _SetUpError(error.message) from error


def _first_on_new(context: Context, step: steps.FirstOperation) -> None:
    own = context.store
    with Store(own.target, own.folder, own.loop, own.apis[:1]) as other:
        if step.set_up:
            _prepare(other)
        driver = other.drivers[0]
        put = steps.Put("a", "", 1, changes=(("count", Value("integer", 1)),))
        config = read_config(("a", "", 1), "a")
        match step.operation:
            case "put":
                driver.put(put_call(put, _planned(put, other), "a"))
            case "put_writes":
                batch = steps.PutWrites("a", "", 1, 1, (("count", Value("integer", 1)),))
                driver.put_writes(put_writes_call(batch, "a"))
            case "get_tuple":
                driver.get_tuple(config)
            case "list":
                driver.list_tuples(config, {})
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
