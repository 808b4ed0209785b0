"""With an older LangGraph a saver is blamed for what it makes of a store, and not for LangGraph.

By day the quickest findings, and a right saver; by night, what LangGraph itself does otherwise.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.conformance.upgrade.test_upgrade import Releases
from tests.conformance.upgrade.upgrade_support import kept
from tests.nights import by_night
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.upgrades import (
    ColumnOfNewTables,
    Later,
    OldAnswersStay,
    OldMetadataForgotten,
)

from saverproof.contracts.registry import contracts
from saverproof.contracts.tables.upgrade import READS_OLD_DATA, WRITES_ON_OLD_DATA
from saverproof.families.answer import Status
from saverproof.families.items import Outcome
from saverproof.families.upgrade.graphs import StoppingGraph
from saverproof.families.upgrade.judging import (
    GRAPH_RESUMES,
    OF_LANGGRAPH,
    SAVERS_RELEASE,
    WITH_OLDER_LANGGRAPH,
)
from saverproof.families.upgrade.replay import replay
from saverproof.savers.releases.installed import cache_folder, folder_name

OLDER = "0.6.11"
TELLS_NO_NEXT = """
    from langgraph.pregel import Pregel

    told = Pregel.get_state

    def get_state(self, *given, **more):
        return told(self, *given, **more)._replace(next=())

    Pregel.get_state = get_state
"""
"""LangGraph up to 0.6 tells of no next node where one of several questions has its answer."""
STORES_OTHERWISE = """
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    dumps, loads = JsonPlusSerializer.dumps_typed, JsonPlusSerializer.loads_typed

    def dumps_typed(self, value):
        kind, data = dumps(self, value)
        return kind, data[::-1]

    def loads_typed(self, stored):
        kind, data = stored
        return loads(self, (kind, data[::-1]))

    JsonPlusSerializer.dumps_typed = dumps_typed
    JsonPlusSerializer.loads_typed = loads_typed
"""
"""A LangGraph whose format of values no other one reads."""
Installs = Callable[..., Releases]


@pytest.fixture
def releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installs:
    """Installs a saver as the release after the plain one, which plays on an older LangGraph."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))

    def installed(saver: Any, older: str = "") -> Releases:
        made = Releases(tmp_path, saver, SqliteReference, OLDER)
        (release,) = made.plan.facts["upgrade_from"]
        with (Path(release["folder"]) / "saver_at_hand.py").open("a") as module:
            module.write(textwrap.dedent(older))
        monkeypatch.syspath_prepend(made.new)
        return made

    return installed


@pytest.mark.parametrize(
    ("wrong", "broken"),
    [
        (OldMetadataForgotten, READS_OLD_DATA.id),
        (ColumnOfNewTables, WRITES_ON_OLD_DATA.id),
        by_night(OldAnswersStay, GRAPH_RESUMES),
    ],
)
def test_what_the_saver_does_wrong_is_a_finding(
    wrong: Any, broken: str, releases: Installs
) -> None:
    (found,) = releases(wrong).judged(broken).findings
    assert found.contract == broken
    assert f"langgraph {OLDER} with plain 1.0" in found.summary
    assert found.program["langgraph"] == OLDER


def test_what_was_recorded_is_played_again_on_the_langgraph_in_the_cache(
    releases: Installs,
) -> None:
    wrong = releases(OldMetadataForgotten)
    (found,) = wrong.judged(READS_OLD_DATA.id).findings
    wrong.plan.facts["distribution"] = None
    gone = replay(wrong.plan, kept, found.contract, found.program)
    assert gone.status is Status.UNCLEAR
    assert f"--saver-upgrade-from=langgraph=={OLDER} first" in gone.said
    (release,) = wrong.plan.facts["upgrade_from"]
    whole = cache_folder() / f"{folder_name('langgraph', OLDER + '+')}-0"
    about = Path(release["folder"]).rename(whole) / f"langgraph-{OLDER}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Name: langgraph\nVersion: {OLDER}\n")
    again = replay(wrong.plan, kept, found.contract, found.program)
    assert again.status is Status.FAILING
    assert again.said.startswith(f"langgraph {OLDER}, then langgraph ")


def is_held(outcome: Outcome) -> bool:
    """Whether the three contracts are held, and all others told as left out."""
    others = {one.id for one in contracts("upgrade")} - {*WITH_OLDER_LANGGRAPH}
    assert outcome.unexercised == dict.fromkeys(others, SAVERS_RELEASE)
    return not outcome.findings and outcome.checked.keys() == {*WITH_OLDER_LANGGRAPH}


def test_a_saver_that_keeps_what_there_is_is_accused_of_nothing(releases: Installs) -> None:
    assert is_held(releases(Later).judged())


@pytest.mark.nightly
def test_an_older_langgraph_may_tell_the_state_otherwise(releases: Installs) -> None:
    outcome = releases(Later, TELLS_NO_NEXT).judged()
    assert not outcome.unknown
    assert is_held(outcome)


@pytest.mark.nightly
def test_what_langgraph_itself_reads_otherwise_is_neither_held_nor_a_finding(
    releases: Installs,
) -> None:
    outcome, notes = releases(Later, STORES_OTHERWISE).judged_with_notes()
    assert not outcome.findings
    assert not outcome.checked
    assert outcome.unexercised[READS_OLD_DATA.id] == OF_LANGGRAPH
    assert "goes otherwise in LangGraph itself" in outcome.unexercised[GRAPH_RESUMES]
    # What the new one has written itself is as it should be.
    part = "facts that LangGraph itself shows otherwise, too"
    assert part in outcome.unknown[WRITES_ON_OLD_DATA.id]
    assert any(part in note for note in notes)


def test_a_graph_is_killed_once_the_step_before_is_stored() -> None:
    """LangGraph up to 0.5 runs a node while what came before it is being stored."""

    def stored(*notes: str) -> Any:
        return SimpleNamespace(checkpoint={"channel_values": {"notes": [*notes]}})

    looks = iter([None, stored("plan"), stored("plan", "tidy"), stored("late")])
    graph = StoppingGraph("killed", "", True, lambda: next(looks))
    assert graph.is_stored("tidy")
    assert next(looks) == stored("late")
