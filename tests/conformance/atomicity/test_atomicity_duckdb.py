"""Savers on DuckDB, right and wrong, failed at the system calls on its files.

Each opening of DuckDB takes tens of milliseconds, and each trial three of them: one scenario is
failed at its places, and nothing else.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from tests.conformance.atomicity.test_atomicity import found, judged, of_class
from tests.conformance.duckdb_savers import TransactionForEachWrite
from tests.reference.duckdb_value import DuckdbReference

from saverproof.families.atomicity import effort, family, fault_programs
from saverproof.families.atomicity.scenarios import A_NEW_TASK
from saverproof.families.atomicity.trials import bench, files
from saverproof_faults.syscalls import available

pytestmark = pytest.mark.skipif(available() is not None, reason=str(available()))


@pytest.mark.parametrize(
    ("saver", "breaks"), [(DuckdbReference, set()), (TransactionForEachWrite, {"all-or-nothing"})]
)
def test_one_transaction_a_write_holds_and_two_do_not(
    saver: type, breaks: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = dataclasses.replace(effort.EFFORTS["quick"], most=14, random_programs=0)
    monkeypatch.setitem(effort.EFFORTS, "quick", few)
    monkeypatch.setattr(family, "SCENARIOS", (A_NEW_TASK,))
    monkeypatch.setattr(fault_programs, "faults_in_a_row", lambda *_: ())
    monkeypatch.setattr(family, "shortened", lambda bench, found, *_: [found])
    outcome = judged(of_class(saver), tmp_path, operations=["put_writes"])
    # The engine reads from its own buffers, of which no layer sees anything.
    assert (found(outcome), outcome.unknown) == (breaks, {})
    assert outcome.unexercised.keys() == {"atomicity/failed-reads-raise"}
    calls = {one["detail"] for one in outcome.extra["faults"]["map"] if one["kind"] == "io"}
    assert {"sync checkpoints.duckdb.wal"} < calls
    for module in (bench, files):
        monkeypatch.setattr(module, "available", lambda: "not here")
    assert found(judged(of_class(saver), tmp_path, operations=["put_writes"])) == set()
