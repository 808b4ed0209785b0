"""Programs that broke a contract in an earlier run, and programs that an author has pinned."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from hypothesis.database import DirectoryBasedExampleDatabase

from saverproof.errors import SaverproofError
from saverproof.families.items import ItemPlan
from saverproof.families.machines.suiting import suited_program
from saverproof.programs.steps.codec import from_json, to_json
from saverproof.programs.steps.definitions import Program
from saverproof.savers.facts import Facts
from saverproof.savers.targets.target import Target
from saverproof_reports import read_artefact


def remembered(plan: ItemPlan) -> list[Program]:
    """Return the programs that broke a contract of this item when it was last judged.

    Programs that cannot be read, because another version of the kit wrote them, are left out.
    """
    programs: list[Program] = []
    for kept in _kept(plan):
        with suppress(ValueError, SaverproofError):
            programs.append(from_json(json.loads(kept)))
    return sorted(programs, key=repr)


def pinned(target: Target, facts: Facts) -> list[Program]:
    """Return the programs that the author of a target wants to be run first.

    Artefacts of faults, kills, concurrent callers and graphs are left out: their own families
    replay them.
    """
    programs = [*target.programs]
    for path in facts.get("examples", ()):
        artefact = read_artefact(Path(path))
        if artefact["phase"] == "functional":
            programs.append(from_json(artefact["program"]))
    return [suited_program(program, facts["capabilities"]) for program in programs]


def remember(plan: ItemPlan, programs: Iterable[Program]) -> None:
    """Store these programs for the next run, in place of those stored before."""
    if plan.examples is None:
        return
    wanted = {json.dumps(to_json(program)).encode("ascii") for program in programs}
    kept = _kept(plan)
    if wanted == kept:
        return
    # Without a place for them, the next run has to find them anew.
    with suppress(OSError):
        Path(plan.examples).mkdir(mode=0o700, parents=True, exist_ok=True)
        database = DirectoryBasedExampleDatabase(plan.examples)
        for example in wanted - kept:
            database.save(_key(plan), example)
        for example in kept - wanted:
            database.delete(_key(plan), example)


def _kept(plan: ItemPlan) -> set[bytes]:
    if plan.examples is None or not Path(plan.examples).is_dir():
        return set()
    return set(DirectoryBasedExampleDatabase(plan.examples).fetch(_key(plan)))


def _key(plan: ItemPlan) -> bytes:
    return f"saverproof:{plan.facts['name']}:{plan.family}:{plan.api}".encode()
