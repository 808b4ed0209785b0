"""Every wrong saver of the durability family is caught by kills, and blamed for its own mistake.

By day one saver of each contract. What shows it is made short, and has a script that is run, for
some of them; ``SAVERPROOF_SEEDS`` (``make selftest-full``) has all of them, each with its script.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.conformance.durability.test_durability import judged
from tests.conformance.selftest_support import EVERY_FAMILY
from tests.nights import through_the_day
from tests.wrong_savers import WRONG, WrongSaver

from saverproof.contracts.registry import contract, contracts
from saverproof.families.durability import family, reporting
from saverproof.families.durability.kills.record import KillTrial
from saverproof.families.durability.kills.sweep import KillSweep
from saverproof.families.items import Outcome
from saverproof.savers.targets.target import Target
from saverproof.scripts import flaky, verification
from saverproof.scripts.verification import complains_alone
from saverproof_faults.io import available

FAMILY = "durability"
KILLS = {"deleted-one-by-one": 120, "large-values-beside-the-database": 120}
"""How many kills it takes to catch these; for all the others 25 are enough."""
BY_DAY = 1
"""Wrong savers of each contract that are tried by day."""
SLOW = {
    "large-values-never-synced",
    "recovered-in-place",
    "latest-noted-apart",
    "thread-noted-later",
    "large-values-beside-the-database",
    "pending-cleared-on-opening",
    "newest-deleted-on-opening",
    "state-synced-again",
    "unsynced-before-its-rename",
    "connection-per-call-never-synced",
}
"""Wrong savers that take long to catch: their contract is broken by others by day."""
SCRIPTED_BY_DAY = {"commit-every-third", "format-never-synced", "writes-wait-for-the-put"}
"""Wrong savers whose finding is made short and has a script by day: one of each kind of script, for
what kills, power cuts and graphs show.
"""
LONG = "table-written-anew"
"""A wrong saver whose shortest program is too long for a script."""
RECOVERIES = {"recovered-in-place": 3}
POWER = {"durability/power-cut", "durability/power-cut-loses-nothing"}
RESUMED = {"durability/resume", "durability/no-rerun"}


def wrong_savers() -> list[WrongSaver]:
    return [wrong for wrong in WRONG if wrong.breaks.startswith(f"{FAMILY}/")]


def has_script(wrong: WrongSaver) -> bool:
    """Whether its finding is made short and has a script, which is run some times: that takes
    longer than to find it.
    """
    return wrong.name != LONG and (EVERY_FAMILY or wrong.name in SCRIPTED_BY_DAY)


def effort_for(wrong: WrongSaver) -> dict[str, int]:
    """As much as it takes to see the contract broken."""
    if wrong.breaks in POWER:
        return {"swept": 12, "images": 60, "syncs": 4, "disks": 6}
    if wrong.breaks in RESUMED:
        return {"graphs": 15}
    if wrong.name in RECOVERIES:
        return {"recoveries": RECOVERIES[wrong.name]}
    return {"swept": KILLS.get(wrong.name, 25)}


def code_of(script: str) -> str:
    """A script without its comments: how often it showed its flaw is noted there afterwards."""
    return "\n".join(line for line in script.splitlines() if not line.startswith("#"))


@pytest.fixture
def complaining(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The scripts that were run by themselves, and ended with 1 and the broken promise."""
    scripts: set[str] = set()

    def recorded(text: str, promise: str) -> bool:
        shown = complains_alone(text, promise)
        if shown:
            scripts.add(code_of(text))
        return shown

    for module in (verification, flaky):
        monkeypatch.setattr(module, "complains_alone", recorded)
    return scripts


def killed(wrong: WrongSaver, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    """What is found; what only follows from its mistake is neither made short nor has a script."""
    shorten, reproduce = family.shortened, reporting.reproducer
    scripted = wrong.breaks if has_script(wrong) else ""

    def shortened(sweep: KillSweep, contract: str, trial: KillTrial) -> list[KillTrial]:
        return shorten(sweep, contract, trial) if contract == scripted else [trial]

    def reproducer(target: Target, contract: str, *given: Any) -> str:
        return reproduce(target, contract, *given) if contract == scripted else ""

    monkeypatch.setattr(family, "shortened", shortened)
    monkeypatch.setattr(reporting, "reproducer", reproducer)
    where = f"tests.conformance.durability.crash_savers:{wrong.name.replace('-', '_')}"
    return judged(where, folder, monkeypatch, wrong.apis[0], **effort_for(wrong))


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize(
    "wrong",
    through_the_day(wrong_savers(), BY_DAY, slow=SLOW),
)
def test_a_wrong_saver_is_caught_and_rightly_blamed(
    wrong: WrongSaver,
    complaining: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if wrong.breaks in POWER and available() is not None:
        pytest.skip(str(available()))
    outcome = killed(wrong, tmp_path, monkeypatch)
    found = {finding.contract: finding for finding in outcome.findings}
    assert wrong.breaks in found, f"not caught: {wrong.note}; {outcome.unknown}"
    allowed = {wrong.breaks, *contract(wrong.breaks).implies, *wrong.also}
    assert found.keys() <= allowed, f"blamed for {sorted(found.keys() - allowed)} as well"
    if has_script(wrong):
        assert code_of(found[wrong.breaks].reproducer) in complaining, found[wrong.breaks].steps


def test_no_contract_is_without_a_wrong_saver() -> None:
    broken = {wrong.breaks for wrong in WRONG}
    assert {known.id for known in contracts(FAMILY)} <= broken
