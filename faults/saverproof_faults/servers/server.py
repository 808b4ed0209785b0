"""The common part of all private servers."""

import os
import pwd
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, ClassVar, Self

import psutil

from saverproof_faults.servers import sigstop
from saverproof_faults.servers.reaper import Reaper

HOST = "127.0.0.1"
PATIENCE_S = 30.0
"""Seconds for a server to start, to stop, or to catch up."""
_PAUSE_S = 0.003
"""Seconds between two looks at a server that starts or ends."""


class ServerUnavailable(RuntimeError):  # noqa: N818 - it is a state of this machine
    """The server's programs are not on this machine; the message says which."""


class ServerError(RuntimeError):
    """A server did not start or stop; the message has the last line of its output."""


class Server(ABC):
    """A private server on a loopback port, in a folder of its own, behind a random password.

    Entering prepares and starts it. Leaving stops it and removes the folder. If this process dies,
    a reaper does both. Programs are looked for in ``binaries``, on the PATH, and where the system
    keeps them.

    Raises:
        ServerUnavailable: its programs are not found.
        ServerError: it does not start.
    """

    programs: ClassVar[tuple[str, ...]]
    """The names of the programs that are needed; the first is the server."""
    places: ClassVar[tuple[str, ...]] = ()
    """Further folders to look in, as patterns below the root folder."""
    users: ClassVar[tuple[str, ...]] = ("nobody",)
    """Users to run as if this process is root: the first of them that exists."""

    def __init__(self, *, binaries: Path | None = None, scratch: Path | None = None) -> None:
        self._binaries = binaries
        self._scratch = scratch
        self._stack = ExitStack()
        self._process: subprocess.Popen[bytes] | None = None
        self.password = secrets.token_hex(16)

    def __enter__(self) -> Self:
        self._found = {program: self._find(program) for program in self.programs}
        with ExitStack() as stack:
            self._user = self._unprivileged()
            self.folder = Path(tempfile.mkdtemp(prefix="saverproof-server-", dir=self._root()))
            stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
            self._reaper = stack.enter_context(Reaper(self.folder))
            self.port = free_port()
            if self._user is not None:
                os.chown(self.folder, *self._user)
            stack.callback(self._finish)
            self.prepare()
            self.start()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._stack.close()

    def _root(self) -> Path | None:
        """Return the parent of the server's folder.

        The server's user must be able to enter it, which TMPDIR need not allow.
        """
        usual = Path(tempfile.gettempdir())
        open_to_all = all(at.stat().st_mode & stat.S_IXOTH for at in (usual, *usual.parents))
        if self._scratch is not None or self._user is None or open_to_all:
            return self._scratch
        return Path("/tmp")

    @classmethod
    def missing(cls, binaries: Path | None = None) -> str | None:
        """Return why this server cannot be started here, or None if it can."""
        try:
            server = cls(binaries=binaries)
            for program in cls.programs:
                server._find(program)
        except ServerUnavailable as reason:
            return str(reason)
        return None

    @property
    @abstractmethod
    def url(self) -> str:
        """The URL by which a driver reaches it, with its password."""

    @abstractmethod
    def prepare(self) -> None:
        """Make the data folder."""

    @abstractmethod
    def command(self) -> Sequence[str]:
        """Return the server's command line."""

    @abstractmethod
    def is_ready(self) -> bool:
        """Return whether the server answers."""

    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM

    @property
    def pid(self) -> int | None:
        """The process id of the running server, or None."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the server, and wait until it answers.

        Raises:
            ServerError: it never does.
        """
        if self._process is not None:
            raise ServerError(f"{self.programs[0]} is running already")
        with (self.folder / "log").open("ab") as log:
            self._process = self._popen(self.command(), stdout=log, stderr=log)
        self._reaper.watch(self._process.pid)
        deadline = time.monotonic() + PATIENCE_S
        while not self.is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise ServerError(f"{self.programs[0]} did not start: {self._last_words()}")
            time.sleep(_PAUSE_S)

    def kill(self) -> None:
        """Kill the server and all its processes by SIGKILL. It flushes nothing and tells nobody."""
        process = self._running()
        with suppress(psutil.NoSuchProcess):
            # A stopped process makes no more children while they are counted.
            root = psutil.Process(process.pid)
            root.suspend()
            family = [root, *root.children(recursive=True)]
            _kill(family)
        self._buried(process)

    def stop(self) -> None:
        """Shut the server down in order."""
        process = self._running()
        process.send_signal(self.stop_signal)
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ServerError(f"{self.programs[0]} did not stop: {self._last_words()}") from None
        self._buried(process)

    def restart(self) -> None:
        """Kill the server, and start it again on its data."""
        self.kill()
        self.start()

    def move(self) -> None:
        """Use another port from the next start on."""
        self.port = free_port()

    def freeze(self) -> None:
        """Stop the server and all its processes (SIGSTOP).

        Raises:
            ServerError: this system does not show when a stopped server has caught up.
        """
        if not sigstop.possible():
            raise ServerError("a server can be stopped (SIGSTOP) on Linux only")
        sigstop.freeze(self._running().pid)

    def thaw(self) -> None:
        """Let a stopped server go on, and wait until it has done what it was asked meanwhile.

        Raises:
            ServerError: it never comes to rest.
        """
        process = self._running().pid
        sigstop.thaw(process)
        if not sigstop.wait_until_caught_up(process, self.port, PATIENCE_S):
            raise ServerError(f"{self.programs[0]} has not caught up since it was stopped")

    def run(self, command: Sequence[str]) -> None:
        """Run a program as the server's user.

        Raises:
            ServerError: the program fails.
        """
        with self._popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            said, _ = process.communicate()
        if process.returncode:
            raise ServerError(
                f"{command[0]} failed: {_telling_line(said.decode(errors='replace'))}"
            )

    def program(self, name: str) -> str:
        """Return the path of one of ``programs``."""
        return self._found[name]

    def write_private(self, name: str, text: str) -> Path:
        """Write a file in the folder that only the server's user can read, and return its path."""
        path = self.folder / name
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        if self._user is not None:
            os.chown(path, *self._user)
        return path

    def _finish(self) -> None:
        if self._process is not None:
            self.stop()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise ServerError(f"{self.programs[0]} is not running")
        return self._process

    def _buried(self, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        self._reaper.release(process.pid)
        self._process = None

    def _popen(
        self, command: Sequence[str], stdout: int | IO[bytes], stderr: int | IO[bytes]
    ) -> subprocess.Popen[bytes]:
        user, group = self._user if self._user is not None else (None, None)
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            cwd=self.folder,
            # The server's user must be able to write there.
            env={**os.environ, "TMPDIR": str(self.folder)},
            start_new_session=True,
            user=user,
            group=group,
            extra_groups=None if user is None else [],
        )

    def _find(self, program: str) -> str:
        folders = [str(folder) for folder in self._folders()]
        found = shutil.which(program, path=os.pathsep.join(folders))
        if found is None:
            where = self._binaries or "the PATH"
            raise ServerUnavailable(f"no {program} in {where}")
        return found

    def _folders(self) -> Iterable[Path]:
        if self._binaries is not None:
            return [self._binaries]
        known = (found for pattern in self.places for found in Path("/").glob(pattern))
        path = os.environ.get("PATH", os.defpath).split(os.pathsep)
        return [*sorted(known, reverse=True), *map(Path, path)]

    def _unprivileged(self) -> tuple[int, int] | None:
        if os.geteuid() != 0:
            return None
        for name in self.users:
            with suppress(KeyError):
                entry = pwd.getpwnam(name)
                return entry.pw_uid, entry.pw_gid
        return None

    def _last_words(self) -> str:
        return _telling_line((self.folder / "log").read_text(errors="replace"))


def free_port() -> int:
    """Return a loopback port on which nobody listens at the moment."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _telling_line(said: str) -> str:
    """Return the line of a program's output that most likely says why it failed."""
    lines = said.strip().splitlines() or ["it said nothing"]
    errors = [line for line in lines if "error" in line.lower() or "fatal" in line.lower()]
    reasons = [line for line in errors if not line.endswith("Aborting")]
    return (reasons or errors or lines)[-1].strip()


def _kill(family: Sequence[psutil.Process]) -> None:
    for member in family:
        with suppress(psutil.NoSuchProcess):
            member.kill()
    # Their new parent may take its time to collect them: it is enough that they are dead.
    while any(_lives(member) for member in family[1:]):
        time.sleep(_PAUSE_S)


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
