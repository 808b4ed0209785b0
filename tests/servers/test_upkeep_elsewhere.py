"""Graphs on a server that go on while another process copies their thread there."""

from __future__ import annotations

from pathlib import Path

import pytest

from saverproof.families.concurrency.callers.bench import CallerBench
from saverproof.families.concurrency.callers.records import OperationKind
from saverproof.families.concurrency.children import CHILDREN
from saverproof.families.concurrency.contract_ids import COPY
from saverproof.families.concurrency.graphs.graph_scenes import beside_graphs
from saverproof.families.concurrency.graphs.graph_upkeep import UPKEEP_OF_GRAPHS
from saverproof.families.concurrency.histories.sequential_flaws import SequentialFlaws
from saverproof.families.concurrency.record import SceneRecord
from saverproof.families.concurrency.scripts.script_writing import script
from saverproof.families.items import ItemPlan
from saverproof.families.tally import Tally
from saverproof.savers.targets.target import Target
from saverproof.scripts.opening import opening_of
from tests.conformance.concurrency.concurrency_support import facts_of
from tests.conformance.script_runs import ended
from tests.servers import postgres_savers

pytestmark = pytest.mark.usefixtures("postgres")


def test_one_statement_copies_one_moment(tmp_path: Path) -> None:
    record, met = copied_elsewhere(postgres_savers.right, tmp_path)
    assert (record.found, record.tally.notes, record.raised) == ({}, [], {})
    assert met


# By day, files show the same of another process: test_concurrency_elsewhere.py.
@pytest.mark.nightly
def test_two_statements_of_a_transaction_copy_two_moments(tmp_path: Path) -> None:
    saver = postgres_savers.in_two_statements
    record, _ = copied_elsewhere(saver, tmp_path)
    assert record.found.keys() == {COPY}
    opening = opening_of(saver)
    assert opening is not None
    text = script(saver, opening, COPY, record.found[COPY].scene, "sync")
    assert ended(text, tmp_path)[0] == 1
    assert ended(text.replace("in_two_statements", "right"), tmp_path) == (0, "")


def copied_elsewhere(saver: Target, folder: Path) -> tuple[SceneRecord, bool]:
    """What is seen of graphs beside copies by another process, and whether one overtook a copy and
    came out right.
    """
    assert saver.ref is not None
    where = saver.ref.to_json()
    plan = ItemPlan(where, facts_of(saver), "concurrency", "sync", "quick", 0, str(folder))
    record, flaws = SceneRecord(Tally(plan)), SequentialFlaws(plan, saver)
    upkeep = UPKEEP_OF_GRAPHS[OperationKind.COPY].by_another()
    with CallerBench.of(plan, saver, CHILDREN) as bench:
        return record, beside_graphs(bench, record, flaws, upkeep, 3)
