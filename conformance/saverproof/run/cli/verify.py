"""``saverproof verify``: four things that a user fears, tried on a saver in a few seconds."""

import sqlite3
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from saverproof.contracts.registry import families
from saverproof.families.durability.children import CHILDREN
from saverproof.families.durability.graphs import graph_child
from saverproof.families.durability.kills import child
from saverproof.families.durability.kills.bench import DEADLINE_S, KillBench
from saverproof.families.durability.kills.judging import KillOutcome
from saverproof.families.durability.kills.kill_places import PlaceKind
from saverproof.families.durability.kills.kill_points import unavailable
from saverproof.families.durability.kills.trials import Subject, trial_of, trouble_of
from saverproof.families.durability.kills.workloads import workloads
from saverproof.families.items import ItemPlan
from saverproof.process.environment import Setting
from saverproof.process.servers import Servers
from saverproof.programs.steps.definitions import PutWrites
from saverproof.run.cli._console import told, working
from saverproof.savers.execution.sqlite_files import sqlite_files
from saverproof.savers.facts import Facts
from saverproof.savers.targets.finding import find
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.probing import probe
from saverproof.savers.targets.reference import TargetRef
from saverproof_faults.kill import DiedBy, KillAt
from saverproof_reports.text import harmless, one_line

Said = tuple[bool | None, str]
"""The result of a scenario: True if it went well, None if it cannot be played here, and what was
seen.
"""

_LOOKED_AT = ("graph", "durability", "atomicity")
"""The families from which the scenarios are examples."""

_WORDS = {True: "ok", False: "FAILED", None: "skipped"}
_COLOURS = {True: "green", False: "red", None: "yellow"}


@click.command(name="verify", short_help="Try four scenarios on SAVER, in seconds.")
@click.argument("saver")
def command(saver: str) -> None:
    """Try on SAVER, in seconds: a graph run, a crash, a failure inside an operation, raw SQL.

    SAVER is what pytest --saver takes. It proves nothing, but it takes seconds, and what it finds
    is real. It looks at a few examples of the families graph, durability and atomicity, and at no
    other: `pytest --saver` judges in full.

    \b
    exit status 0  nothing failed
    exit status 1  a scenario failed
    exit status 2  the saver cannot be opened
    """
    setting = Setting.current()
    setting.apply()
    ref = find(saver, Path(setting.folder))
    with Servers() as servers:
        with working(f"probing {one_line(saver, 80)}"):
            facts = probe(ref, setting, servers)
        _verify(ref, facts)


def _verify(ref: TargetRef, facts: Facts) -> None:
    if not facts["durable"]:
        raise click.ClickException(f"{facts['name']} keeps its data in memory: nothing to verify")
    with tempfile.TemporaryDirectory(prefix="saverproof-verify-") as folder:
        plan = ItemPlan(ref.to_json(), facts, "durability", facts["apis"][0], "quick", 0, folder)
        with KillBench.of(plan, load(ref), CHILDREN) as bench:
            said = [_told(name, scenario(bench)) for name, scenario in _SCENARIOS]
    left = ", ".join(family for family in families() if family not in _LOOKED_AT)
    told(f"not looked at: {left}; saverproof judge {one_line(ref.saver, 80)} looks at all of it")
    if False in said:
        sys.exit(1)


def _told(name: str, said: Said) -> bool | None:
    well, seen = said
    told(f"{_WORDS[well]:8}{name}: {harmless(seen)}", colour=_COLOURS[well])
    return well


def _graph_arguments(bench: KillBench, store: dict[str, Any]) -> dict[str, Any]:
    deep = "history" in bench.plan.facts["capabilities"]
    scenario = {"scenario": "two turns", "mode": "sync", "deep": deep, "threads": ["a"]}
    # What nodes note lies beside the store, and goes with the folder of this command.
    return store | scenario | {"notes": tempfile.mkdtemp(dir=bench.plan.folder)}


