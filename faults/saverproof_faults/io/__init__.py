"""SQLite's file I/O, watched and failed from inside the process.

A shim of SQLite's VFS sees every open, write, sync, truncate and delete of files below one folder,
whoever opened the connection (aiosqlite and SQLAlchemy included). It is made by ctypes in the
library that the standard ``sqlite3`` module uses. It needs no compiler, no preloading and no
privileges; ``available()`` gives the reason where a Python hides the library's symbols.

    reason = available()
    if reason is None:
        with IoWatch(folder) as watch:
            connection = sqlite3.connect(folder / "a.db")
            watch.arm(IoFault(place=3, failure=Failure.DISK_FULL, kind=IoKind.WRITE))
            ...                       # the third write from here on fails with SQLITE_FULL
            assert watch.fired        # a plan that never fired has tested nothing

``Recorder`` keeps the bytes as well; ``saverproof_faults.power`` makes disk images from them.
"""

from saverproof_faults.io.calls import (
    Entry,
    IoCall,
    IoKind,
    Mark,
    MarkKind,
    NameCall,
    NameKind,
    Recording,
)
from saverproof_faults.io.library import available
from saverproof_faults.io.plan import Extent, Failure, IoAction, IoEach, IoFault
from saverproof_faults.io.watch import SHARED_MEMORY, IoWatch, Recorder, files_below

__all__ = [
    "SHARED_MEMORY",
    "Entry",
    "Extent",
    "Failure",
    "IoAction",
    "IoCall",
    "IoEach",
    "IoFault",
    "IoKind",
    "IoWatch",
    "Mark",
    "MarkKind",
    "NameCall",
    "NameKind",
    "Recorder",
    "Recording",
    "available",
    "files_below",
]
