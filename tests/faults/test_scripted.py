"""A script that cannot make its fault says so, and does not end as if the saver were to blame."""

from __future__ import annotations

from pathlib import Path

import pytest

from saverproof_faults.errors import FaultsError
from saverproof_faults.scripted import UNDECIDED, ScriptWatch, dsn_for, undecided
from saverproof_faults.servers import Redis
from saverproof_faults.syscalls import CallWatch


def busy(_: CallWatch) -> None:
    raise FaultsError("the server has not ended the connection that was closed towards it")


def test_a_busy_server_is_not_the_savers_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(CallWatch, "disarm", busy)
    with pytest.raises(SystemExit) as ending:
        ScriptWatch(tmp_path).disarm()
    assert ending.value.code == UNDECIDED
    assert capsys.readouterr().err.startswith("undecided, for the fault could not be made: the se")


def test_a_missing_server_is_not_the_savers_fault() -> None:
    with pytest.raises(SystemExit) as ending:
        dsn_for(Redis(), "label")
    assert ending.value.code == UNDECIDED


def test_what_the_saver_raises_is_its_own() -> None:
    with pytest.raises(ZeroDivisionError), undecided():
        _ = 1 / 0
