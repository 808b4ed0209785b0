"""Savers that follow a wrong path through a delta channel's history, or skip steps of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, Shelf, WriteRow
from saverproof.mistakes.registry import mistake

WALK = "delta-history/matches-walk"
ENDS = "delta-history/ends"
History = dict[str, Any]


class WalkInParts(ReferenceSaver):
    """A base saver that lets subclasses override the parts of a walk."""

    def _writes_to(self, row: CheckpointRow, channel: str) -> list[tuple[str, str, Any]]:
        writes: list[WriteRow] = self._writes_of(self._shelf(row.thread, row.ns), row)
        return [
            (w.task_id, w.channel, self._load_write(w.value))
            for w in writes
            if w.channel == channel
        ]


@mistake(WALK, "WHERE checkpoint_id < ? ORDER BY checkpoint_id DESC, over all forks")
class HistoryById(ReferenceSaver):
    def _walk(self, shelf: Shelf, target: CheckpointRow) -> Iterator[CheckpointRow]:
        older = sorted(id for id in shelf.checkpoints if id < target.id)
        return (shelf.checkpoints[id] for id in reversed(older))


@mistake(WALK, "the walk begins at the target")
class HistoryWithTheTarget(ReferenceSaver):
    def _walk(self, shelf: Shelf, target: CheckpointRow) -> Iterator[CheckpointRow]:
        return chain([target], super()._walk(shelf, target))


@mistake(WALK, "the target's own writes are taken for part of the path")
class HistoryWithTheTargetsWrites(WalkInParts):
    def _channel_history(self, target: CheckpointRow | None, channel: str) -> History:
        history = super()._channel_history(target, channel)
        if target is not None:
            history["writes"] += self._writes_to(target, channel)
        return history


@mistake(WALK, "the writes of the seed's own checkpoint are left out")
class HistoryWithoutTheSeedsWrites(WalkInParts):
    def _channel_history(self, target: CheckpointRow | None, channel: str) -> History:
        history = super()._channel_history(target, channel)
        if target is not None and "seed" in history:
            shelf = self._shelf(target.thread, target.ns)
            rows = self._walk(shelf, target)
            seed = next(row for row in rows if self._blobs(shelf, row).get(channel))
            history["writes"] = history["writes"][len(self._writes_to(seed, channel)) :]
        return history


@mistake(WALK, "newest first, as the walk found them")
class HistoryNewestFirst(ReferenceSaver):
    def _channel_history(self, target: CheckpointRow | None, channel: str) -> History:
        history = super()._channel_history(target, channel)
        history["writes"].reverse()
        return history


@mistake(WALK, "the walk ends for all channels at the first seed")
class HistoryEndsAtTheFirstSeed(ReferenceSaver):
    def get_delta_channel_history(
        self, *, config: Any, channels: Sequence[str]
    ) -> Mapping[str, Any]:
        self.__dict__["asked"] = list(channels)
        return super().get_delta_channel_history(config=config, channels=channels)

    def _walk(self, shelf: Shelf, target: CheckpointRow) -> Iterator[CheckpointRow]:
        asked = self.__dict__["asked"]
        for row in super()._walk(shelf, target):
            yield row
            if any(self._blobs(shelf, row).get(channel) for channel in asked):
                return


@mistake(WALK, "without an id there is no target")
class HistoryNeedsAnId(ReferenceSaver):
    def _channel_history(self, target: CheckpointRow | None, channel: str) -> History:
        return super()._channel_history(target if self.__dict__["named"] else None, channel)

    def get_delta_channel_history(
        self, *, config: Any, channels: Sequence[str]
    ) -> Mapping[str, Any]:
        self.__dict__["named"] = self._asked_id(config)
        return super().get_delta_channel_history(config=config, channels=channels)


@mistake(WALK, "the oldest value is the seed")
class HistorySeedsAtTheRoot(ReferenceSaver):
    def _channel_history(self, target: CheckpointRow | None, channel: str) -> History:
        history = super()._channel_history(target, channel)
        if target is not None and "seed" in history:
            shelf = self._shelf(target.thread, target.ns)
            blobs = [self._blobs(shelf, row).get(channel) for row in self._walk(shelf, target)]
            oldest = [blob for blob in blobs if blob is not None][-1]
            history["seed"] = self._load_value(oldest)
        return history


@mistake(WALK, "the walk goes on to the root, past the seed")
class HistoryGoesPastTheSeed(WalkInParts):
    def _channel_history(self, target: CheckpointRow | None, channel: str) -> History:
        history = super()._channel_history(target, channel)
        if target is not None:
            rows = list(self._walk(self._shelf(target.thread, target.ns), target))
            history["writes"] = [w for row in rows[::-1] for w in self._writes_to(row, channel)]
        return history


@mistake(WALK, "channels without a history are left out of the answer")
class HistoryLeavesChannelsOut(ReferenceSaver):
    def get_delta_channel_history(
        self, *, config: Any, channels: Sequence[str]
    ) -> Mapping[str, Any]:
        found = super().get_delta_channel_history(config=config, channels=channels)
        return {c: history for c, history in found.items() if history != {"writes": []}}


@mistake(WALK, "where no ancestor has a value, the seed is None, and not left out")
class HistorySeedsOfNone(ReferenceSaver):
    def _channel_history(self, target: CheckpointRow | None, channel: str) -> History:
        return {"seed": None, **super()._channel_history(target, channel)}


class ReadsWritesAnew(WalkInParts):
    """A base saver whose histories have a query of their own for a checkpoint's writes."""

    def _read_anew(self, writes: list[WriteRow]) -> list[WriteRow]:
        return writes

    def _writes_of(self, shelf: Shelf, row: CheckpointRow) -> list[WriteRow]:
        writes = super()._writes_of(shelf, row)
        return self._read_anew(writes) if self.__dict__.get("walking") else writes

    def _channel_history(self, target: CheckpointRow | None, channel: str) -> History:
        self.__dict__["walking"] = True
        try:
            return super()._channel_history(target, channel)
        finally:
            self.__dict__["walking"] = False


@mistake(WALK, "a task's writes to a channel are taken once a checkpoint: the last")
class HistoryOneWritePerTask(ReadsWritesAnew):
    def _read_anew(self, writes: list[WriteRow]) -> list[WriteRow]:
        return list({(w.task_id, w.channel): w for w in writes}.values())


@mistake(WALK, "in histories ORDER BY task_path, idx, without the task")
class HistoryByPathAndIndex(ReadsWritesAnew):
    def _read_anew(self, writes: list[WriteRow]) -> list[WriteRow]:
        return sorted(writes, key=lambda write: (write.path, write.index))


def _round_and_round(shelf: Shelf, row: CheckpointRow) -> Iterator[CheckpointRow]:
    """Follow parents without a check whether a checkpoint was visited before."""
    while row.parent in shelf.checkpoints:
        row = shelf.checkpoints[row.parent]
        yield row


@mistake(ENDS, "while parent is not None: a loop of parents has no end")
class HistoryGoesRound(ReferenceSaver):
    def _walk(self, shelf: Shelf, target: CheckpointRow) -> Iterator[CheckpointRow]:
        return _round_and_round(shelf, target)


@mistake(ENDS, "prune follows the changes that it must keep, past where it began")
class PruneGoesRound(ReferenceSaver):
    def _delta_chain(self, shelf: Shelf, row: CheckpointRow) -> set[str]:
        missing, chain = self._delta_channels(shelf, row), set[str]()
        for ancestor in _round_and_round(shelf, row) if missing else ():
            if missing:
                chain.add(ancestor.id)
                missing -= self._held(shelf, ancestor)
        return chain
