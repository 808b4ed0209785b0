"""Runs in the processes that are killed, and in those that look at the stores afterwards.

Every function is called by ``saverproof_faults.kill`` as 'module:function' with plain data.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

from saverproof.errors import describe
from saverproof.families.durability.kills.integrity import wrong_with
from saverproof.families.durability.kills.kill_places import OPENING, KillPlace, PlaceKind
from saverproof.families.durability.kills.kill_points import places
from saverproof.families.durability.kills.workloads import OF_LOOKS, UNRELATED
from saverproof.programs.steps.codec import decode, encode, from_json
from saverproof.savers.execution.driver import ApiDriver, driver_of
from saverproof.savers.execution.own_ids import ids_for
from saverproof.savers.execution.settled_calls import Calls, Key, SettledCall, perform
from saverproof.savers.execution.view import (
    ShownFacts,
    config_of,
    facts_among_all,
    listed_facts,
    parts_of,
)
from saverproof.savers.targets.event_loop import Loop, loop_for
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.opening import opened
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.workspace import Workspace
from saverproof_faults.kill import Acks

Arguments = Mapping[str, Any]

_PATIENCE_S = 10.0
_LEAST_TRIES = 3
_PAUSE_S = 0.0005


@contextmanager
def saver_for(arguments: Arguments) -> Iterator[tuple[ApiDriver, Loop]]:
    """Open the saver that the arguments name. Yields its driver for the API, and its event loop."""
    target = load(TargetRef.from_json(arguments["target"]))
    workspace = workspace_of(arguments)
    with loop_for(arguments["api"]) as loop, opened(target, workspace, loop) as saver:
        yield driver_of(saver, arguments["api"], loop, ids_for(target, workspace)), loop


def workspace_of(arguments: Arguments) -> Workspace:
    """Return the workspace that the arguments name."""
    return Workspace.from_json(arguments)


def settled(driver: ApiDriver, arguments: Arguments) -> tuple[tuple[SettledCall, ...], list[Any]]:
    """Return the calls of the program, and the channel versions in them.

    The versions come from the saver in a first run, and are given in all others.
    """
    given = arguments.get("versions")
    minted: list[Any] = []
    replayed = iter(given or ())

    def next_version(current: Any) -> Any:
        version = driver.saver.get_next_version(current, None) if given is None else next(replayed)
        minted.append(version)
        return version

    return Calls(next_version).settle(from_json(arguments["program"])), minted


def rehearse(acks: Acks, arguments: Arguments) -> dict[str, Any]:
    """Make a clean run. Return the versions, what is shown after each operation, and every place
    passed.
    """
    kind = PlaceKind(arguments["kind"])
    with places(kind, arguments["path"], None, acks) as passed:
        with saver_for(arguments) as (driver, _):
            calls, versions = settled(driver, arguments)
            for number, call in enumerate(calls):
                passed.begin(number)
                perform(driver, call)
            passed.begin(len(calls))
        passed.end()
        return {"versions": versions, "places": [encode(place) for place in passed.found]}


def shown_facts(driver: ApiDriver, threads: Sequence[str]) -> ShownFacts:
    """Return what a saver shows of each of these threads. If nobody else uses the store, the
    listing of all threads is added.
    """
    shown = listed_facts(driver, threads)
    return shown if driver.ids else shown | facts_among_all(driver, threads)


def watch_states(acks: Acks, arguments: Arguments) -> dict[str, Any]:
    """Make a clean run. Return what the saver shows before and after each operation."""
    threads = arguments["threads"]
    with saver_for(arguments) as (driver, _):
        calls, versions = settled(driver, arguments)
        states = [shown_facts(driver, threads)]
        for call in calls:
            perform(driver, call)
            states.append(shown_facts(driver, threads))
        return {"versions": versions, "states": states}


def write(acks: Acks, arguments: Arguments) -> None:
    """Run the program, and die at the place of the arguments."""
    planned = arguments.get("kill")
    place = None if planned is None else decode(KillPlace, planned)
    kind = PlaceKind.INSTANT if place is None else place.kind
    returned = place is not None and place.kind is PlaceKind.ACKNOWLEDGED
    with (
        places(kind, arguments["path"], place, acks) as passed,
        saver_for(arguments) as (driver, _),
    ):
        calls, _ = settled(driver, arguments)
        if returned and place is not None and place.operation == OPENING:
            acks.reached()
        call_all(
            acks,
            driver,
            calls,
            begin=passed.begin,
            insist=bool(arguments.get("insist")),
            returned=lambda number: (
                acks.reached()
                if returned and place is not None and number == place.operation
                else None
            ),
        )
        passed.begin(len(calls))


def call_all(
    acks: Acks,
    driver: ApiDriver,
    calls: tuple[SettledCall, ...],
    *,
    begin: Callable[[int], object],
    returned: Callable[[int], object],
    insist: bool = False,
) -> None:
    """Make the calls, and mark when each begins and returns. With ``insist``, a call that raises is
    repeated for some time.
    """
    for number, call in enumerate(calls):
        begin(number)
        acks.started(number)
        _insistently(driver, call) if insist else perform(driver, call)
        acks.acknowledged(number)
        returned(number)


def _insistently(driver: ApiDriver, call: SettledCall) -> None:
    """Repeat a call until it returns. Two writers may lock each other out, which is not judged
    here.
    """
    deadline = time.monotonic() + _PATIENCE_S
    for tried in count(1):
        try:
            perform(driver, call)
        except Exception:
            # A machine with much else to do gives both their turns, later.
            if tried >= _LEAST_TRIES and time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_S)
        else:
            return


def survive(acks: Acks, arguments: Arguments) -> str | None:
    """Run the program of a second process. Its last calls come after the first process has died.
    Return the error, if any.
    """
    with saver_for(arguments) as (driver, _):
        calls, _ = settled(driver, arguments)
        last = len(calls) - arguments["last"]

        def begin(number: int) -> None:
            while number == last and not acks.alone():
                time.sleep(_PAUSE_S)

        try:
            call_all(acks, driver, calls, begin=begin, returned=lambda number: None, insist=True)
        except Exception as error:  # noqa: BLE001 - a saver may raise anything; it is an answer
            return describe(error)
    return None


def look(arguments: Arguments) -> dict[str, Any]:
    """Open the store again, read it, check it, and write to it; then open it once more, and look
    whether what was written is there.

    Return what is "shown". The arguments may name an operation that the look ``goes_on_with``: it
    is then called, and "continued" is what is shown after it. They may name a position that has
    ``removed`` checkpoints: the missing ones are then put again ("put_again"). In that case "back"
    are the facts about writes that are shown then, and "refused" is the error of a put.
    ``first_answer_ms`` is the time from the beginning to the first answer. An error stands under
    "opening", "reading", "integrity" or "writing", and ends the look. "forgotten" says what was
    written, by a call that returned, and is not there.
    """
    began = time.perf_counter()
    seen: dict[str, Any] = {"shown": {}}
    stage = "opening"
    target = load(TargetRef.from_json(arguments["target"]))
    try:
        with saver_for(arguments) as (driver, _):
            stage = "reading"
            driver.get_tuple({"configurable": {"thread_id": UNRELATED, "checkpoint_ns": ""}})
            seen["first_answer_ms"] = (time.perf_counter() - began) * 1_000
            seen["shown"] = _without_looks(shown_facts(driver, arguments["threads"]))
            problems = wrong_with(target, workspace_of(arguments))
            if problems:
                seen["integrity"] = problems[:5]
                return seen
            stage = "writing"
            if "goes_on_with" in arguments:
                calls, _ = settled(driver, arguments)
                perform(driver, calls[arguments["goes_on_with"]])
                seen["continued"] = _without_looks(shown_facts(driver, arguments["threads"]))
            if "removed" in arguments:
                seen |= _put_again(driver, arguments, seen["shown"])
            calls, _ = settled(driver, {**arguments, "program": arguments["afterwards"]})
            for call in calls:
                perform(driver, call)
            if not listed_facts(driver, (UNRELATED,)):
                seen["forgotten"] = "an unrelated put returned, and is not there"
            put = _put_in_each(driver, arguments) if "in_each" in arguments else ()
        if put:
            with saver_for(arguments) as (driver, _):
                gone = [key[0] for key in put if driver.get_tuple(config_of(key)) is None]
            if gone:
                again = "gone once the store is opened again"
                seen["forgotten"] = f"a put into thread {gone[0]!r} returned, and is {again}"
    except BaseException as error:  # noqa: BLE001 - a saver may raise anything; it is an answer
        seen[stage] = describe(error)
    return seen


def _put_in_each(driver: ApiDriver, arguments: Arguments) -> tuple[Key, ...]:
    """Put a checkpoint into each thread of the program, and return where.

    A store may keep each thread in a file of its own, with half a record at its end.
    """
    calls, _ = settled(driver, {**arguments, "program": arguments["in_each"], "versions": None})
    for call in calls:
        perform(driver, call)
    return tuple(call.key for call in calls if call.key is not None)


def _without_looks(shown: ShownFacts) -> ShownFacts:
    """Return the facts without those of what an earlier look has put."""
    return {name: fact for name, fact in shown.items() if parts_of(name)[1] != OF_LOOKS}


def _put_again(driver: ApiDriver, arguments: Arguments, shown: ShownFacts) -> dict[str, Any]:
    """Put again each missing checkpoint that was put before the removal, by its last put. Return
    which puts were made, the facts about their writes that are then shown, and an error, if any.
    """
    calls, _ = settled(driver, arguments)
    there = {parts_of(name)[:3] for name in shown}
    last = {call.key: number for number, call in enumerate(calls[: arguments["removed"]])}
    missing = {key: number for key, number in last.items() if key and key not in there}
    seen: dict[str, Any] = {"put_again": sorted(missing.values()), "back": [], "refused": ""}
    try:
        for number in seen["put_again"]:
            perform(driver, calls[number])
    except Exception as error:  # noqa: BLE001 - a saver may raise anything; it is an answer
        seen["refused"] = describe(error)
    facts = shown_facts(driver, sorted({key[0] for key in missing}))
    seen["back"] = [name for name in facts if _is_of_writes(name, missing)]
    return seen


def _is_of_writes(name: str, places: Container[Key]) -> bool:
    """Return whether a fact is about the writes of one of these checkpoints."""
    thread, namespace, checkpoint, kind, _ = parts_of(name)
    return kind == "writes" and (thread, namespace, checkpoint) in places


def look_at_each(arguments: Arguments) -> list[dict[str, Any]]:
    """Look at several stores, each with arguments of its own."""
    return [look(store) for store in arguments["stores"]]
