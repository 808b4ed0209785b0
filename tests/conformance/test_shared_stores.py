"""Targets whose workspaces share a store: told in one line, and no saver is accused for it.

By day what is quick to find and to judge; the rest by night.
"""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import Any

import pytest
from tests.conformance import shared_targets
from tests.conformance.a_little import judge_a_little
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, plan_of
from tests.conformance.selftest_support import (
    EVERY_FAMILY,
    allowed,
    api_of,
    blamed,
    family_of,
    hunt,
)
from tests.conformance.shared_targets import ref_to, shared
from tests.nights import by_night
from tests.wrong_savers import WRONG, WrongSaver

from saverproof.families.atomicity import effort as atomicity
from saverproof.families.concurrency import effort as concurrency
from saverproof.families.durability import effort as durability
from saverproof.families.functional import effort as functional
from saverproof.families.items import Outcome
from saverproof.families.registry import judged
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.probe_separation import what_is_shared
from saverproof.savers.targets.target import Target

WORKSPACES = "isolation/workspaces"
UNSEEN = "concurrency/reads-change-nothing"
"""Unknown of every store that is not in files of its workspace."""
IN_ONE_OF_ITS_OWN = "ordering/all-threads-newest-first"
SHARES = "a list over all threads has in one what was put in another"
MISTAKES = (
    "channels/history-immutable",
    "deletion/thread-all",
    "filter/equality",
    "identity/inputs-untouched",
    "identity/parent",
    "isolation/namespaces",
    "isolation/threads",
    "ordering/limit-is-a-prefix",
    "ordering/list-newest-first",
    "upsert/put-replaces",
)
SLOW_BY_NIGHT = {
    "identity/inputs-untouched",
    "isolation/threads",
    "ordering/limit-is-a-prefix",
    "ordering/list-newest-first",
}
"""What takes longest to find: the others share a store in the same way."""


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store for everyone is made beside temporary folders, and stays."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))


def what_shows(target: Target, folder: Path) -> str | None:
    with EventLoop() as loop:
        return what_is_shared(target, folder, loop, "sync", lambda _: None)


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        (shared_targets.one_file, "get_tuple finds in one what was put in another"),
        (shared_targets.of_the_module, "get_tuple finds in one what was put in another"),
        (
            shared_targets.shares_writes,
            "a checkpoint has in one the pending writes that were put in another",
        ),
        (shared_targets.own_file, None),
        (shared_targets.in_memory, None),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_probe_tells_whether_workspaces_share_a_store(
    target: Target, shown: str | None, tmp_path: Path
) -> None:
    assert what_shows(target, tmp_path) == shown
    # What an earlier probe left is nobody's proof.
    assert what_shows(target, tmp_path) == shown


def outcomes(name: str, family: str, api: str, folder: Path) -> list[Outcome]:
    """What two runs find, the second of which meets what the first one left."""
    facts = facts_from(EVERY_OPERATION) | {"shares": SHARES}
    target = load(ref_to(name))
    plan = plan_of(target, family, api, folder, facts=facts)
    plan = dataclasses.replace(plan, target=ref_to(name).to_json())
    return [judged(plan, target) for _ in range(2)]


OF_RIGHT = {
    "ordering": "sync",
    "upsert": "async",
    "pending-writes": "sync",
    "isolation": "sync",
    "deletion": "async",
    "identity": "sync",
    "parity": "crossed",
    "lifecycle": "sync",
    "delta-history": "sync",
    "graph": "sync",
    "atomicity": "sync",
    "durability": "sync",
    "concurrency": "async",
}
"""The families in which a right saver is judged, each through one API."""
BY_NIGHT = {"atomicity", "concurrency", "durability", "isolation"}
"""What takes long. By day, right savers on servers share a store."""


@pytest.fixture
def little(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What each family needs to show what a shared store does to it, and by night some more."""
    scenes = {"shared": 2, "instances": 1, "processes": 1, "races": 1}
    if not EVERY_FAMILY:
        judge_a_little([*OF_RIGHT].index(family), monkeypatch)
        # Calls of another process come in the histories; at places beside graphs, by night.
        scenes |= {"upkeep": 1, "places": 2, "places_apart": 0}
    changes: tuple[tuple[dict[str, Any], dict[str, int]], ...] = (
        (functional.EFFORTS, {"steps": 150, "examples": 0}),
        (atomicity.EFFORTS, {"most": 60}),
        (durability.EFFORTS, {"swept": 8, "instants": 1, "beside": 1, "images": 2, "graphs": 2}),
        (concurrency.EFFORTS, scenes),
    )
    for efforts, change in changes:
        monkeypatch.setitem(efforts, "quick", dataclasses.replace(efforts["quick"], **change))


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize(
    ("family", "api"),
    [by_night(*each) if each[0] in BY_NIGHT else each for each in OF_RIGHT.items()],
)
def test_a_right_saver_on_a_shared_store_is_accused_of_nothing(
    family: str, api: str, tmp_path: Path
) -> None:
    for outcome in outcomes("one_file", family, api, tmp_path):
        assert blamed(outcome) == ({WORKSPACES} if family == "isolation" else set())
        assert outcome.unknown.keys() <= {UNSEEN}
        assert outcome.checked
        if family == "ordering":
            assert IN_ONE_OF_ITS_OWN not in outcome.checked
            assert "share a store" in outcome.unexercised[IN_ONE_OF_ITS_OWN]


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("family", ["pending-writes", "isolation", "upsert"])
def test_a_store_that_is_shared_by_half_is_told_as_such(family: str, tmp_path: Path) -> None:
    for outcome in outcomes("shares_writes", family, "sync", tmp_path):
        assert blamed(outcome) == ({WORKSPACES} if family == "isolation" else set())
        assert outcome.unknown == {}


def mistakes() -> list[WrongSaver]:
    """One wrong saver for each of some contracts."""
    of_each = {wrong.breaks: wrong for wrong in reversed(WRONG)}
    return [of_each[name] for name in MISTAKES]


@pytest.mark.parametrize(
    "wrong",
    [
        (by_night if wrong.breaks in SLOW_BY_NIGHT else pytest.param)(wrong, id=wrong.name)
        for wrong in mistakes()
    ],
)
def test_a_mistake_is_blamed_on_a_shared_store_as_on_one_of_its_own(
    wrong: WrongSaver, tmp_path: Path
) -> None:
    family = family_of(wrong)
    api = api_of(wrong, family)
    target = shared(wrong)
    plan = plan_of(target, family, api, tmp_path, facts=facts_from(EVERY_OPERATION))
    for _ in range(2):
        found = blamed(hunt(plan, target, wrong.breaks, steps=4_000))
        assert wrong.breaks in found
        assert found <= allowed(wrong) | {WORKSPACES}
