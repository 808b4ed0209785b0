"""Open a database file: readable by its owner alone, with a write-ahead log, and with repeated
attempts where SQLite itself would not wait for a lock.
"""

import os
import random
import sqlite3
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

JOURNAL_MODES = ("WAL", "DELETE", "TRUNCATE", "PERSIST")
SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")
MEMORY = ":memory:"
_STATEMENTS_KEPT = 256
"""How many prepared statements a connection keeps: enough that none of this saver's is dropped."""
# Half of SQLite's default. A sync costs more while the write-ahead log still grows. Puts are small
# here, so that the log would grow for long before it is folded into the file and reused.
_LOG_PAGES = 500


@dataclass(frozen=True)
class OpenOptions:
    """The options with which connections are opened.

    busy_timeout_ms: how long a statement waits for another connection's lock, in milliseconds.

    synchronous: SQLite's setting of that name. FULL: an acknowledged write survives a power cut.
    NORMAL: it survives a crash of the process, and a power cut may take the writes since the last
    WAL checkpoint. OFF: a power cut may destroy the file.

    journal_mode: SQLite's setting of that name. Under all modes but WAL, readers and writers block
    each other.
    """

    busy_timeout_ms: int = 5000
    synchronous: str = "FULL"
    journal_mode: str = "WAL"

    def __post_init__(self) -> None:
        timeout = self.busy_timeout_ms
        if not isinstance(timeout, int) or isinstance(timeout, bool) or timeout < 0:
            raise ValueError(
                f"busy_timeout_ms: found {timeout!r}, expected milliseconds as a whole number >= 0"
            )
        if self.synchronous not in SYNCHRONOUS:
            raise ValueError(
                f"synchronous: found {self.synchronous!r}, expected one of {', '.join(SYNCHRONOUS)}"
            )
        if self.journal_mode not in JOURNAL_MODES:
            raise ValueError(
                f"journal_mode: found {self.journal_mode!r}, expected one of "
                f"{', '.join(JOURNAL_MODES)}; OFF and MEMORY cannot undo a torn write"
            )


def create_private(path: str) -> None:
    """Make an empty file that only its owner can read, unless the file exists.

    No database file is opened here: closing its descriptor would drop the locks that other
    connections of this process hold on it.
    """
    try:
        if hasattr(os, "mknod"):
            os.mknod(path, stat.S_IFREG | 0o600)
        else:  # pragma: no cover
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError:
        # The file exists, or cannot be made: connecting reports which, in SQLite's own words.
        return


def connect(path: str, options: OpenOptions) -> sqlite3.Connection:
    """Return a connection in autocommit mode, which any thread may use. It creates no file."""
    connection = sqlite3.connect(
        path if path == MEMORY else f"file:{quote(os.fsencode(os.path.abspath(path)))}?mode=rw",
        uri=path != MEMORY,
        timeout=options.busy_timeout_ms / 1000,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=_STATEMENTS_KEPT,
    )
    try:
        connection.execute(f"PRAGMA synchronous={options.synchronous}")
        connection.execute(f"PRAGMA wal_autocheckpoint={_LOG_PAGES}").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def use_journal(connection: sqlite3.Connection, options: OpenOptions) -> None:
    """Switch the file to the journal mode of the options.

    SQLite ignores the busy timeout here, so that of several processes that create a store at once
    some would fail. This waits instead.
    """
    wanted = options.journal_mode.lower()

    def switch() -> None:
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != wanted:
            connection.execute(f"PRAGMA journal_mode={wanted}").fetchone()

    patiently(switch, options.busy_timeout_ms)


def patiently(action: Callable[[], None], busy_timeout_ms: int) -> None:
    """Repeat ``action`` while the database is busy, for at most the busy timeout."""
    deadline = time.monotonic() + busy_timeout_ms / 1000
    while True:
        try:
            action()
        except sqlite3.OperationalError as error:
            # The lowest byte is the primary code: BUSY also comes as BUSY_RECOVERY and others.
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() >= deadline:
                raise
        else:
            return
        time.sleep(random.uniform(0.001, 0.02))
