"""Stores that grow in one respect each.

Scripts hold the source of these classes and of ``Chain``, so that they use nothing of the kit.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from saverproof.families.chain import Chain


class GrowingStore:
    """A store that grows. ``asked`` is the chain that questions are about, ``beside`` another
    chain.

    ``grow`` lets the store grow to a size. ``doomed`` is a chain of ``doomed_size`` checkpoints
    that the next question removes, prunes or copies.
    """

    grow: Callable[[int], None]
    doomed: Chain
    doomed_size = 8

    def __init__(self, saver: Any) -> None:
        self.saver = saver
        self.asked, self.beside = Chain(saver, "asked"), Chain(saver, "beside")
        for chain in (self.beside, self.asked):
            chain.put(topic="the same in all checkpoints")
            for _ in range(15):
                chain.step()


class Checkpoints(GrowingStore):
    """There are ever more checkpoints in the thread that is asked for."""

    def grow(self, size: int) -> None:
        while len(self.asked.configs) < size:
            self.asked.step()


class Threads(GrowingStore):
    """There are ever more other threads."""

    others = 0

    def grow(self, size: int) -> None:
        while self.others < size:
            # Some before and some after the thread that is asked for, in whatever order. With one
            # checkpoint each, planners would take an id of a thread for one of a row.
            chain = Chain(self.saver, f"{'az'[self.others % 2]}-{self.others:08}")
            for _ in range(2):
                chain.step()
            self.others += 1


class Namespaces(GrowingStore):
    """The thread has ever more other namespaces."""

    others = 0

    def grow(self, size: int) -> None:
        while self.others < size:
            Chain(self.saver, "asked", f"node:{self.others:08}").step()
            self.others += 1


class PendingWrites(GrowingStore):
    """The newest checkpoint has ever more writes."""

    writes = 0

    def grow(self, size: int) -> None:
        while self.writes < size:
            self.asked.write()
            self.writes += 1


class Channels(GrowingStore):
    """The checkpoints have ever more channels that do not change."""

    def grow(self, size: int) -> None:
        self.asked.put(**{f"channel_{number:04}": f"value {number}" for number in range(size)})


class UnchangedValue(GrowingStore):
    """A channel that does not change is ever larger."""

    def grow(self, size: int) -> None:
        self.asked.put(document=random.Random(size).randbytes(size // 2).hex())


class Limit(GrowingStore):
    """The store stays as it is: the measured question asks for ever more of its checkpoints."""

    def grow(self, size: int) -> None:
        while len(self.asked.configs) < 80:
            self.asked.step()


class LargeValues(GrowingStore):
    """The checkpoints that a filter leaves out have ever larger values."""

    def grow(self, size: int) -> None:
        self.asked = Chain(self.saver, f"asked-{size:08}")
        for _ in range(16):
            self.asked.step()
        for number in range(48):
            self.asked.put(document=random.Random(number).randbytes(size // 2).hex())


class BeforeSeed(GrowingStore):
    """A delta channel has ever more history before its newest stored value."""

    def grow(self, size: int) -> None:
        while len(self.asked.configs) < size:
            self.asked.delta()
        self.asked.put(log=["what was stored"])
        for _ in range(8):
            self.asked.delta()


class SinceSeed(GrowingStore):
    """A delta channel has ever more history since its only stored value."""

    def grow(self, size: int) -> None:
        if "log" not in self.asked.values:
            self.asked.put(log=["what was stored"])
        while len(self.asked.configs) < size + 17:
            self.asked.delta()


class AfterTarget(SinceSeed):
    """The delta channel of an old checkpoint is asked for, with ever more checkpoints after it."""


class ThreadSize(GrowingStore):
    """The thread that is removed, pruned or copied has ever more checkpoints."""

    def grow(self, size: int) -> None:
        self.doomed_size = size


class Rounds(GrowingStore):
    """Checkpoints come and go, in ever more rounds."""

    rounds = 0

    def grow(self, size: int) -> None:
        while self.rounds < size:
            self.rounds += 1
            chain = self.filled()
            self.remove(chain)

    def filled(self) -> Chain:
        """Return a chain of 16 checkpoints, each with a value of 8 KiB of its own and a write."""
        chain = self.begun()
        for number in range(16):
            content = random.Random(16 * self.rounds + number).randbytes(4_096).hex()
            chain.put(document=content)
            chain.write()
        return chain

    def begun(self) -> Chain:
        return Chain(self.saver, f"round-{self.rounds:08}")

    def remove(self, chain: Chain) -> None:
        self.saver.delete_thread(chain.thread)


class RoundsOfRuns(Rounds):
    """Checkpoints come and go by runs, in ever more rounds."""

    def remove(self, chain: Chain) -> None:
        self.saver.delete_for_runs([f"run-{chain.thread}"])


class RoundsOfPruning(Rounds):
    """Checkpoints of one thread come and are pruned, in ever more rounds."""

    def begun(self) -> Chain:
        return self.beside

    def remove(self, chain: Chain) -> None:
        self.saver.prune([chain.thread], strategy="keep_latest")


class RoundsOfRetries(Rounds):
    """Checkpoints come and go, in ever more rounds, and each is put twice: as after an answer that
    was lost.
    """

    def filled(self) -> Chain:
        """Return a chain of 16 checkpoints, each with a value of 4 KiB of its own, and with an
        answer to an interrupt that was given anew.
        """
        chain = self.begun()
        for number in range(16):
            content = random.Random(16 * self.rounds + number).randbytes(2_048).hex()
            arguments = chain.arguments(document=content)
            chain.configs.append(self.saver.put(*arguments))
            self.saver.put(*arguments)
            for answer in ("no", "yes"):
                resume = [("__resume__", f"{answer}: {content}")]
                self.saver.put_writes(
                    chain.configs[-1], resume, "0dd5a9b1-5a1c-5e0f-9b2d-000000000000"
                )
        return chain


class RoundsOfCopies(Rounds):
    """Checkpoints come, are copied, and go with their copy, in ever more rounds."""

    def remove(self, chain: Chain) -> None:
        copy = f"copy-of-{chain.thread}"
        self.saver.copy_thread(chain.thread, copy)
        # Some savers fail only if the copy, or only if its source, has the last use of a value.
        first_and_last = (chain.thread, copy) if self.rounds % 2 else (copy, chain.thread)
        for thread in first_and_last:
            self.saver.delete_thread(thread)


class RoundsWhileOpen(Rounds):
    """Checkpoints come and go, in ever more rounds, and the saver is never closed."""

    def filled(self) -> Chain:
        """Return a chain of one checkpoint with a value of 256 KiB of its own."""
        chain = self.begun()
        chain.put(document=random.Random(self.rounds).randbytes(1 << 17).hex())
        return chain


class Agent(GrowingStore):
    """An agent takes 32 steps, with a list of tools that does not change and is ever larger."""

    def grow(self, size: int) -> None:
        chain = Chain(self.saver, f"agent-{size:08}")
        chain.put(tools=random.Random(size).randbytes(size // 2).hex())
        for _ in range(31):
            chain.step()


class Chat(GrowingStore):
    """A chat takes ever more turns; all of its messages are one channel."""

    def grow(self, size: int) -> None:
        messages = self.asked.values.get("messages", [])
        while len(messages) < size:
            text = random.Random(len(messages)).randbytes(64).hex()
            messages = [*messages, text]
            self.asked.put(messages=messages)
            self.asked.write("messages", text)


class DeltaChat(GrowingStore):
    """A chat takes ever more turns; its messages are a delta channel."""

    def grow(self, size: int) -> None:
        while len(self.asked.configs) < size:
            self.asked.delta()


# --- questions: each is asked of a store that has grown to a size -----------------------------


def get_by_id(store: GrowingStore, size: int) -> Any:
    """get_tuple of an old and of a new checkpoint by their ids"""
    configs = store.asked.configs
    return [store.saver.get_tuple(config) for config in (configs[1], configs[-2])]


def get_latest(store: GrowingStore, size: int) -> Any:
    """get_tuple of the latest checkpoint"""
    return store.saver.get_tuple(store.asked.place)


def put(store: GrowingStore, size: int) -> Any:
    """put of one more checkpoint"""
    store.asked.put(text="one more")


def put_writes(store: GrowingStore, size: int) -> Any:
    """put_writes of one more write"""
    store.asked.write()


def page(store: GrowingStore, size: int) -> Any:
    """list with limit 10"""
    return list(store.saver.list(store.asked.place, limit=10))


def page_of_size(store: GrowingStore, size: int) -> Any:
    """list with a limit"""
    return list(store.saver.list(store.asked.place, limit=size))


def filtered(store: GrowingStore, size: int) -> Any:
    """list with a filter that one checkpoint fits"""
    return list(store.saver.list(store.asked.place, filter={"step": 3}, limit=1))


def delta_history(store: GrowingStore, size: int) -> Any:
    """get_delta_channel_history of the latest checkpoint"""
    return store.saver.get_delta_channel_history(config=store.asked.configs[-1], channels=["log"])


def old_delta_history(store: GrowingStore, size: int) -> Any:
    """get_delta_channel_history of an old checkpoint"""
    return store.saver.get_delta_channel_history(config=store.asked.configs[24], channels=["log"])


def delete_thread(store: GrowingStore, size: int) -> Any:
    """delete_thread"""
    store.saver.delete_thread(store.doomed.thread)


def delete_for_runs(store: GrowingStore, size: int) -> Any:
    """delete_for_runs of one run"""
    store.saver.delete_for_runs([f"run-{store.doomed.thread}"])


def prune(store: GrowingStore, size: int) -> Any:
    """prune of one thread to its latest checkpoint"""
    store.saver.prune([store.doomed.thread], strategy="keep_latest")


def copy_thread(store: GrowingStore, size: int) -> Any:
    """copy_thread"""
    store.saver.copy_thread(store.doomed.thread, f"copy-of-{store.doomed.thread}")


def kept(store: GrowingStore, size: int) -> Any:
    """the store"""


def kept_while_open(store: GrowingStore, size: int) -> Any:
    """the store, while its saver is open,"""


def doom(store: GrowingStore) -> None:
    """Make another thread, to be removed, pruned or copied."""
    store.doomed = Chain(store.saver, f"doomed-{next(Chain.numbers):08x}")
    for _ in range(store.doomed_size):
        store.doomed.step()
