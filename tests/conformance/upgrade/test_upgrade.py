"""What a release makes of another one's store is blamed on one contract, and nothing else is.

By day all contracts are judged of one wrong saver, and of the others the one that they break.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.judging_support import EVERY_OPERATION, facts_from
from tests.conformance.selftest_support import EVERY_FAMILY
from tests.conformance.upgrade.upgrade_savers import (
    ForgetsAndAddsTwice,
    ForgetsAndMigrates,
    ForgetsAndMigratesHalf,
    ForgetsAndRefuses,
    Refusing,
    SetsUpNoMore,
)
from tests.conformance.upgrade.upgrade_support import kept, release
from tests.nights import by_night, through_the_day
from tests.reference.sqlite import SqliteReference
from tests.reference.state_file import StateFileReference
from tests.wrong_savers import WRONG, WrongSaver
from tests.wrong_savers.upgrades import Later, OldMetadataForgotten

from saverproof import target
from saverproof.contracts.registry import contracts
from saverproof.contracts.tables.upgrade import READS_OLD_DATA
from saverproof.families.answer import Status
from saverproof.families.items import ItemPlan, Outcome
from saverproof.families.tally import Tally
from saverproof.families.upgrade.judging import SET_UP, UpgradeJudging
from saverproof.families.upgrade.replay import replay
from saverproof.programs.small import EARLY_WRITES, LATE_WRITES, TWO_WRITES
from saverproof.savers.releases.installed import Release, cache_folder, folder_name

PROGRAMS = (TWO_WRITES, LATE_WRITES, EARLY_WRITES)
JUDGED_BY_ALL = {"old-metadata-forgotten"}
"""The wrong saver that is judged by all contracts by day as well."""
ALSO = {"upgrade/first-read-waits-for-nobody"}
"""What migrations in the midst of opening break as well."""
WRONG_AFTER_UPDATES = [wrong for wrong in WRONG if wrong.breaks.startswith("upgrade/")]
Installs = Callable[..., "Releases"]


class Releases:
    """The plain saver, in the cache as release 1.0, and another saver installed as release 2.0.

    ``langgraph`` is the version of an older LangGraph that is with release 1.0.
    """

    def __init__(self, folder: Path, saver: Any, old_saver: Any, langgraph: str = "") -> None:
        old = cache_folder() / f"{folder_name('plain', '1.0')}-0"
        if not old.is_dir():
            release(old, old_saver)
        self.new = release(folder / saver.__name__, saver)
        facts: Any = facts_from(EVERY_OPERATION)
        facts["version"] = "2.0"
        facts["upgrade_from"] = [asdict(Release("plain", "1.0", str(old), langgraph))]
        self.plan = ItemPlan({}, facts, "upgrade", "sync", "quick", 0, folder=str(folder))

    def judged(self, only: str = "") -> Outcome:
        """What comes of a few programs, by all contracts or by one alone."""
        return self.judged_with_notes(only)[0]

    def judged_with_notes(self, only: str = "") -> tuple[Outcome, list[str]]:
        """The same, and the lines on the item as a whole."""
        tally = Tally(self.plan)
        for contract in contracts("upgrade"):
            if only not in ("", contract.id):
                tally.rule_out(contract.id, "not asked for")
        UpgradeJudging(self.plan, kept, tally, PROGRAMS).run()
        return tally.outcome(), tally.notes


@pytest.fixture
def releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installs:
    """Installs a saver as the release after the plain one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))

    def installed(saver: Any, old_saver: Any = SqliteReference) -> Releases:
        made = Releases(tmp_path, saver, old_saver)
        monkeypatch.syspath_prepend(made.new)
        return made

    return installed


@pytest.mark.parametrize("wrong", through_the_day(WRONG_AFTER_UPDATES, 1))
def test_what_an_update_breaks_is_blamed_on_one_contract(
    wrong: WrongSaver, releases: Installs
) -> None:
    by_all = EVERY_FAMILY or wrong.name in JUDGED_BY_ALL
    outcome = releases(wrong.saver).judged("" if by_all else wrong.breaks)
    blamed = {found.contract for found in outcome.findings}
    assert blamed - wrong.also == {wrong.breaks}
    assert not outcome.unknown
    assert wrong.breaks not in outcome.unexercised
    found = next(found for found in outcome.findings if found.contract == wrong.breaks)
    assert "1.0" in found.summary
    assert found.program["version"] == "1.0"


