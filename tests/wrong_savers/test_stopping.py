"""What a killed process leaves shows each wrong saver of the durability family."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.reference.saver import ReferenceSaver
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers import WrongSaver
from tests.wrong_savers.scenes.failing import (
    lost_or_torn,
    prepared,
    stopped_everywhere,
    survivors,
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
    if wrong.breaks == "durability/power-cut":
        saver = wrong.saver.at(tmp_path)
        assert "synchronous" in vars(type(saver.database))
        with saver.database.reading():
            assert saver.database.rows("PRAGMA synchronous") == [(0,)]
        saver.close()
    elif issubclass(wrong.saver, ReferenceSaver):
        assert state_file_is_lost(wrong.saver, tmp_path)
    elif wrong.name == "no-journal":
        saver = wrong.saver.at(tmp_path)
        assert saver.database.rows("PRAGMA journal_mode") == [("off",)]
        saver.close()
    else:
        moments = stopped_everywhere(opening(wrong.saver), tmp_path, "sync")
        assert lost_or_torn(moments) or forgets_what_was_seen(wrong.saver, tmp_path)


def state_file_is_lost(saver: Any, folder: Path) -> bool:
    """Stop while the state file is open for writing."""
    probe = prepared(Probe(opening(saver), folder, "sync"))
    if survivors(opening(saver), folder) == []:
        return True
    killed = mock.patch("tests.wrong_savers.state_file.state_of", side_effect=KeyboardInterrupt)
    with killed, pytest.raises(KeyboardInterrupt):
        probe.put(3)
    return "raised" in str(survivors(opening(saver), folder))


def forgets_what_was_seen(saver: Any, folder: Path) -> bool:
    """Whether a reopened store still knows what the nodes have seen."""
    probe = Probe(opening(saver), folder / "seen", "sync")
    probe.put(1, versions_seen={"n": {"x": "1"}})
    probe.reopen()
    found = probe.tuple()
    probe.saver.close()
    return found is None or found.checkpoint["versions_seen"] == {}