def _whole_run(bench: KillBench) -> Said:
    with bench.store() as store:
        arguments = _graph_arguments(bench, store)
        result = bench.harness.trial(graph_child.run, arguments, deadline_s=DEADLINE_S)
        if result.died_by is not DiedBy.FINISHED:
            return False, result.ending()
        view = bench.harness.look(child.look, arguments, deadline_s=DEADLINE_S)
    count = _checkpoints(view.value)
    trouble = trouble_of(view)
    expected = 10 if arguments["deep"] else 1
    return not trouble and count == expected, trouble or f"{count} of {expected} checkpoints"


def _crash(bench: KillBench) -> Said:
    with bench.store() as store:
        arguments = _graph_arguments(bench, store)
        result = bench.harness.trial(
            graph_child.run, arguments, kill=KillAt.place(14), deadline_s=DEADLINE_S
        )
        if result.died_by is not DiedBy.KILL:
            return False, result.ending()
        arguments["acknowledged"] = list(result.acknowledged)
        view = bench.harness.look(graph_child.resume, arguments, deadline_s=DEADLINE_S)
    done = len(result.acknowledged)
    if view.value is None or "raised" in view.value["seen"]["result"]:
        return False, f"killed after {done} operations, the graph cannot resume: {view.ending()}"
    return True, f"killed after {done} operations, the graph resumed and finished"


def _half_an_operation(bench: KillBench) -> Said:
    why = unavailable(PlaceKind.STATEMENT)
    workload = workloads(frozenset(bench.plan.facts["capabilities"]))[0]
    run, versions = bench.rehearsed(workload)
    subject = Subject(workload, run, versions)
    long = max(
        (n for n, step in enumerate(workload.program) if isinstance(step, PutWrites)),
        key=lambda n: len(getattr(workload.program[n], "writes", ())),
    )
    places = [] if why else bench.places(workload, versions, PlaceKind.STATEMENT)
    places = [place for place in places if place.operation == long]
    places = places or bench.places(workload, versions, PlaceKind.CALL)
    if not places:
        return None, "no statement or file access of the saver can be seen here"
    torn = 0
    for place in places[:: max(1, len(places) // 8)]:
        with bench.store_for(workload, versions) as arguments:
            result = bench.killed(arguments, place)
            view = bench.looked(arguments, afresh=False)
        outcome = trial_of(subject, place, result, view).verdict.outcome
        torn += outcome not in (KillOutcome.WHOLE, KillOutcome.ABSENT, KillOutcome.NOT_FIRED)
    return (
        not torn,
        f"{bench.kills} times killed inside a batch of writes, {torn} times a part was left",
    )


def _raw_sql(bench: KillBench) -> Said:
    with bench.store() as store:
        arguments = _graph_arguments(bench, store)
        bench.harness.trial(graph_child.run, arguments, deadline_s=DEADLINE_S)
        files = list(sqlite_files(Path(store["path"])))
        if not files:
            return None, "the store has no SQLite file"
        rows = {name: count for file in files for name, count in _tables(file).items()}
    seen = ", ".join(f"{name} {count}" for name, count in rows.items())
    return any(rows.values()), f"rows by table: {seen or 'none'}"


def _tables(file: Path) -> dict[str, int]:
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        ).fetchall()
        counted: dict[str, int] = {}
        for (name,) in names:
            quoted = name.replace('"', '""')
            query = f'SELECT count(*) FROM "{quoted}"'
            counted[name] = connection.execute(query).fetchone()[0]
    return counted


def _checkpoints(seen: Any) -> int:
    facts = [] if seen is None else seen["shown"]
    return sum('"checkpoint"' in fact for fact in facts)


_SCENARIOS: tuple[tuple[str, Callable[[KillBench], Said]], ...] = (
    ("whole graph run", _whole_run),
    ("crash in a node", _crash),
    ("failure inside an operation", _half_an_operation),
    ("visible to raw SQL", _raw_sql),
)
