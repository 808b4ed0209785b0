"""Scripts of findings about updates: they fail for the wrong release, and not for the mended one.

By day the script of one contract.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.judging_support import EVERY_OPERATION, facts_from
from tests.conformance.upgrade.releases_support import wheel
from tests.conformance.upgrade.upgrade_savers import (
    AddsAColumnTwice,
    ForgetsAndMigratesHalf,
    ForgetsAndRefuses,
)
from tests.conformance.upgrade.upgrade_support import kept, module_of, release
from tests.nights import by_night
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.upgrades import (
    ColumnOfNewTables,
    FirstReadMigrates,
    Later,
    MigratesHalf,
    NewFormat,
    OldAnswersStay,
    OldMetadataForgotten,
    VersionsBeginAnew,
)

from saverproof.contracts.registry import contracts
from saverproof.contracts.tables.upgrade import READS_OLD_DATA
from saverproof.families.answer import Status
from saverproof.families.items import Finding, ItemPlan
from saverproof.families.tally import Tally
from saverproof.families.upgrade.judging import UpgradeJudging
from saverproof.families.upgrade.replay import replay
from saverproof.programs.small import LATE_WRITES, TWO_WRITES
from saverproof.savers.releases.installed import installed


class Judge:
    """Judges a saver as release 2.0, after the plain one, and runs scripts of what it found."""

    def __init__(self, saver: Any, index: Path, folder: Path) -> None:
        wheel(index, "plain", "1.0", module="saver_at_hand", text=module_of(SqliteReference))
        self.folder = folder
        self.new = Path(release(folder / "new", saver))
        facts: Any = facts_from(EVERY_OPERATION) | {
            "version": "2.0",
            "upgrade_from": [asdict(installed("plain", "1.0"))],
        }
        self.plan = ItemPlan({}, facts, "upgrade", "sync", "quick", 0, folder=str(folder))

    def found(self, *wanted: str) -> dict[str, Finding]:
        """The findings of these contracts, by contract."""
        tally = Tally(self.plan)
        for other in contracts("upgrade"):
            if other.id not in wanted:
                tally.rule_out(other.id, "not asked for")
        UpgradeJudging(self.plan, kept, tally, (TWO_WRITES, LATE_WRITES)).run()
        return {found.contract: found for found in tally.outcome().findings}

    def run(self, script: str) -> tuple[int, str]:
        """The exit status of a script, and what it says."""
        path = self.folder / "script.py"
        path.write_text(script)
        ended = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
        return ended.returncode, ended.stderr

    def mend(self, saver: Any) -> None:
        """Put another saver in the place of the one that was judged."""
        (self.new / "saver_at_hand.py").write_text(module_of(saver))


@pytest.fixture
def judge(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Judge]:
    def made(saver: Any) -> Judge:
        judge = Judge(saver, index, tmp_path)
        monkeypatch.syspath_prepend(str(judge.new))
        return judge

    return made


@pytest.mark.parametrize(
    ("contract", "saver"),
    [
        ("upgrade/reads-old-data", OldMetadataForgotten),
        by_night("upgrade/writes-on-old-data", ColumnOfNewTables),
        by_night("upgrade/rollback", NewFormat),
        by_night("upgrade/setup-on-old-store", MigratesHalf),
        by_night("upgrade/setup-on-old-store", AddsAColumnTwice),
        by_night("upgrade/graph-resumes", VersionsBeginAnew),
        by_night("upgrade/graph-resumes", OldAnswersStay),
        by_night("upgrade/first-read-waits-for-nobody", FirstReadMigrates),
    ],
)
def test_a_script_installs_the_older_release_and_shows_what_is_lost(
    contract: str, saver: Any, judge: Callable[[Any], Judge]
) -> None:
    judged = judge(saver)
    found = judged.found(contract)
    assert found.keys() == {contract}
    status, said = judged.run(found[contract].reproducer)
    assert (status, contract in said) == (1, True)
    judged.mend(Later)
    assert judged.run(found[contract].reproducer) == (0, "")


@pytest.mark.parametrize(
    ("contract", "saver"),
    [
        ("upgrade/writes-on-old-data", ForgetsAndRefuses),
        by_night("upgrade/setup-on-old-store", ForgetsAndMigratesHalf),
    ],
)
def test_what_came_on_top_of_another_breach_is_mended_while_that_one_is_not(
    contract: str, saver: Any, judge: Callable[[Any], Judge]
) -> None:
    judged = judge(saver)
    found = judged.found(contract, READS_OLD_DATA.id)[contract]
    assert replay(judged.plan, kept, contract, found.program).status is Status.FAILING
    status, said = judged.run(found.reproducer)
    assert (status, contract in said) == (1, True)
    judged.mend(OldMetadataForgotten)
    assert replay(judged.plan, kept, contract, found.program).status is Status.FIXED
    assert judged.run(found.reproducer) == (0, "")
