"""Two savers on one store: what a second one does is judged, and what cannot be tried is named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.conformance.judging_support import facts_of, plan_of
from tests.reference.sqlite import SqliteReference

from saverproof.families.items import Outcome
from saverproof.families.registry import judged
from saverproof.savers.targets.target import Target

BY_TURNS = "lifecycle/savers-by-turns"


class OneAtATime(SqliteReference):
    """Refuses to be opened while another one is open on the same store."""

    open_on: ClassVar[set[Path]] = set()

    def refuses(self, path: Path) -> bool:
        return path in self.open_on

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.folder = path
        if self.refuses(path):
            self.database.connection.close()
            raise RuntimeError("another saver has it open")
        self.open_on.add(path)

    def close(self) -> None:
        self.open_on.discard(self.folder)
        super().close()


class OneAtATimeOnceItHolds(OneAtATime):
    """Refuses it only if something is stored, as a set-up does that is not made to be repeated."""

    def refuses(self, path: Path) -> bool:
        return super().refuses(path) and next(iter(self.list(None)), None) is not None


def outcome_of(saver: type[SqliteReference], folder: Path) -> Outcome:
    """What the family finds of a saver that is opened on files of its own."""

    @contextmanager
    def opened(workspace: Any) -> Iterator[Any]:
        made = saver.at(workspace.path)
        try:
            yield made
        finally:
            made.close()

    target = Target(name="tried", open=opened)
    facts = facts_of(target, folder)
    assert "many_processes" in facts["capabilities"]
    return judged(plan_of(target, "lifecycle", "sync", folder, facts=facts), target)


@pytest.mark.parametrize(
    ("saver", "broken"), [(SqliteReference, set()), (OneAtATimeOnceItHolds, {BY_TURNS})]
)
def test_a_second_saver_that_does_not_open_is_told(
    saver: type[SqliteReference], broken: set[str], tmp_path: Path
) -> None:
    outcome = outcome_of(saver, tmp_path)
    assert {found.contract for found in outcome.findings} == broken
    assert outcome.checked[BY_TURNS] > 0


def test_a_store_of_one_saver_is_not_judged_by_two(tmp_path: Path) -> None:
    outcome = outcome_of(OneAtATime, tmp_path)
    assert not outcome.findings
    assert not outcome.checked.get(BY_TURNS)
    assert "another saver has it open" in outcome.unexercised[BY_TURNS]