@pytest.mark.parametrize(
    ("saver", "other"),
    [
        (ForgetsAndRefuses, "upgrade/writes-on-old-data"),
        by_night(ForgetsAndMigrates, "upgrade/first-read-waits-for-nobody"),
        by_night(ForgetsAndMigratesHalf, "upgrade/setup-on-old-store"),
        by_night(ForgetsAndAddsTwice, "upgrade/setup-on-old-store"),
    ],
)
def test_what_comes_on_top_of_another_breach_is_told(
    saver: Any, other: str, releases: Installs
) -> None:
    outcome = releases(saver).judged()
    told = {found.contract for found in outcome.findings}
    assert {READS_OLD_DATA.id, other} <= told
    assert told <= {READS_OLD_DATA.id, other, *ALSO}
    assert not outcome.checked.keys() & {READS_OLD_DATA.id, "upgrade/graph-resumes"} - told
    (read,) = (found for found in outcome.findings if found.contract == READS_OLD_DATA.id)
    assert "metadata" in read.summary


@pytest.mark.parametrize("right", [by_night(SqliteReference), Later])
def test_a_release_that_keeps_what_there_is_is_accused_of_nothing(
    right: Any, releases: Installs
) -> None:
    outcome = releases(right).judged()
    assert not outcome.findings
    assert not outcome.unknown
    assert outcome.checked.keys() == {one.id for one in contracts("upgrade")}


def test_nothing_is_held_where_an_old_release_stores_nothing(releases: Installs) -> None:
    outcome = releases(SqliteReference, Refusing).judged()
    assert not outcome.checked
    assert not outcome.findings
    assert outcome.unexercised.keys() == {one.id for one in contracts("upgrade")}
    assert all("no such attribute" in why for why in outcome.unexercised.values())


@pytest.mark.parametrize(
    ("saver", "old", "why"),
    [
        (SetsUpNoMore, SqliteReference, "a store of the release's own .* is set up already"),
        (StateFileReference, StateFileReference, "no call of a driver was seen"),
    ],
)
def test_a_set_up_of_which_nothing_is_learnt_is_not_held(
    saver: Any, old: Any, why: str, releases: Installs
) -> None:
    outcome = releases(saver, old).judged(SET_UP)
    assert not outcome.findings
    assert SET_UP not in outcome.checked
    assert re.search(why, outcome.unexercised[SET_UP])


def test_what_was_recorded_is_played_again_by_the_release_in_the_cache(releases: Installs) -> None:
    wrong = releases(OldMetadataForgotten)
    (found,) = wrong.judged(READS_OLD_DATA.id).findings
    again = replay(wrong.plan, kept, found.contract, found.program)
    assert (again.status, again.said) == (Status.FAILING, found.summary)
    mended = releases(Later)
    assert replay(mended.plan, kept, found.contract, found.program).status is Status.FIXED


def test_what_cannot_be_played_again_is_told_in_one_line(releases: Installs) -> None:
    plan = releases(Later).plan
    gone = replay(plan, kept, "upgrade/rollback", {"distribution": "plain", "version": "0.9"})
    assert gone.status is Status.UNCLEAR
    assert "--saver-upgrade-from=plain==0.9" in gone.said
    with pytest.raises(ValueError, match=r"^found \[\], expected an object with distribution and"):
        replay(plan, kept, "upgrade/rollback", [])


def test_a_target_that_cannot_be_opened_without_the_kit_is_not_judged(releases: Installs) -> None:
    plan = releases(Later).plan
    tally = Tally(plan)
    here = target(name="here")(kept.open)
    UpgradeJudging(plan, here, tally, PROGRAMS).run()
    outcome = tally.outcome()
    assert not outcome.checked
    assert all("target(opening=...)" in why for why in outcome.unexercised.values())
    assert outcome.unexercised.keys() == {one.id for one in contracts("upgrade")}
