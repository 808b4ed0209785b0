"""A private PostgreSQL server."""

import hashlib
import hmac
import os
import signal
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from saverproof_faults.servers.server import HOST, Server

# Shared memory in files of the data folder is removed with the folder, even if the server was
# killed.
_SETTINGS = ("dynamic_shared_memory_type=mmap", "unix_socket_directories=")


class PostgresServer(Server):
    """PostgreSQL 10 or newer. It has a role and a database 'postgres'.

    SIGKILL leaves one small System V segment, which the next start of the server removes. Leaving a
    server that was killed therefore starts and stops it once more. ``settings`` are those of
    postgresql.conf.
    """

    programs = ("postgres", "initdb")
    places = ("usr/lib/postgresql/*/bin", "usr/pgsql-*/bin", "opt/homebrew/opt/postgresql*/bin")
    users = ("postgres", "nobody")
    stop_signal = signal.SIGINT

    def __init__(
        self,
        *,
        settings: Mapping[str, str] | None = None,
        binaries: Path | None = None,
        scratch: Path | None = None,
    ) -> None:
        super().__init__(binaries=binaries, scratch=scratch)
        given = (f"{key}={value}" for key, value in (settings or {}).items())
        self._settings = (*_SETTINGS, *given)

    @property
    def url(self) -> str:
        return f"postgresql://postgres:{self.password}@{HOST}:{self.port}/postgres"

    def prepare(self) -> None:
        password = self.write_private("password", _verifier(self.password))
        self.run(
            [
                self.program("initdb"),
                *("-D", str(self.folder / "data")),
                *("-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync"),
                *("-A", "password", f"--pwfile={password}"),
            ]
        )

    def command(self) -> Sequence[str]:
        settings = [part for setting in self._settings for part in ("-c", setting)]
        return [
            self.program("postgres"),
            *("-D", str(self.folder / "data")),
            *("-h", HOST, "-p", str(self.port)),
            *settings,
        ]

    def is_ready(self) -> bool:
        # The file survives a killed server: its number must be that of the running one.
        with suppress(FileNotFoundError):
            lines = (self.folder / "data" / "postmaster.pid").read_text().splitlines()
            return len(lines) > 7 and lines[0] == str(self.pid) and lines[7].strip() == "ready"
        return False

    def _finish(self) -> None:
        if self.pid is None and (self.folder / "data" / "postmaster.pid").exists():
            self.start()
        super()._finish()


def _verifier(password: str) -> str:
    """Return what the server stores of the password (RFC 5803).

    The password is random and as long as a key, so it needs one iteration and not four thousand for
    each connection.
    """
    salt = os.urandom(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, 1)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    of_server = hmac.digest(salted, b"Server Key", "sha256")
    texts = (b64encode(part).decode() for part in (salt, stored, of_server))
    return "SCRAM-SHA-256$1:{}${}:{}".format(*texts)
