"""Stops the process of a read (SIGSTOP) while another process changes what it reads.

A lock may expire unless a thread renews it. It keeps others out while only the read is held, but a
stopped process renews nothing: when it goes on, as after a pause of its virtual machine, others
have long had the lock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from saverproof.families.concurrency.callers.bench import CallerBench
from saverproof.families.concurrency.callers.workload import Able
from saverproof.families.concurrency.contract_ids import TORN
from saverproof.families.concurrency.held import stopped_reads
from saverproof.families.concurrency.held.held_reading import (
    CHANGES,
    READS,
    STOPPED,
    HeldAt,
    HeldOperation,
    judge,
    played,
)
from saverproof.families.concurrency.held.held_reads import decoded, tell_apart
from saverproof.families.concurrency.held.holding import HoldPoint
from saverproof.families.concurrency.histories.history_playing import PATIENCE_S, Sharing
from saverproof.families.concurrency.record import SceneRecord
from saverproof.programs.steps.codec import decode, encode

_DELETED_ANEW, _PUT_AGAIN = "deleted, and put anew", "put again"
_MOST = 2
"""How many places are tried of a read, before those between two whose results differ."""
KEPT_OUT = "the change waits for the process that is stopped"


def stop_reads(
    bench: CallerBench,
    able: Able,
    record: SceneRecord,
    each: Sequence[HeldAt],
    longest_s: float,
) -> str:
    """Stop the process of each kind of read at a place, for up to ``longest_s`` seconds.

    The place is one where something of the saver's own keeps others out, or else one in the middle.
    If others are kept out nevertheless, no more places are tried: a lock that a stopped process
    keeps is kept everywhere, and each place would take all the seconds. Return why a read
    could not be stopped; "" if there was no such read.
    """
    how = _DELETED_ANEW if able.deletes else _PUT_AGAIN
    for one in each:
        places = one.shut or one.free[len(one.free) // 2 :][:1]
        kept_out, why = _stop(bench, able, record, one.held, how, places, longest_s)
        record.tally.beat()
        said = f"{one.held.made.kind.value}, in a process that is stopped"
        if why:
            return f"{said}: {why}"[:300]
        if kept_out:
            record.tally.note(f"{said}: {kept_out}")
        if kept_out or TORN in record.found:
            return ""
    return ""


def again(bench: CallerBench, able: Able, data: Mapping[str, Any], record: SceneRecord) -> None:
    """Play a recorded scene again."""
    (held,) = [one for one in READS if one.made.kind == data["read"]]
    place = decode(HoldPoint, data["place"])
    kept_out, why = _stop(bench, able, record, held, data["change"], [place], data["longest_s"])
    if why or kept_out not in ("", KEPT_OUT):
        record.tally.unsure([TORN], why or kept_out)


def _stop(
    bench: CallerBench,
    able: Able,
    record: SceneRecord,
    held: HeldOperation,
    how: str,
    places: Sequence[HoldPoint],
    longest_s: float,
) -> tuple[str, str]:
    """Play a read beside a change, stopped at these places. Return how the change was kept out, and
    why a play did not come to its end; each is "" if it does not apply.
    """
    arguments = held.beside([CHANGES[how]], able, _MOST)
    arguments |= {"longest_s": longest_s}
    arguments["patience_s"] = PATIENCE_S[Sharing.PROCESSES] + longest_s
    scene = {"scene": STOPPED, "longest_s": longest_s}
    kept_out = why = ""

    def shown_at(number: int) -> Any:
        nonlocal kept_out, why
        value, why = played(
            bench, stopped_reads.read_stopped, {**arguments, "place": encode(places[number])}
        )
        if why:
            return None
        record.scenes["reads in a process that is stopped"] += 1
        (told,) = value["each"]
        # Who waits for a lock may give up, and raise.
        kept_out = judge(record, held, how, told, scene)
        if not told["held"]:
            kept_out = kept_out or KEPT_OUT
            return None
        ((_, events),) = told["held"]
        *_, seen, _ = decoded(events)
        return seen.shown, seen.error

    for _ in tell_apart(len(places), _MOST, shown_at):
        if kept_out or why or TORN in record.found:
            break
    return kept_out, why
