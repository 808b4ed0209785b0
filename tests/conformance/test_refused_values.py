"""A value that cannot be serialized is accepted by a saver that drops it unseen: not for that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.wrong_savers.registry import opener

from saverproof.contracts.tables.pending_writes import COMPLETE
from saverproof.contracts.tables.serialization import CHANNEL_VALUES, UNSERIALIZABLE_IS_REFUSED
from saverproof.families.machines.explaining.search import ProgramSearch
from saverproof.families.machines.explaining.trials import Trials
from saverproof.judging.scenes.refused_value import RefuseValue
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import WriteRow
from saverproof.programs.steps.definitions import Put
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.target import Target

REFUSED = UNSERIALIZABLE_IS_REFUSED.id


class FourWritesATask(ReferenceSaver):
    """Drops what comes after the fourth write, before it is looked at."""

    def _rows_of_batch(self, writes: Any, task_id: str, path: str) -> list[WriteRow]:
        return super()._rows_of_batch(list(writes)[:4], task_id, path)


class NotesUnstored(ReferenceSaver):
    """Drops a channel of a put, before its value is looked at."""

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        values = {k: v for k, v in checkpoint["channel_values"].items() if k != "notes"}
        return super().put(config, {**checkpoint, "channel_values": values}, metadata, new_versions)


class SkipsWhatItCannotDump(ReferenceSaver):
    """Leaves out a write that it cannot serialize, and keeps the others of the batch."""

    def _rows_of_batch(self, writes: Any, task_id: str, path: str) -> list[WriteRow]:
        return super()._rows_of_batch([*filter(self._fits, writes)], task_id, path)

    def _fits(self, write: tuple[str, Any]) -> bool:
        try:
            return bool(self.serde.dumps_typed(write[1]))
        except TypeError:
            return False


class FourAndSkips(FourWritesATask, SkipsWhatItCannotDump):
    """Has both flaws."""


def told(saver: type[ReferenceSaver], refused: RefuseValue, folder: Path) -> set[str]:
    """The contracts that are found broken by a call with a bad value."""
    target = Target(name="wrong", open=opener(saver))
    with EventLoop() as loop:
        trials = Trials(target, folder, loop, ("sync",))
        search = ProgramSearch(trials, frozenset({REFUSED, COMPLETE.id, CHANNEL_VALUES.id}))
        search.follow_up(trials.replay((Put("a", "", 1), refused)))
        search.settle_the_rest()
    return set(search.found)


def batch(position: int) -> RefuseValue:
    """A batch of five writes, one of which cannot be serialized."""
    return RefuseValue("put_writes", "a", "", 1, position=position)


def test_what_loses_any_write_is_told_as_that(tmp_path: Path) -> None:
    assert told(FourWritesATask, batch(4), tmp_path) == {COMPLETE.id}


def test_what_loses_any_channel_is_told_as_that(tmp_path: Path) -> None:
    refused = RefuseValue("put", "a", "", 2, parent=1)
    assert told(NotesUnstored, refused, tmp_path) == {CHANNEL_VALUES.id}


def test_a_value_that_is_reached_is_refused(tmp_path: Path) -> None:
    assert not told(FourWritesATask, batch(0), tmp_path)


@pytest.mark.parametrize("position", [0, 3])
def test_a_value_that_is_left_out_since_it_is_bad_is_accepted(
    position: int, tmp_path: Path
) -> None:
    assert REFUSED in told(FourAndSkips, batch(position), tmp_path)
