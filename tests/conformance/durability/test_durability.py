"""Savers whose processes are killed: what is broken is found, and nothing else.

By day one of each kind; what the self-test shows as well, by night.
"""

import dataclasses
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.nights import by_night
from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference

from saverproof import Workspace, target
from saverproof.capability import Capability
from saverproof.families import registry
from saverproof.families.durability import reporting
from saverproof.families.durability.effort import EFFORTS, KillEffort
from saverproof.families.durability.kills import bench
from saverproof.families.durability.kills.workloads import OF_LOOKS
from saverproof.families.items import ItemPlan, Outcome
from saverproof.savers.facts import METHODS
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.targets.target import Target
from saverproof_faults.io import available

BUNDLED = "saverproof_savers.targets:sqlite"
WRONG = "tests.conformance.durability.crash_savers"
NONE = KillEffort(
    swept=0, drawn=0, programs=0, instants=0, beside=0, afresh=0, images=0, graphs=0, length=6
)

needs_shim = pytest.mark.skipif(available() is not None, reason=str(available()))


def judged(
    where: str, folder: Path, monkeypatch: pytest.MonkeyPatch, api: str = "sync", **effort: int
) -> Outcome:
    monkeypatch.setitem(EFFORTS, "quick", dataclasses.replace(NONE, **effort))
    return registry.judged(*plan_for(where, folder, api))


def plan_for(where: str, folder: Path, api: str = "sync") -> tuple[ItemPlan, Target]:
    if ":" not in where:
        where = f"tests.conformance.durability.test_durability:{where}"
    module, _, attribute = where.partition(":")
    ref = TargetRef(where, module, None, attribute)
    facts = {
        "durable": True,
        "capabilities": [str(capability) for capability in Capability],
        "absent": {},
        "operations": {name: list(methods) for name, methods in METHODS.items()},
        "packages": {"langgraph-checkpoint": "4.3.2"},
        "opens_ms": 5.0,
    }
    plan = ItemPlan(ref.to_json(), facts, "durability", api, "quick", 1, str(folder))
    return plan, load(ref)


def blamed(outcome: Outcome) -> set[str]:
    return {finding.contract.partition("/")[2] for finding in outcome.findings}


@pytest.mark.parametrize("api", [by_night("sync"), "async"])
def test_the_bundled_saver_holds(api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = judged(
        BUNDLED, tmp_path, monkeypatch, api, swept=12, instants=2, beside=1, images=20, graphs=6
    )
    assert (outcome.findings, outcome.unknown) == ((), {})
    assert all(outcome.checked.get(f"durability/{name}") for name in ("reopens", "resume"))
    assert outcome.extra["crash"]["trials"] >= 18
    assert (outcome.extra["crash"]["lost"], outcome.extra["crash"]["torn"]) == (0, 0)
    # Every workspace, disk image and graph's notes are gone.
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(("sp_", "disks-", "graph-"))]


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize(
    ("saver", "contract"),
    [
        (f"{WRONG}:commit_every_third", "acknowledged-survives"),
        (f"{WRONG}:first_row_committed_apart", "in-flight-atomic"),
        (f"{WRONG}:repaired_by_hand", "reopens"),
    ],
)
def test_a_flaw_is_blamed_on_its_contract(
    saver: str, contract: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The scripts are run in the self-test.
    monkeypatch.setattr(reporting, "reproducer", lambda *given: "")
    outcome = judged(saver, tmp_path, monkeypatch, swept=40)
    killed = {"acknowledged-survives", "in-flight-atomic", "no-gaps", "reopens"}
    assert blamed(outcome) & killed == {contract}
    finding = next(f for f in outcome.findings if f.contract == f"durability/{contract}")
    assert finding.phase == "crash"
    assert "SIGKILL" in finding.steps[-2]


@pytest.mark.nightly
@pytest.mark.usefixtures("shared_harness")
def test_no_graph_goes_on_where_a_kill_leaves_a_store_that_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reporting, "reproducer", lambda *given: "")
    # Graphs are killed between their calls: hardly one of them is killed where it would show.
    outcome = judged(f"{WRONG}:state_file_in_place", tmp_path, monkeypatch, swept=40, graphs=1)
    assert "reopens" in blamed(outcome)
    assert "resume" in blamed(outcome) or "durability/resume" in outcome.unexercised


