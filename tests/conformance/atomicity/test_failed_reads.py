"""Reads that fail are judged by themselves, and not by what else the saver does meanwhile."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from tests.conformance.atomicity.locked_savers import BusyIsNotFound, WaitsForAWhile
from tests.conformance.atomicity.test_atomicity import of_class, plan_for
from tests.conformance.script_runs import ended
from tests.reference.sqlite import SqliteReference
from tests.right_savers.apsw_connection import ApswConnection
from tests.wrong_savers.failed_reads import ErrorIsNotFound

from saverproof.families.answer import Status
from saverproof.families.atomicity.reads.failed_reads import FailedReads
from saverproof.families.atomicity.replay import replay
from saverproof.families.atomicity.sweeps.record import FaultRecord
from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.families.tally import Tally
from saverproof.savers.targets.target import Target
from saverproof.scripts.script import LONGEST

GET = ["put", "put_writes", "get_tuple"]
RAISE = "atomicity/failed-reads-raise"


def tally_of(target: Target, folder: Path, silences: int = 0) -> Tally:
    plan = plan_for(folder, "sync", GET)
    tally = Tally(plan)
    with FaultBench.opened(plan, target, ()) as bench:
        reads = FailedReads(
            plan, target, FaultRecord(tally), bench, frozenset(GET), silences, locks=True
        )
        reads.run(8)
    return tally


class WritesBeforeItReads(SqliteReference):
    """Puts off what it is to write until it reads once more, and tells nobody if that fails."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.put_off: list[Callable[[], Any]] = []
        self.reads = 0

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        row = self._row_of(config, checkpoint, metadata)
        plain = super().put
        self.put_off.append(partial(plain, config, checkpoint, metadata, new_versions))
        return self._put_answer(config, row)

    def put_writes(self, *given: Any) -> None:
        self.put_off.append(partial(super().put_writes, *given))

    def write(self) -> None:
        waiting, self.put_off = self.put_off, []
        for write in waiting:
            with suppress(Exception):
                write()

    def get_tuple(self, config: Any) -> Any:
        # The first look at a saver, before anything fails, makes it write nothing yet.
        self.reads += 1
        if self.reads > 1:
            self.write()
        return super().get_tuple(config)

    def close(self) -> None:
        self.write()
        super().close()


def kept_elsewhere(saver: Any) -> Target:
    """A store that cannot be copied is written anew for each read."""
    return dataclasses.replace(of_class(saver), drop=lambda _: None)


def test_a_write_put_off_until_a_read_is_not_the_doing_of_the_read(tmp_path: Path) -> None:
    tally = tally_of(kept_elsewhere(WritesBeforeItReads), tmp_path)
    assert not tally.findings
    assert "was gone after a read" in tally.unknown[RAISE]


def test_a_read_that_hides_its_failure_is_accused_wherever_the_store_is(tmp_path: Path) -> None:
    (finding,) = tally_of(kept_elsewhere(ErrorIsNotFound), tmp_path).findings
    assert finding.contract == RAISE


OPENING = """
from tests.conformance.atomicity.locked_savers import BusyIsNotFound
from contextlib import closing
from pathlib import Path
closing(BusyIsNotFound.at(Path(path)))
"""


def test_a_file_that_another_process_keeps_for_itself_is_not_an_empty_one(tmp_path: Path) -> None:
    assert not tally_of(of_class(WaitsForAWhile), tmp_path).findings
    # In WAL mode no reader is kept out, and nothing else that it asks can be refused.
    assert not tally_of(of_class(ApswConnection), tmp_path).checked[RAISE]
    (finding,) = tally_of(of_class(BusyIsNotFound, opening=OPENING), tmp_path).findings
    assert finding.contract == RAISE
    assert "another process keeps everybody out" in finding.steps[-2]
    script = finding.reproducer
    assert 0 < script.count("\n") <= LONGEST
    right = script.replace(BusyIsNotFound.__name__, WaitsForAWhile.__name__)
    assert [ended(text, tmp_path)[0] for text in (script, right)] == [1, 0]
    plan = plan_for(tmp_path, "sync", GET)
    for saver, expected in ((BusyIsNotFound, Status.FAILING), (WaitsForAWhile, Status.FIXED)):
        assert replay(plan, of_class(saver), RAISE, finding.program).status is expected
