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
    fewest_done = 2  # what leaves a saver broken at once is told by other families

    def __init__(self, saver: Any) -> None:
        self.saver = saver
        self.kept = Chain(saver, "kept")
        for _ in range(8):
            self.kept.step()
        self.kept.put(log=["what was stored"])
        self.kept.delta()

    def asked(self, place: Any) -> Any:
        """Return a config with texts of its own, as each request brings them: of shared ones, what
        a saver keeps would be too little to be told from noise.
        """
        given = place["configurable"].items()
        own = {name: f"{text} "[:-1] if isinstance(text, str) else text for name, text in given}
        return {"configurable": own}


class Puts(Work):
    """put, put_writes and delete_thread of a new thread"""

    def once(self, number: int) -> None:
        chain = Chain(self.saver, f"passing-{number:08}")
        chain.step()
        self.saver.delete_thread(chain.thread)


class PutsAgain(Work):
    """put of the same checkpoint twice, a question and an empty batch"""

    def once(self, number: int) -> None:
        chain = Chain(self.saver, f"twice-{number:08}")
        given = chain.arguments(text="put twice")
        chain.configs += [self.saver.put(*given), self.saver.put(*given)]
        chain.write("__interrupt__", "a question")
        self.saver.put_writes(chain.configs[-1], [], "task")
        self.saver.delete_thread(chain.thread)


class Gets(Work):
    """get_tuple"""

    def once(self, number: int) -> None:
        for place in (self.kept.configs[1], self.kept.place):
            self.saver.get_tuple(self.asked(place))


class FirstGets(Work):
    """get_tuple and list of a new thread, which is deleted then"""

    def once(self, number: int) -> None:
        chain = Chain(self.saver, f"read-{number:08}")
        for each in range(2):
            # New values: a cache may be by what they are.
            chain.put(text=f"text {each} of {chain.thread}")
            chain.write(value=f"write {each} of {chain.thread}")
        for place in (chain.place, *chain.configs):
            self.saver.get_tuple(place)
        list(self.saver.list(chain.place))
        self.saver.delete_thread(chain.thread)


class Listings(Work):
    """list"""

    def once(self, number: int) -> None:
        list(self.saver.list(self.asked(self.kept.place), limit=5))


class UnknownThreads(Work):
    """get_tuple and list of eight threads that are not there"""

    def once(self, number: int) -> None:
        # What is kept for one of them, a lock for example, is too little to be told from noise.
        for each in range(8):
            place = Chain(self.saver, f"unknown-{number:08}-{each}").place
            self.saver.get_tuple(place)
            list(self.saver.list(place, limit=1))


class Searches(Work):
    """list with a filter, before a checkpoint"""

    def once(self, number: int) -> None:
        place, before = self.asked(self.kept.place), self.asked(self.kept.configs[-1])
        list(self.saver.list(place, filter={"source": "loop"}, before=before, limit=5))


class LeftListings(Work):
    """list, left after its first item"""

    def once(self, number: int) -> None:
        leave(self.saver, self.asked(self.kept.place))


class DeltaHistories(Work):
    """get_delta_channel_history"""

    def once(self, number: int) -> None:
        config = self.asked(self.kept.configs[-1])
        self.saver.get_delta_channel_history(config=config, channels=["log"])


class Copies(Work):
    """copy_thread"""

    def once(self, number: int) -> None:
        copy = f"copy-{number:08}"
        self.saver.copy_thread(self.kept.thread, copy)
        self.saver.delete_thread(copy)


class Prunes(Work):
    """prune"""

    def once(self, number: int) -> None:
        chain = Chain(self.saver, "pruned")
        chain.numbers = iter(range(1, 4))
        chain.step()
        chain.put(text="the newest")
        self.saver.prune([chain.thread], strategy="keep_latest")
        self.saver.prune([chain.thread], strategy="delete")


class RunDeletions(Work):
    """delete_for_runs"""

    def once(self, number: int) -> None:
        chain = Chain(self.saver, f"of-one-run-{number:08}")
        chain.step()
        self.saver.delete_for_runs([f"run-{chain.thread}"])
        self.saver.delete_thread(chain.thread)


class Failures(Work):
    """put and put_writes of a value that cannot be serialized"""

    raised: list[type[Exception]] | None = None

    def once(self, number: int) -> None:
        chain, value, raised = Chain(self.saver, f"failing-{number:08}"), threading.Lock(), []
        chain.numbers = iter([1])
        for fails in (
            lambda: chain.put(value=value),
            lambda: self.saver.put_writes(self.kept.configs[-1], [("a", value)], "task"),
        ):
            try:
                fails()
            except Exception as error:
                if self.raised is not None and type(error) not in self.raised:
                    # The saver has run out of something, and does not come as far as the value.
                    raise
                raised.append(type(error))
        self.raised = raised if self.raised is None else self.raised
        with suppress(Exception):
            # Not each saver has it. What is kept for a thread may stay until it is deleted.
            self.saver.delete_thread(chain.thread)


