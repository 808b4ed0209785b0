"""Runs in the processes of graphs that are killed, and of those that resume them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from saverproof.families.durability.graphs.graph_log import GraphLog, read_log
from saverproof.families.durability.kills.child import saver_for
from saverproof.families.graph.installed import durability_modes
from saverproof.families.graph.node_log import FileNotes
from saverproof.families.graph.runner import HISTORY, RESULT, STATE, Observation, Player
from saverproof.families.graph.scenarios import SCENARIOS, maker
from saverproof.families.graph.steps import Answer, Invoke, Program, Update, to_json
from saverproof.savers.execution.driver import ApiDriver
from saverproof.savers.execution.view import canonical
from saverproof.savers.targets.calling import api_of
from saverproof.savers.targets.event_loop import Loop
from saverproof_faults.kill import Acks

Arguments = Mapping[str, Any]

OPERATIONS, RESUMED, NODES = "operations.jsonl", "resumed.jsonl", "nodes.txt"
"""Files in a trial's folder: the calls of the first process, those of the second, and the executed
nodes.
"""
THREAD = "a"


def program_of(name: str) -> tuple[str, Program]:
    """Return the graph and the program of a scenario."""
    scenario = next(known for known in SCENARIOS if known.name == name)
    return scenario.graph, scenario.program


def run(acks: Acks, arguments: Arguments) -> dict[str, Any]:
    """Play a scenario from its beginning, and die before or after an operation of the saver."""
    log = GraphLog(
        Path(arguments["notes"], OPERATIONS), acks.started, acks.acknowledged, acks.reached
    )
    _, program = program_of(arguments["scenario"])
    return _played(arguments, log, program)


def resume(arguments: Arguments) -> dict[str, Any]:
    """Resume a scenario whose process was killed, and play it to its end.

    If nothing of the interrupted step is stored, the step is taken again. Otherwise an update is
    over, and any other step is resumed with None.
    """
    folder = Path(arguments["notes"])
    _, program = program_of(arguments["scenario"])
    log = GraphLog(folder / RESUMED, lambda number: None, lambda number: None, lambda: None)
    return _played(arguments, log, program, resuming=True)


def _played(
    arguments: Arguments, log: GraphLog, program: Program, *, resuming: bool = False
) -> dict[str, Any]:
    api = arguments["api"]
    graph, _ = program_of(arguments["scenario"])
    with saver_for(arguments) as (driver, loop):
        log.watch(driver.saver, api)
        player = _player(arguments, graph, driver, loop)
        player.on_step = lambda position: log.begin(position, _latest(driver))
        if resuming:
            program = _left(arguments, program, _latest(driver))
        seen = {}
        for observation in player.play(program):
            if observation.kind in (RESULT, STATE, HISTORY):
                seen[observation.kind] = canonical(_promised(observation))
        return {"seen": seen, "left": to_json(program), "latest": _latest(driver)}


def latest(arguments: Arguments) -> str | None:
    """Return the id of the latest checkpoint that a new process sees."""
    with saver_for(arguments) as (driver, _):
        return _latest(driver)


def _player(arguments: Arguments, graph: str, driver: ApiDriver, loop: Loop) -> Player:
    player = Player(
        maker(graph, arguments["api"]),
        driver.saver,
        api_of(arguments["api"], loop),
        how=durability_modes()[arguments["mode"]],
        prefix=driver.ids.thread("") if driver.ids else "",
        deep=arguments["deep"],
    )
    player.notes = FileNotes(Path(arguments["notes"], NODES))  # type: ignore[assignment]
    return player


def _promised(observation: Observation) -> Any:
    """Return the part of an observation that a kill must not change.

    The results of a step's tasks are saved in the background, and are not needed once the next
    checkpoint is saved: so a history may lack them.
    """
    if observation.kind != HISTORY or not isinstance(observation.value, list):
        return observation.value
    return [
        {**state, "tasks": [{**task, "result": None, "subgraph": None} for task in state["tasks"]]}
        for state in observation.value
    ]


def _left(arguments: Arguments, program: Program, latest: str | None) -> Program:
    """Return the steps of a program that were left when its process was killed."""
    operations, begun = read_log(Path(arguments["notes"], OPERATIONS))
    if not begun:
        return program
    now = begun[-1]
    step = program[now.step]
    acknowledged = frozenset(arguments["acknowledged"])
    done = [o for o in operations if o.step == now.step and o.number in acknowledged]
    stored = latest != now.latest or any(o.method == "put" and not o.namespace for o in done)
    answered = isinstance(step, Answer) and bool(done)
    rest = program[now.step + 1 :]
    if not stored and not answered:
        return (step, *rest)
    return rest if isinstance(step, Update) else (Invoke(None, thread=step.thread), *rest)


def _latest(driver: ApiDriver) -> str | None:
    found = driver.get_tuple({"configurable": {"thread_id": THREAD, "checkpoint_ns": ""}})
    return None if found is None else str(found.checkpoint["id"])