class Waiting(Database):
    """Waits for a process that was killed to let go of its lock."""

    def begin(self) -> None:
        self.path.with_suffix(".lock").touch(0o600)
        super().begin()

    def commit(self) -> None:
        super().commit()
        self.path.with_suffix(".lock").unlink(missing_ok=True)

    def connect(self) -> sqlite3.Connection:
        while self.path.with_suffix(".lock").exists():
            threading.Event().wait(0.01)
        return super().connect()


class WaitingForTheDead(SqliteReference):
    database_class = Waiting


@target(name="waiting")
@contextmanager
def waiting(workspace: Workspace) -> Iterator[SqliteReference]:
    with closing(WaitingForTheDead.at(workspace.path)) as saver:
        yield saver


@pytest.mark.usefixtures("shared_harness")
def test_a_process_that_hangs_is_ended_and_told_with_its_stacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So long that a busy machine meets it, and no longer: several processes hang until then.
    monkeypatch.setattr(bench, "DEADLINE_S", 3.0)
    monkeypatch.setattr(reporting, "reproducer", lambda *given: "")
    outcome = judged("waiting", tmp_path, monkeypatch, swept=60)
    (found,) = outcome.findings
    assert found.contract == "durability/reopens"
    assert "connect" in found.observed
    hidden = outcome.unexercised["durability/acknowledged-survives"]
    assert "processes hang" in hidden
    assert "durability/reopens stands in the way" in hidden
    assert not outcome.unknown
    assert outcome.extra["crash"]["trials"] < 60


class ForgetsANamespace(SqliteReference):
    """Stores nothing of one namespace, though nothing is killed."""

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        if config["configurable"]["checkpoint_ns"] != OF_LOOKS:
            return super().put(config, checkpoint, metadata, new_versions)
        return self._put_answer(config, self._row_of(config, checkpoint, metadata))


@target(name="forgets-a-namespace")
@contextmanager
def forgets_a_namespace(workspace: Workspace) -> Iterator[SqliteReference]:
    with closing(ForgetsANamespace(workspace.path)) as saver:
        yield saver


def test_what_is_forgotten_without_a_kill_is_no_fault_of_kills_and_no_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = judged("forgets_a_namespace", tmp_path, monkeypatch, swept=8)
    assert "reopens" not in blamed(outcome)
    assert "though nothing was killed" in str(outcome.unsettled["durability/reopens"])


@pytest.mark.nightly
@needs_shim
@pytest.mark.usefixtures("shared_harness")
def test_unsynced_writes_are_found_by_the_power_cut_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = judged(f"{WRONG}:never_synced", tmp_path, monkeypatch, swept=6, images=120)
    assert blamed(outcome) == {"power-cut", "power-cut-loses-nothing"}
    assert outcome.extra["power"]["lost_acknowledged_max"] > 0
    assert "synchronous=OFF" in outcome.extra["power"]["setting"]


def test_a_saver_in_memory_is_not_judged(tmp_path: Path) -> None:
    ref = TargetRef("memory", "saverproof_savers.targets", None, "memory")
    facts = {"durable": False, "packages": {"langgraph-checkpoint": "4.3.2"}, "capabilities": []}
    plan = ItemPlan(ref.to_json(), facts, "durability", "sync", "quick", 1, str(tmp_path))
    outcome = registry.judged(plan, load(ref))
    assert not outcome.checked
    assert "durability/reopens" in outcome.inapplicable
