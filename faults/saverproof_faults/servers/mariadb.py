"""A private MariaDB server."""

import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from saverproof_faults.servers.server import HOST, Server

_GREETING = 10
"""The protocol version in the first packet of a server that is ready."""


class MariaDbServer(Server):
    """MariaDB 10.4 or newer. It has a user 'root' with all rights, and a database 'test'.

    ``settings`` are options of the server, without the dashes.
    """

    programs = ("mariadbd", "mariadb-install-db")
    places = ("usr/sbin", "usr/libexec", "usr/local/libexec")
    users = ("mysql", "nobody")

    def __init__(
        self,
        *,
        settings: Mapping[str, str] | None = None,
        binaries: Path | None = None,
        scratch: Path | None = None,
    ) -> None:
        super().__init__(binaries=binaries, scratch=scratch)
        self._settings = [f"--{key}={value}" for key, value in (settings or {}).items()]

    @property
    def url(self) -> str:
        return f"mysql://root:{self.password}@{HOST}:{self.port}/test"

    def prepare(self) -> None:
        self.run(
            [
                self.program("mariadb-install-db"),
                *(
                    "--no-defaults",
                    f"--datadir={self.folder / 'data'}",
                    f"--basedir={self._base()}",
                ),
                *("--auth-root-authentication-method=normal", "--skip-name-resolve"),
            ]
        )
        self._first = self.write_private(
            "first.sql",
            f"ALTER USER root@localhost IDENTIFIED BY '{self.password}';\n"
            f"CREATE OR REPLACE USER root@'{HOST}' IDENTIFIED BY '{self.password}';\n"
            f"GRANT ALL ON *.* TO root@'{HOST}' WITH GRANT OPTION;\n"
            "CREATE DATABASE IF NOT EXISTS test;\n",
        )

    def command(self) -> Sequence[str]:
        return [
            self.program("mariadbd"),
            *("--no-defaults", f"--datadir={self.folder / 'data'}", f"--basedir={self._base()}"),
            *(f"--bind-address={HOST}", f"--port={self.port}", "--skip-name-resolve"),
            *(f"--socket={self.folder / 'socket'}", f"--pid-file={self.folder / 'pid'}"),
            f"--init-file={self._first}",
            *self._settings,
        ]

    def is_ready(self) -> bool:
        try:
            with socket.create_connection((HOST, self.port), timeout=1) as connection:
                packet = connection.recv(5)
                return len(packet) == 5 and packet[4] == _GREETING
        except OSError:
            return False

    def _base(self) -> Path:
        """Return the folder in which this installation keeps its messages and plugins."""
        return Path(self.program("mariadb-install-db")).resolve().parents[1]
