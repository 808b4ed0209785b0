"""Plays a recorded scene of several callers again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from saverproof.concurrency.bench import Bench
from saverproof.concurrency.effort import EFFORTS
from saverproof.concurrency.histories import THEMES, Crowd, Script, play, rehearsal
from saverproof.concurrency.item import Item
from saverproof.concurrency.iteration import By
from saverproof.concurrency.judging import able_of, judge_history, semantics_of
from saverproof.concurrency.names import ORDER, PROCESSES, THREADS, TORN
from saverproof.concurrency.record import Record
from saverproof.concurrency.records import Operation
from saverproof.concurrency.scenes import ask, iterate, race
from saverproof.concurrency.schedules import Schedule
from saverproof.items import Plan
from saverproof.replaying.answer import Answer, Status, unclear
from saverproof.targets.target import Target
from saverproof_faults.kill import HarnessError

WIDTH = 2_400
TIMES = 10
"""Threads and processes never meet in the same way twice: a scene is played so often."""


def replay(plan: Plan, target: Target, contract: str, data: Any) -> Answer:
    """Whether a recorded scene still breaks the contract, in one of ten plays.

    Raises:
        ValueError: the data is no recorded scene.
        OpeningError: the saver could not be opened or closed.
    """
    if not isinstance(data, Mapping) or "scene" not in data:
        raise ValueError(f"found {data!r:.60}, expected an object with a 'scene'")
    record, played = Record(), 0
    try:
        with Bench(plan, target) as bench:
            for _ in _plays(bench, data, record):
                played += 1
                if contract in record.found:
                    shown = record.found[contract].problem
                    observed = f"{shown.observed[:WIDTH]}\n{shown.stacks[:WIDTH]}".strip()
                    return Answer(Status.FAILING, shown.summary, shown.expected, observed)
    except HarnessError as problem:
        return unclear(problem)
    except KeyError as missing:
        raise ValueError(f"found no {missing}, expected a recorded scene") from None
    if not record.checked[contract]:
        return unclear(record.unknown.get(contract) or "; ".join(record.notes) or "not played")
    return Answer(Status.FIXED, f"played {played} times, the same scene shows nothing")


def _plays(bench: Bench, data: Mapping[str, Any], record: Record) -> Iterator[None]:
    """Play the scene, and stop after each time."""
    match data["scene"]:
        case "iteration":
            iterate(bench, By(data["by"]), record)
            yield
        case "unknown reads":
            ask(bench, record)
            yield
        case "race":
            for _ in range(TIMES):
                race(bench, int(data["number"]), record)
                yield
        case "history":
            yield from _histories(bench, data, record)
        case other:
            raise ValueError(f"found the scene {other!r:.60}, which is unknown")


def _histories(bench: Bench, data: Mapping[str, Any], record: Record) -> Iterator[None]:
    script = _script(data)
    effort = EFFORTS[bench.plan.profile]
    facts = bench.plan.facts
    able = able_of({*facts["capabilities"], *facts["operations"][bench.plan.api]})
    alone = play(bench, rehearsal(f"{bench.plan.seed}:{bench.plan.api}", able, effort))
    semantics = semantics_of(alone.events)
    shared = script.crowd is Crowd.SHARED
    lost = THREADS if shared else PROCESSES
    for _ in range(TIMES):
        played = play(bench, script)
        problems = Item._ends(lost, played)
        if not problems and (played.trouble or played.slow):
            record.note(played.trouble or played.slow)
        elif not problems:
            judgement = judge_history(played.events, shared=shared, semantics=semantics)
            problems = judgement.problems
            record.checked.update((lost, TORN, ORDER))
        record.saw(problems, dict(data))
        yield


def _script(data: Mapping[str, Any]) -> Script:
    themes = {theme.name: theme for some in THEMES.values() for theme in some}
    if data["theme"] not in themes:
        raise ValueError(f"theme: found {data['theme']!r:.60}, expected {', '.join(themes)}")
    return Script(
        Crowd(data["crowd"]),
        themes[data["theme"]],
        Schedule.from_json(data["schedule"]),
        tuple(map(Operation.from_json, data["before"])),
        tuple(tuple(map(Operation.from_json, made)) for made in data["callers"]),
    )
