"""What a killed process leaves shows each wrong saver of the durability family."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof_faults.syscalls import CallKind, CallWatch
from tests.reference.log_file import LogFileReference
from tests.reference.sqlite import SqliteReference
from tests.reference.state_file import StateFileReference
from tests.wrong_savers import WrongSaver, failed_syncs
from tests.wrong_savers.scenes.failing import (
    lost_or_torn,
    moments_within,
    prepared,
    stopped_everywhere,
    survivors,
    watched_from_its_opening,
)
from tests.wrong_savers.scenes.probe import Probe
from tests.wrong_savers.support import (
    of,
    opening,
)


def test_the_reference_loses_nothing_and_tears_nothing(tmp_path: Path) -> None:
    moments = stopped_everywhere(opening(SqliteReference), tmp_path, "sync")
    assert len(moments) > 40
    assert not lost_or_torn(moments)


@of("durability")
def test_a_stopped_process_shows_the_mistake(wrong: WrongSaver, tmp_path: Path) -> None:
    if wrong.saver.__module__ == failed_syncs.__name__:
        in_files = StateFileReference, LogFileReference
        [right] = (each for each in in_files if issubclass(wrong.saver, each))
        returned, size = after_a_failed_sync(right, tmp_path / "right")
        assert not returned
        assert after_a_failed_sync(wrong.saver, tmp_path / "wrong") != (returned, size)
    elif issubclass(wrong.saver, StateFileReference):
        assert saving_calls(StateFileReference, tmp_path / "right") == RIGHT_ORDER
        assert saving_calls(wrong.saver, tmp_path / "wrong") != RIGHT_ORDER
    elif wrong.name == "large-values-never-synced":
        assert syncs_of_large_values(wrong.saver, tmp_path) == 0
    elif wrong.breaks == "durability/power-cut":
        saver = wrong.saver.at(tmp_path)
        assert "synchronous" in vars(type(saver.database))
        with saver.database.reading():
            assert saver.database.rows("PRAGMA synchronous") == [(0,)]
        saver.close()
    elif wrong.breaks == "durability/power-cut-loses-nothing":
        assert saving_calls(wrong.saver, tmp_path / "wrong") == ["write checkpoints.log"]
    elif wrong.name == "writes-deleted-apart":
        assert writes_that_come_back(SqliteReference, tmp_path / "right") == {0}
        assert writes_that_come_back(wrong.saver, tmp_path / "wrong") == {0, 2}
    elif wrong.name == "replaced-is-deleted-apart":
        assert kept_while_replaced(SqliteReference, tmp_path / "right") == {2}
        assert kept_while_replaced(wrong.saver, tmp_path / "wrong") == {1, 2}
    elif wrong.name == "table-written-anew":
        assert kept_while_replaced(SqliteReference, tmp_path / "right", 64) == {2}
        assert kept_while_replaced(wrong.saver, tmp_path / "wrong", 64) == {0, 2}
    elif wrong.name == "early-writes-wait":
        assert kept_of_early_writes(SqliteReference, tmp_path / "right") == 1
        assert kept_of_early_writes(wrong.saver, tmp_path / "wrong") == 0
    elif wrong.name == "recovered-in-place":
        assert kept_by_an_interrupted_recovery(LogFileReference, tmp_path / "right") == 2
        assert kept_by_an_interrupted_recovery(wrong.saver, tmp_path / "wrong") is None
    elif issubclass(wrong.saver, LogFileReference):
        assert not writes_after_a_torn_tail_are_lost(LogFileReference, tmp_path / "right")
        assert writes_after_a_torn_tail_are_lost(wrong.saver, tmp_path / "wrong")
    elif issubclass(wrong.saver, ReferenceSaver):
        assert state_file_is_lost(wrong.saver, tmp_path)
    elif wrong.name == "no-journal":
        saver = wrong.saver.at(tmp_path)
        assert saver.database.rows("PRAGMA journal_mode") == [("off",)]
        saver.close()
    elif wrong.name == "large-values-beside-the-database":
        assert value_is_lost(wrong.saver, tmp_path)
    elif wrong.name == "migration-noted-first":
        assert not opens_after_its_opening_stopped(wrong.saver, tmp_path / "wrong")
        assert opens_after_its_opening_stopped(SqliteReference, tmp_path / "right")
    else:
        moments = stopped_everywhere(opening(wrong.saver), tmp_path, "sync")
        assert lost_or_torn(moments) or forgets_what_was_seen(wrong.saver, tmp_path)


def after_a_failed_sync(saver: Any, folder: Path) -> tuple[bool, int]:
    """Whether a put returns whose first sync fails, and the bytes that another one leaves."""
    folder.mkdir()
    probe = Probe(opening(saver), folder, "sync")
    with mock.patch("os.fsync", side_effect=[OSError("failed"), *(None,) * 9]):
        returned = probe.put(1) != "raised OSError"
    probe.put(2)
    probe.saver.close()
    return returned, sum(file.stat().st_size for file in folder.iterdir())


RIGHT_ORDER = ["write state.new", "sync state.new", "rename state.new", "sync folder"]


def saving_calls(saver: Any, folder: Path) -> list[str]:
    """What a first put does to the files, in two words each."""
    folder.mkdir()
    with CallWatch(folder) as watch, ThreadPoolExecutor(1, initializer=watch.cover) as thread:
        with watch.counting() as calls:
            probe = thread.submit(Probe, opening(saver), folder, "sync").result()
            thread.submit(probe.put, 1).result()
        probe.saver.close()
    kinds = (CallKind.WRITE, CallKind.SYNC, CallKind.RENAME)
    return [" ".join(str(call).split(" ")[:2]) for call in calls if call.kind in kinds]


def writes_after_a_torn_tail_are_lost(saver: Any, folder: Path) -> bool:
    """Cut the last line of the log, or of the longest, in two, and put something else."""
    probe = prepared(Probe(opening(saver), folder, "sync"))
    probe.saver.close()
    log = max(folder.glob("*.log"), key=lambda file: file.stat().st_size)
    log.write_bytes(log.read_bytes()[:-20])
    probe = Probe(opening(saver), folder, "sync")
    probe.put(3, parent=2)
    probe.reopen()
    found = probe.id_of()
    probe.saver.close()
    return bool(found != 3)


def kept_of_early_writes(saver: Any, folder: Path) -> int:
    """Write before the checkpoint is put, forget the saver, and put it by another one."""
    probe = Probe(opening(saver), folder, "sync")
    probe.write(1, [("x", 1)])
    other = Probe(opening(saver), folder, "sync")
    other.put(1)
    found = other.tuple().pending_writes
    other.saver.close()
    probe.saver.close()
    return len(found)


def kept_by_an_interrupted_recovery(saver: Any, folder: Path) -> Any:
    """Cut the last line of the log in two, stop the first read of it at its first change, and look.

    Cutting the tail off is one such change, and there is none after it.
    """
    probe = prepared(Probe(opening(saver), folder, "sync"))
    probe.put(3, parent=2)
    probe.saver.close()
    log = folder / "checkpoints.log"
    log.write_bytes(log.read_bytes()[:-20])
    probe = Probe(opening(saver), folder, "sync")
    with mock.patch("os.pwrite", side_effect=KeyboardInterrupt), suppress(KeyboardInterrupt):
        probe.tuple()
    probe.reopen()
    found = probe.id_of()
    probe.saver.close()
    return found


def syncs_of_large_values(saver: Any, folder: Path) -> int:
    """How often Python syncs a file while a large value is put."""
    probe = Probe(opening(saver), folder, "sync")
    with mock.patch("os.fsync") as synced:
        probe.put(1, values={"x": ["large"] * 2_000})
    probe.saver.close()
    assert [*folder.rglob("*.value")]
    return synced.call_count


def state_file_is_lost(saver: Any, folder: Path) -> bool:
    """Stop while the state file is open for writing."""
    probe = prepared(Probe(opening(saver), folder, "sync"))
    if survivors(opening(saver), folder) == []:
        return True
    killed = mock.patch("tests.reference.state_text.state_of", side_effect=KeyboardInterrupt)
    with killed, pytest.raises(KeyboardInterrupt):
        probe.put(3)
    return "raised" in str(survivors(opening(saver), folder))


def value_is_lost(saver: Any, folder: Path) -> bool:
    """Stop before the file of a large value is written."""
    probe = Probe(opening(saver), folder, "sync")
    killed = mock.patch.object(Path, "write_bytes", side_effect=KeyboardInterrupt)
    with killed, pytest.raises(KeyboardInterrupt):
        probe.put(1, values={"x": ["large"] * 2_000})
    probe.reopen()
    found = probe.tuple()
    probe.saver.close()
    return found is not None and found.checkpoint["channel_values"] == {}


def opens_after_its_opening_stopped(saver: Any, folder: Path) -> bool:
    """Stop the first opening at each statement, open again, and put."""
    for place in range(60):
        path = folder / str(place)
        statements: list[str] = []

        def stop(statement: str, ran: list[str] = statements, place: int = place) -> None:
            ran.append(statement)
            if len(ran) == place + 1:
                raise KeyboardInterrupt

        with watched_from_its_opening(saver, stop), suppress(KeyboardInterrupt):
            Probe(opening(saver), path, "sync").saver.close()
        if len(statements) <= place:
            return place > 0
        probe = Probe(opening(saver), path, "sync")
        answer = probe.put(1)
        probe.saver.close()
        if isinstance(answer, str):
            return False
    raise AssertionError("the opening has no end")


def forgets_what_was_seen(saver: Any, folder: Path) -> bool:
    """Whether a reopened store still knows what the nodes have seen."""
    probe = Probe(opening(saver), folder / "seen", "sync")
    probe.put(1, versions_seen={"n": {"x": "1"}})
    probe.reopen()
    found = probe.tuple()
    probe.saver.close()
    return found is None or found.checkpoint["versions_seen"] == {}


def writes_that_come_back(saver: Any, folder: Path) -> set[int]:
    """Return how many writes a checkpoint has that is put again once its deletion has hidden it,
    for each moment at which that may have been stopped.
    """
    probe = prepared(Probe(opening(saver), folder / "running", "sync"))
    found: set[int] = set()
    for moment in moments_within(probe, lambda: probe.delete("a"), folder):
        stopped = Probe(opening(saver), moment, "sync")
        if stopped.call("get_tuple", stopped.config()) is None:
            stopped.put(1, values={"x": 1})
            found.add(len(stopped.call("get_tuple", stopped.config()).pending_writes))
        stopped.saver.close()
    return found


def kept_while_replaced(saver: Any, folder: Path, times: int = 1) -> set[int]:
    """Return how many of two checkpoints are there, wherever it is stopped that replaces one for
    the last of so many times.
    """
    probe = prepared(Probe(opening(saver), folder / "running", "sync"))
    for _ in range(times - 1):
        probe.put(2, parent=1, values={"x": 9})
    moments = moments_within(probe, lambda: probe.put(2, parent=1, values={"x": 9}), folder)
    return {len(survivors(opening(saver), moment)) for moment in moments}