class Cancelling(Work):
    """A call that is cancelled at each of its waits in turn.

    The eighth wait is the last: calls of few statements wait seldom more often, and each wait has
    to come often enough to be told from a pool that fills.
    """

    wait, last_wait = 1, 8

    def cancel(self, operation: str, *arguments: Any, **named: Any) -> None:
        """Cancel a call of the async API at the next of its waits."""
        struck = self.saver.cancel(operation, arguments, named, self.wait)
        self.wait = self.wait % self.last_wait + 1 if struck else 1


class Cancellations(Cancelling):
    """put, cancelled"""

    def once(self, number: int) -> None:
        chain = Chain(self.saver, f"cancelled-{number:08}")
        chain.numbers = iter([1])
        self.cancel("put", *chain.arguments(text="never"))
        self.saver.delete_thread(chain.thread)


class CancelledWrites(Cancelling):
    """put_writes, cancelled"""

    def once(self, number: int) -> None:
        # One task: of its writes, the first is stored, and no other.
        self.cancel("put_writes", self.kept.configs[-1], [("text", "never")], "task")


class CancelledGets(Cancelling):
    """get_tuple, cancelled"""

    def once(self, number: int) -> None:
        self.cancel("get_tuple", self.kept.place)


class CancelledListings(Cancelling):
    """list, cancelled"""

    def once(self, number: int) -> None:
        self.cancel("list", self.kept.place)


class CancelledHistories(Cancelling):
    """get_delta_channel_history, cancelled"""

    def once(self, number: int) -> None:
        config = self.kept.configs[-1]
        self.cancel("get_delta_channel_history", config=config, channels=["log"])


class CancelledDeletions(Cancelling):
    """delete_thread, cancelled"""

    def once(self, number: int) -> None:
        chain = Chain(self.saver, "deleted")
        chain.numbers = iter(range(1, 3))
        chain.step()
        self.cancel("delete_thread", chain.thread)


class Failing(Work):
    """A call that fails in its database, at its last statement.

    The same statement fails each time: what leaves a saver broken shows at the next call, and is
    told by other families. It has no script, since the fault is made in the driver.
    """

    fewest_done = 3  # the first time, nothing fails


class FailedPuts(Failing):
    """put, failed by its database"""

    def once(self, number: int) -> None:
        chain = Chain(self.saver, f"failed-{number:08}")
        chain.numbers = iter([1])
        self.saver.fail("put", *chain.arguments(text="never"))
        self.saver.delete_thread(chain.thread)


class FailedWrites(Failing):
    """put_writes, failed by its database"""

    def once(self, number: int) -> None:
        self.saver.fail("put_writes", self.kept.configs[-1], [("text", "never")], "task")


class FailedGets(Failing):
    """get_tuple, failed by its database"""

    def once(self, number: int) -> None:
        self.saver.fail("get_tuple", self.kept.place)


class FailedListings(Failing):
    """list, failed by its database"""

    def once(self, number: int) -> None:
        self.saver.fail("list", self.kept.place)


class FailedDeletions(Failing):
    """delete_thread, failed by its database"""

    def once(self, number: int) -> None:
        chain = Chain(self.saver, "deleted-in-vain")
        chain.numbers = iter(range(1, 3))
        chain.step()
        self.saver.fail("delete_thread", chain.thread)


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
            PutsAgain,
            Gets,
            FirstGets,
            Listings,
            Searches,
            LeftListings,
            DeltaHistories,
            Copies,
            Prunes,
            RunDeletions,
            Failures,
            Cancellations,
            CancelledWrites,
            CancelledGets,
            CancelledListings,
            CancelledHistories,
            CancelledDeletions,
            FailedPuts,
            FailedWrites,
            FailedGets,
            FailedListings,
            FailedDeletions,
            Openings,
            UnknownThreads,
        )
    }
)
"""The kinds of work by name."""
NEEDS: Mapping[type[Work], frozenset[str]] = MappingProxyType(
    {
        Puts: frozenset({"delete_thread"}),
        PutsAgain: frozenset({"delete_thread"}),
        FirstGets: frozenset({"delete_thread"}),
        Copies: frozenset({"copy_thread", "delete_thread"}),
        Prunes: frozenset({"prune"}),
        RunDeletions: frozenset({"delete_for_runs", "delete_thread"}),
        Cancellations: frozenset({"delete_thread"}),
        CancelledDeletions: frozenset({"delete_thread"}),
        FailedPuts: frozenset({"delete_thread"}),
        FailedDeletions: frozenset({"delete_thread"}),
        DeltaHistories: frozenset({"delta_history"}),
        CancelledHistories: frozenset({"delta_history"}),
    }
)
"""The operations that kinds of work need, beside the usual ones."""
