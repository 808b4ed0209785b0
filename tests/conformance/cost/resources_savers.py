"""Savers of which something stays, or seems to, as targets of the tests of resources."""

from __future__ import annotations

import ctypes
import threading
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.reference.sqlite import SqliteReference
from tests.wrong_savers import WRONG, opener
from tests.wrong_savers.resources import LIBRARY

from saverproof import target

FLAT = "resources/flat"
UNKNOWN = "resources/unknown-threads"
LEAKING = [wrong for wrong in WRONG if wrong.breaks in (FLAT, UNKNOWN)]


class Remembering(SqliteReference):
    """Keeps a hundred checkpoints at most."""

    most = 100

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        answer = super().put(config, checkpoint, metadata, new_versions)
        kept = self.__dict__.setdefault("kept", [])
        kept.append(dict(checkpoint))
        del kept[: -self.most]
        return answer


class RememberingMany(Remembering):
    """Keeps so many that they are not all there after 640 times."""

    most = 1_024


class LocksWhileHeld(SqliteReference):
    """Has a lock for each thread, as long as somebody holds it."""

    def get_tuple(self, config: Any) -> Any:
        locks = self.__dict__.setdefault("locks", weakref.WeakValueDictionary())
        with locks.setdefault(config["configurable"]["thread_id"], NamedLock()).lock:
            return super().get_tuple(config)


class NamedLock:
    """A lock that may be referred to weakly."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


class FileForEachThread(SqliteReference):
    """Keeps a file for each thread until that is deleted, even if nothing is left of its runs."""

    def put(self, config: Any, *arguments: Any) -> Any:
        self.file_of(config["configurable"]["thread_id"]).touch()
        return super().put(config, *arguments)

    def delete_thread(self, thread_id: str) -> None:
        super().delete_thread(thread_id)
        self.file_of(thread_id).unlink(missing_ok=True)

    def file_of(self, thread: str) -> Path:
        return self.database.path.with_name(f"{thread}.lock")


class EndingLate(SqliteReference):
    """Each read starts a thread that Python does not know, and that ends when it has had nothing to
    do for a second.
    """

    def get_tuple(self, config: Any) -> Any:
        thread = ctypes.c_ulong()
        a_second = ctypes.c_void_p(1)
        LIBRARY.pthread_create(ctypes.byref(thread), None, LIBRARY.sleep, a_second)
        LIBRARY.pthread_detach(thread)
        return super().get_tuple(config)


class FillsItsPool(EndingLate):
    """Has a pool of threads as well, which its first reads fill."""

    def get_tuple(self, config: Any) -> Any:
        pool, end = self.__dict__.setdefault("pool", ([], threading.Event()))
        if len(pool) < 120:
            pool.append(threading.Thread(target=end.wait, daemon=True))
            pool[-1].start()
        return super().get_tuple(config)

    def close(self) -> None:
        pool, end = self.__dict__.pop("pool", ([], threading.Event()))
        end.set()
        for thread in pool:
            thread.join()
        super().close()


class Raising(SqliteReference):
    def get_tuple(self, config: Any) -> Any:
        raise RuntimeError("out of order")


class LeavesItsLock(SqliteReference):
    """Does not let go of its lock where a put fails."""

    def put(self, *arguments: Any) -> Any:
        lock = self.__dict__.setdefault("lock_of_puts", threading.Lock())
        lock.acquire()
        answer = super().put(*arguments)
        lock.release()
        return answer


class ReadsOnce(SqliteReference):
    """Keeps what it has read of a checkpoint, and asks its database no more."""

    def get_tuple(self, config: Any) -> Any:
        known = self.__dict__.setdefault("known", {})
        asked = repr(config["configurable"])
        if asked not in known:
            known[asked] = super().get_tuple(config)
        return known[asked]


SAVERS = SimpleNamespace(
    **{wrong.name.replace("-", "_"): target(name=wrong.name)(wrong.make) for wrong in LEAKING},
    plain=target(name="plain")(opener(SqliteReference)),
    locks_while_they_are_held=target(name="locks-while-held")(opener(LocksWhileHeld)),
    remembering=target(name="remembering")(opener(Remembering)),
    remembering_many=target(name="remembering-many")(opener(RememberingMany)),
    file_for_each_thread=target(name="file-for-each-thread")(opener(FileForEachThread)),
    ending_late=target(name="ending-late")(opener(EndingLate)),
    fills_its_pool=target(name="fills-its-pool")(opener(FillsItsPool)),
    raising=target(name="raising")(opener(Raising)),
    reads_once=target(name="reads-once")(opener(ReadsOnce)),
    leaves_its_lock=target(name="leaves-its-lock")(opener(LeavesItsLock)),
)
