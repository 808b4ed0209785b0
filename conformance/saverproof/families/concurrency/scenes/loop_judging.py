"""Judges whether the event loop stays free while an awaited call of a saver waits for its
database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from saverproof.families.concurrency.callers.bench import CallerBench
from saverproof.families.concurrency.contract_ids import LOOP
from saverproof.families.concurrency.record import Problem, SceneRecord
from saverproof.families.concurrency.scenes import waiting
from saverproof.families.concurrency.scenes.scene_judging import died
from saverproof.families.drivers import HOOKS
from saverproof_faults.kill import DiedBy

SCENE = "waiting calls"
_EXPECTED = "the event loop to take its turns for others while a call of the database driver waits"


def let_wait(bench: CallerBench, record: SceneRecord) -> None:
    """Make every operation wait for the event loop once, if the saver's calls are awaited at
    all.
    """
    tally = record.tally
    if bench.plan.api != "async":
        tally.rule_out(LOOP, "no event loop waits for calls of the sync API")
        return
    operations = bench.plan.facts["operations"][bench.plan.api]
    with bench.store() as store:
        result = bench.played(waiting.wait, store | {"operations": list(operations)})
    record.scenes["calls that wait for the event loop"] += 1
    end = died(LOOP, result)
    if end is not None or result.died_by is not DiedBy.FINISHED:
        tally.unknown[LOOP] = f"{result.ending()} {result.stacks}".strip()[:1_000]
        return
    seen: Mapping[str, Any] = result.value
    tally.operations += len(seen["looks"])
    _judge(seen, record)


def _judge(seen: Mapping[str, Any], record: SceneRecord) -> None:
    looks, still = seen["looks"], seen["standstill"]
    unseen = [what for what, _, let_go, where, _ in looks if not let_go and not where]
    stood = [(method, where) for _, method, _, where, _ in looks if where]
    if stood:
        record.saw([_problem(stood, looks)], {"scene": SCENE, "calls": [one for one, _ in stood]})
    elif seen["blocked"]:
        record.saw([_never_again(seen)], {"scene": SCENE, "calls": []})
    elif still is not None or seen["trouble"]:
        where = seen["operation"] or "opening the saver"
        why = seen["trouble"] or f"{where}: no answer\n{still['stacks']}"
        record.tally.unknown[LOOP] = why[:1_000]
    elif unseen or not looks:
        # A call that was not seen to wait may nevertheless stop the loop.
        record.tally.not_exercised([LOOP], _why_not(unseen, seen))
    else:
        record.tally.agreed(LOOP, len(looks))


def _why_not(unseen: Sequence[str], seen: Mapping[str, Any]) -> str:
    if len(unseen) == len(seen["looks"]):
        return str(seen["nothing_passed"])
    return f"no call of a known database driver was seen in {', '.join(unseen)}; {HOOKS}"


def _problem(stood: Sequence[tuple[str, str]], looks: Sequence[Sequence[Any]]) -> Problem:
    names = [f"a{name}" for name in dict.fromkeys(name for name, _ in stood)]
    others = f", and while {', '.join(names[1:])} do" if len(names) > 1 else ""
    return Problem(
        LOOP,
        f"the event loop stands still while {names[0]} waits for the database{others}",
        _EXPECTED,
        f"in {', '.join(names)}, the thread of the event loop stood itself",
        steps=_steps(looks),
        stacks=f"the event loop, in {names[0]}:\n{stood[0][1]}",
    )


def _never_again(seen: Mapping[str, Any]) -> Problem:
    what, still = seen["operation"], seen["standstill"]
    return Problem(
        LOOP,
        f"the event loop stands still for ever while {what} waits for the database",
        _EXPECTED,
        f"no turn for {still['seconds']:g} s, although the database had answered by then",
        steps=(*_steps(seen["looks"]), f"{what}  -> the event loop stood still for ever"),
        stacks=still["stacks"],
    )


def _steps(looks: Sequence[Sequence[Any]]) -> tuple[str, ...]:
    lines = []
    for what, _, let_go, stood, error in looks:
        ended = (
            "the event loop stood still" if stood else f"waited {let_go} times, the loop went on"
        )
        lines.append(f"{what}  -> {ended}" + (f"; raised {error}" if error else ""))
    return tuple(lines)
