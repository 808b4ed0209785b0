"""Savers on DuckDB, right and wrong, under kills and power cuts: few, for each opening is slow.

By day the right one; the wrong one by night.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.durability.test_durability import blamed, judged
from tests.nights import by_night

from saverproof.families.durability import family, reporting
from saverproof.families.durability.kills import sweep
from saverproof.families.durability.kills.workloads import Workload
from saverproof.families.durability.power import power_reporting
from saverproof.programs import small
from saverproof_faults.syscalls import available

HERE = "tests.conformance.duckdb_savers"

pytestmark = pytest.mark.skipif(available() is not None, reason=str(available()))


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize(
    ("name", "breaks"),
    [("one_transaction", set()), by_night("one_for_each_write", {"in-flight-atomic"})],
)
def test_one_transaction_a_write_survives_and_two_do_not(
    name: str, breaks: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = Workload("a short run", (small.checkpoint("a", 1), small.batch("a", 1, 1, 3)))
    monkeypatch.setattr(sweep, "workloads", lambda able: (short,))
    monkeypatch.setattr(family, "longer_run", lambda *given: short)
    monkeypatch.setattr(family, "shortened", lambda sweep, contract, trial: [trial])
    for module, script in (reporting, "reproducer"), (power_reporting, "power_reproducer"):
        monkeypatch.setattr(module, script, lambda *given, **more: "")
    outcome = judged(f"{HERE}:{name}", tmp_path, monkeypatch, swept=12, images=40)
    power = outcome.extra["power"]
    # DuckDB itself refuses a log whose last write was torn; what it opens is to be whole.
    assert blamed(outcome) - {"power-cut"} == breaks
    assert (power["torn"] > 0, power["reordered"], power["lost_acknowledged_max"]) == (
        bool(breaks),
        0,
        0,
    )
    assert (outcome.unknown, outcome.unexercised) == ({}, {})
    assert outcome.extra["crash"]["places_killed"].keys() >= {"opening", "put_writes"}
