"""Private servers start, survive SIGKILL with what they acknowledged, and leave nothing."""

import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from tests.faults.kill_ends import has_ended

from saverproof_faults.servers import (
    MariaDbServer,
    PostgresServer,
    RedisServer,
    Server,
    ServerError,
    ServerUnavailable,
    ValkeyServer,
)

HOLDER = Path(__file__).with_name("server_holder.py")
PATIENCE_S = 30.0


def client(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no {name} on the PATH to ask the server with")
    return found


def ask_postgres(server: Server, statement: str) -> str:
    command = [client("psql"), "-qAt", "-d", server.url, "-c", statement]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def ask_mariadb(server: Server, statement: str) -> str:
    command = [client("mariadb"), "--no-defaults", "-h127.0.0.1", f"-P{server.port}", "-uroot"]
    return subprocess.run(
        [*command, "-N", "-B", "test", "-e", statement],
        env={**os.environ, "MYSQL_PWD": server.password},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


def ask_redis(server: Server, statement: str) -> str:
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(f"AUTH {server.password}\r\n{statement}\r\n".encode())
        answer = connection.makefile("r")
        assert answer.readline() == "+OK\n"
        first = answer.readline().strip()
        return answer.readline().strip() if first.startswith("$") else first


Ask = Callable[[Server, str], str]

SQL = ("create table t (x int); insert into t values (42)", "select x from t")
REDIS = ("SET x 42", "GET x")
SERVERS = {
    PostgresServer: (ask_postgres, *SQL),
    MariaDbServer: (ask_mariadb, *SQL),
    RedisServer: (ask_redis, *REDIS),
    ValkeyServer: (ask_redis, *REDIS),
}


@pytest.fixture(scope="module", params=SERVERS, ids=lambda kind: kind.__name__)
def kind(request: pytest.FixtureRequest) -> type[Server]:
    kind: type[Server] = request.param
    if reason := kind.missing():
        pytest.skip(reason)
    return kind


@pytest.fixture(scope="module")
def server(kind: type[Server]) -> Iterator[Server]:
    with kind() as server:
        yield server
    assert not server.folder.exists()


def test_what_was_acknowledged_survives_a_kill(server: Server) -> None:
    ask, write, read = SERVERS[type(server)]
    ask(server, write)
    before = server.pid
    server.restart()
    assert server.pid != before
    assert ask(server, read) == "42"


def test_redis_appends_what_it_acknowledges_at_once() -> None:
    """With `everysec` it does not while a sync is under way, and a kill loses what it answered."""
    with RedisServer() as server, socket.create_connection(("127.0.0.1", server.port)) as asked:
        asked.sendall(f"AUTH {server.password}\r\nCONFIG GET appendfsync\r\n".encode())
        answer = asked.makefile("r")
        said = [answer.readline().strip() for _ in range(6)]
    assert said == ["+OK", "*2", "$11", "appendfsync", "$2", "no"]


def test_a_killed_server_answers_no_more(server: Server) -> None:
    server.kill()
    assert server.pid is None
    assert not server.is_ready()
    server.start()
    assert server.is_ready()


def test_it_listens_on_loopback_alone(server: Server) -> None:
    listening = [
        one
        for one in psutil.Process(server.pid).net_connections("inet")
        if one.status == psutil.CONN_LISTEN
    ]
    assert {one.laddr.ip for one in listening} == {"127.0.0.1"}


def test_its_folder_is_private(server: Server) -> None:
    assert stat.S_IMODE(server.folder.stat().st_mode) == 0o700


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A folder that the server's own user can reach, and with a path short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="sp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_it_cannot_be_started_twice(server: Server) -> None:
    with pytest.raises(ServerError, match="is running already"):
        server.start()


def test_a_server_whose_holder_is_killed_goes_too(
    kind: type[Server], tmp_path: Path, scratch: Path
) -> None:
    told = tmp_path / "pid"
    command = [sys.executable, str(HOLDER), kind.__name__, str(scratch), str(told)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        while not told.exists():
            with pytest.raises(subprocess.TimeoutExpired):
                holder.wait(0.02)
        guard = next(
            child
            for child in psutil.Process(holder.pid).children()
            if "saverproof_faults.servers.reaper" in " ".join(child.cmdline())
        )
        holder.send_signal(signal.SIGKILL)
        holder.wait(PATIENCE_S)
        assert has_ended(int(told.read_text()), patience_s=PATIENCE_S)
        assert has_ended(guard.pid, patience_s=PATIENCE_S)
    assert not list(scratch.iterdir())


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    assert PostgresServer.missing(tmp_path) == f"no postgres in {tmp_path}"
    with pytest.raises(ServerUnavailable, match="no redis-server in"):
        RedisServer(binaries=tmp_path).__enter__()


@pytest.fixture
def binaries() -> Iterator[Path]:
    """A folder for programs: from where other files of tests are, nothing may be run."""
    with tempfile.TemporaryDirectory(prefix="sp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_a_server_that_does_not_start_says_why_and_leaves_nothing(
    binaries: Path, scratch: Path
) -> None:
    program = binaries / "redis-server"
    program.write_text("#!/bin/sh\necho cannot go on\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(ServerError, match="redis-server did not start: "):
        RedisServer(binaries=binaries, scratch=scratch).__enter__()
    assert not list(scratch.iterdir())
