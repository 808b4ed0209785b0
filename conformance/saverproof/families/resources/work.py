"""The kinds of work that a saver repeats, after which nothing of it may be left.

Scripts contain the source of these classes, so they use nothing of the kit, and only what this
module imports.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any

from saverproof.families.chain import Chain


def leave(saver: Any, place: Any) -> Any:
    """Take one item of a listing and leave it."""
    first = getattr(saver, "first", None)  # the async API has no plain iterators
    return first(place) if first else next(iter(saver.list(place)), None)


class Work:
    """A kind of work: ``once`` does something and undoes it. ``kept`` is a thread that always
    exists.
    """

    once: Callable[[int], None]

    def __init__(self, saver: Any) -> None:
        self.saver = saver
        self.kept = Chain(saver, "kept")
        for _ in range(8):
            self.kept.step()
        self.kept.put(log=["what was stored"])
        self.kept.delta()


class Puts(Work):
    """put, put_writes and delete_thread of a new thread"""

    def once(self, number: int) -> None:
        chain = Chain(self.saver, f"passing-{number:08}")
        chain.step()
        self.saver.delete_thread(chain.thread)


class Gets(Work):
    """get_tuple"""

    def once(self, number: int) -> None:
        for place in (self.kept.configs[1], self.kept.place):
            self.saver.get_tuple(place)


class Listings(Work):
    """list"""

    def once(self, number: int) -> None:
        list(self.saver.list(self.kept.place, limit=5))


class LeftListings(Work):
    """list, left after its first item"""

    def once(self, number: int) -> None:
        leave(self.saver, self.kept.place)


class DeltaHistories(Work):
    """get_delta_channel_history"""

    def once(self, number: int) -> None:
        self.saver.get_delta_channel_history(config=self.kept.configs[-1], channels=["log"])


class Failures(Work):
    """put and put_writes of a value that cannot be serialized"""

    def once(self, number: int) -> None:
        chain = Chain(self.saver, "failing")
        chain.numbers = iter([1])
        with suppress(Exception):
            chain.put(value=threading.Lock())
        with suppress(Exception):
            self.saver.put_writes(self.kept.configs[-1], [("a", threading.Lock())], "task")


class Cancellations(Work):
    """put, cancelled"""

    def once(self, number: int) -> None:
        chain = Chain(self.saver, "cancelled")
        chain.numbers = iter([1])
        self.saver.cancel("put", chain.arguments(text="never"), number % 8)
        self.saver.delete_thread(chain.thread)


class Openings(Work):
    """opening and closing the saver"""

    def once(self, number: int) -> None:
        self.saver.reopen()
        self.saver.get_tuple(self.kept.place)


WORKS: Mapping[str, type[Work]] = MappingProxyType(
    {
        work.__name__: work
        for work in (
            Puts,
            Gets,
            Listings,
            LeftListings,
            DeltaHistories,
            Failures,
            Cancellations,
            Openings,
        )
    }
)
"""The kinds of work by name."""
NEEDS: Mapping[type[Work], str] = MappingProxyType(
    {
        Puts: "delete_thread",
        Cancellations: "delete_thread",
        DeltaHistories: "delta_history",
    }
)
"""The operation that each kind of work needs, beside the usual ones."""
