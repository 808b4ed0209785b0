"""A script that cannot make its fault says so, and does not end as if the saver were to blame."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from saverproof_faults.errors import FaultsError
from saverproof_faults.scripted import UNDECIDED, ScriptWatch, dsn_for, undecided
from saverproof_faults.servers import PostgresServer, Redis
from saverproof_faults.servers.keeper_client import KEEPERS
from saverproof_faults.syscalls import CallWatch, available

SCRIPT = """
import psycopg, tempfile
from saverproof_faults.scripted import ScriptWatch, dsn_for, serving
from saverproof_faults.servers import Postgres
from saverproof_faults.syscalls import CallFailure, CallFault

files = ScriptWatch(tempfile.gettempdir())
serving = files.beside(serving)
for label in ("one", "two"):
    with serving(Postgres()), psycopg.connect(dsn_for(Postgres(), label)) as connection:
        files.arm(CallFault(1, CallFailure.RESET))
        try:
            connection.execute("SELECT 1")
        except psycopg.OperationalError:
            files.disarm()
        else:
            raise SystemExit("nothing failed")
"""


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


@pytest.mark.skipif(available() is not None, reason=str(available()))
@pytest.mark.skipif(PostgresServer.missing() is not None, reason="no PostgreSQL")
def test_the_calls_of_a_server_that_a_script_starts_are_its_own() -> None:
    alone = {name: value for name, value in os.environ.items() if name != KEEPERS}
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=alone, text=True, capture_output=True
    )
    assert (ended.returncode, ended.stderr) == (0, "")
