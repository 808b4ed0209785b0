"""Scripts of findings about updates: they fail for the wrong release, and not for the mended one.

By day the script of one contract.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.judging_support import EVERY_OPERATION, facts_from
from tests.conformance.releases_support import wheel
from tests.conformance.upgrade_savers import AddsAColumnTwice
from tests.conformance.upgrade_support import kept, module_of, release
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
from saverproof.families.items import ItemPlan
from saverproof.families.tally import Tally
from saverproof.families.upgrade.judging import UpgradeJudging
from saverproof.programs.small import LATE_WRITES, TWO_WRITES
from saverproof.savers.releases.installed import installed


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
    contract: str, saver: Any, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(index, "plain", "1.0", module="saver_at_hand", text=module_of(SqliteReference))
    new = Path(release(tmp_path / "new", saver))
    monkeypatch.syspath_prepend(str(new))
    facts: Any = facts_from(EVERY_OPERATION) | {
        "version": "2.0",
        "upgrade_from": [asdict(installed("plain", "1.0"))],
    }
    tally = Tally(ItemPlan({}, facts, "upgrade", "sync", "quick", 0, folder=str(tmp_path)))
    for other in contracts("upgrade"):
        if other.id != contract:
            tally.rule_out(other.id, "not asked for")
    UpgradeJudging(tally.plan, kept, tally, (TWO_WRITES, LATE_WRITES)).run()
    (found,) = tally.outcome().findings
    script = tmp_path / "script.py"
    script.write_text(found.reproducer)
    wrong = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (wrong.returncode, contract in wrong.stderr) == (1, True)
    (new / "saver_at_hand.py").write_text(module_of(Later))
    mended = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (mended.returncode, mended.stderr) == (0, "")
