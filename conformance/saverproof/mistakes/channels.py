"""Savers that store channel values by version, and get it wrong."""

from __future__ import annotations

import random
import uuid
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

from langgraph.checkpoint.base import Checkpoint

from saverproof.mistakes.reference.reading import Blobs
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import Blob, CheckpointRow, Shelf
from saverproof.mistakes.registry import mistake

Values = dict[Hashable, Blob | None]


class OwnValues(ReferenceSaver):
    """A base saver that keeps a copy of the values for each checkpoint, so that it can lose
    some.
    """

    def _value_key(self, row: CheckpointRow, channel: str, version: Any) -> Hashable:
        return (row.id, channel)


@mistake(
    "channels/unchanged-carried",
    "only the new versions are stored, and only they are read",
    also={"deletion/prune-drops-older"},
)
class OnlyNewValues(OwnValues):
    def _values_to_store(self, shelf: Shelf, row: Any, checkpoint: Any, new: Any) -> Values:
        values = super()._values_to_store(shelf, row, checkpoint, new)
        return {(row.id, channel): values.get((row.id, channel)) for channel in new}


@mistake(
    "channels/unchanged-carried",
    "what is unchanged is looked up on the parent, no further",
    also={"deletion/prune-latest", "deletion/runs", "upsert/put-replaces"},
)
class UnchangedFromTheParentOnly(OnlyNewValues):
    def _blobs(self, shelf: Shelf, row: CheckpointRow) -> Blobs:
        blobs = super()._blobs(shelf, row)
        parent = shelf.checkpoints.get(row.parent or "")
        for channel in blobs:
            if (row.id, channel) not in shelf.values and parent is not None:
                blobs[channel] = shelf.values.get((parent.id, channel))
        return blobs


@mistake(
    "channels/unchanged-carried",
    "channels of before this run are not carried on",
    also={"deletion/prune-drops-older"},
)
class UnchangedOnlyIfUpdated(ReferenceSaver):
    def _blobs(self, shelf: Shelf, row: CheckpointRow) -> Blobs:
        updated = self._load_fields(row.checkpoint).get("updated_channels")
        blobs = super()._blobs(shelf, row)
        return {c: blob for c, blob in blobs.items() if updated is None or c in updated}


# The value of an earlier version is then also the later one's.
LATER = {"channels/unchanged-carried", "channels/dropped-stays-dropped", "channels/copy-fork"}


@mistake("channels/history-immutable", "values keyed by channel, without the version", also=LATER)
class ValuesByChannel(ReferenceSaver):
    def _value_key(self, row: CheckpointRow, channel: str, version: Any) -> Hashable:
        return channel


@mistake("channels/history-immutable", "integer versions: two forks mint the same one", also=LATER)
class IntegerVersions(ReferenceSaver):
    def get_next_version(self, current: Any, channel: None) -> Any:
        return 1 if current is None else current + 1


@mistake(
    "channels/history-immutable",
    "integer versions, and only what is new is stored: a fork's drop is the other's",
    also=LATER,
)
class IntegerVersionsOfNewValues(IntegerVersions):
    def _values_to_store(self, shelf: Shelf, row: Any, checkpoint: Any, new: Any) -> Values:
        given = super()._values_to_store(shelf, row, checkpoint, new)
        fresh = {self._value_key(row, channel, row.versions[channel]) for channel in new}
        return {key: blob for key, blob in given.items() if key in fresh}


@mistake(
    "channels/history-immutable", "the version's number is the key, its tail is cut", also=LATER
)
class VersionTailCut(ReferenceSaver):
    def _value_key(self, row: CheckpointRow, channel: str, version: Any) -> Hashable:
        return (channel, str(version).split(".")[0])


@mistake("channels/history-immutable", "the parent's row is updated with the child's values")
class ParentUpdatedInPlace(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        if (parent := shelf.checkpoints.get(row.parent or "")) and parent.id != row.id:
            shelf.checkpoints[parent.id] = replace(parent, versions=row.versions)
        super()._store_checkpoint(shelf, row)


@mistake("channels/copy-fork", "`if not new_versions: return`: nothing new, nothing to store")
class NothingNewNothingStored(ReferenceSaver):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        if checkpoint["channel_versions"] and not new_versions:
            ns = self._ns_or_root(config)
            return self._address(self._thread_of(config), ns, checkpoint["id"])
        return super().put(config, checkpoint, metadata, new_versions)


@mistake("channels/copy-fork", "what is not new is copied from the parent's row")
class UnchangedCopiedFromTheParent(OwnValues):
    def _values_to_store(self, shelf: Shelf, row: Any, checkpoint: Any, new: Any) -> Values:
        values = super()._values_to_store(shelf, row, checkpoint, new)
        parent = shelf.checkpoints.get(row.parent or "")
        for channel in row.versions:
            if channel not in new and parent is not None:
                values[(row.id, channel)] = shelf.values.get((parent.id, channel))
        return values


@mistake(
    "channels/dropped-stays-dropped",
    "a value that is missing is looked up on the ancestors",
    also={"deletion/prune-keeps-delta-chain", "deletion/prune-latest"},
)
class DroppedComesBack(ReferenceSaver):
    def _blobs(self, shelf: Shelf, row: CheckpointRow) -> Blobs:
        blobs = super()._blobs(shelf, row)
        for ancestor in self._ancestors(shelf, row):
            for channel, version in ancestor.versions.items():
                if channel in blobs and blobs[channel] is None:
                    blobs[channel] = shelf.values.get((channel, version))
        return blobs


@mistake(
    "channels/dropped-stays-dropped",
    "{**parent_values, **values}: channels only ever grow",
    also={"deletion/prune-keeps-delta-chain", "deletion/prune-latest"},
)
class ValuesMergedIntoParents(ReferenceSaver):
    def _blobs(self, shelf: Shelf, row: CheckpointRow) -> Blobs:
        parent = shelf.checkpoints.get(row.parent or "")
        carried = {} if parent is None else super()._blobs(shelf, parent)
        own = {c: blob for c, blob in super()._blobs(shelf, row).items() if blob is not None}
        return {**carried, **own}


# The base class takes a None among the values for the seed of a delta channel.
SEED = {"delta-history/matches-walk"}


@mistake(
    "channels/dropped-stays-dropped",
    "a dropped channel comes back as None",
    also=SEED | {"deletion/prune-latest"},
)
class DroppedIsNone(ReferenceSaver):
    def _load_values(self, blobs: Blobs) -> dict[str, Any]:
        return {**dict.fromkeys(blobs), **super()._load_values(blobs)}


@mistake("channels/versions-increase", "text without leading zeros: 10 is below 9")
class UnpaddedVersions(ReferenceSaver):
    def get_next_version(self, current: Any, channel: None) -> Any:
        number, _, tail = super().get_next_version(current, channel).partition(".")
        return f"{int(number)}.{tail}"


@mistake("channels/versions-increase", "a random id: every version is different, none is later")
class RandomVersions(ReferenceSaver):
    def get_next_version(self, current: Any, channel: None) -> Any:
        # Their order is the same in each run: a flaw that comes and goes is unknown, not broken.
        dice = self.__dict__.setdefault("dice", random.Random(0))
        return f"{dice.getrandbits(128):032x}-{uuid.uuid4()}"


@mistake("channels/versions-increase", "the first version is 0, which stands for none")
class FirstVersionIsZero(ReferenceSaver):
    def _value_key(self, row: CheckpointRow, channel: str, version: Any) -> Hashable:
        return (row.id, channel)

    def get_next_version(self, current: Any, channel: None) -> Any:
        return 0 if current is None else current + 1


@mistake("channels/versions-increase", "current + 1 of None")
class NoFirstVersion(ReferenceSaver):
    def get_next_version(self, current: Any, channel: None) -> Any:
        number = int(current.split(".")[0]) if isinstance(current, str) else current + 0
        return super().get_next_version(str(number), channel)


@mistake(
    "channels/versions-increase",
    "a clock with too coarse a tick: the same version twice",
    also={"upsert/put-replaces"},
)
class CoarseClockVersions(OwnValues):
    def get_next_version(self, current: Any, channel: None) -> Any:
        self.store.minted += 1
        return f"{self.store.minted // 4 + 1:032}"


class CountsItself(ReferenceSaver):
    """A base saver whose versions are numbers of its own, whatever the last one was."""

    def get_next_version(self, current: Any, channel: None) -> Any:
        self.__dict__["counter"] = self.__dict__.get("counter", 0) + 1
        return f"{self.__dict__['counter']:032}"


@mistake(
    "channels/versions-increase",
    "a counter of the saver's own, which begins at 1 when reopened",
    # A value is stored over that of another version with the same number.
    also={"upsert/put-replaces"},
)
class CounterOfTheInstance(CountsItself, OwnValues):
    pass


@mistake(
    "channels/versions-increase",
    "a counter that begins at 1 when reopened; what is stored then is stored over earlier values",
    also={"upsert/put-replaces", "lifecycle/reopen", "channels/history-immutable", *LATER},
)
class CounterOverEarlierValues(CountsItself):
    pass


@mistake(
    "channels/versions-increase",
    "the first version is a number, those after it are text",
    also={"upsert/put-replaces"},
)
class VersionsOfTwoTypes(OwnValues):
    def get_next_version(self, current: Any, channel: None) -> Any:
        return 1 if current is None else super().get_next_version(current, channel)


# -- versions that the caller makes -------------------------------------------------------------


class NumbersOfItsOwn(ReferenceSaver):
    """A base saver whose own versions are whole numbers, none of which it makes twice."""

    def get_next_version(self, current: Any, channel: None) -> Any:
        self.store.minted = max(self.store.minted, current or 0) + 1
        return self.store.minted


CALLERS = "channels/versions-of-callers"


@mistake(CALLERS, "a version is stored in a column for whole numbers, which refuses text")
class VersionsInAnIntegerColumn(NumbersOfItsOwn):
    def _fields(self, checkpoint: Checkpoint) -> dict[str, Any]:
        fields = super()._fields(checkpoint)
        versions = checkpoint["channel_versions"]
        return {**fields, "channel_versions": {c: int(v) for c, v in versions.items()}}


@mistake(CALLERS, "the number before the dot is what is stored of a version")
class VersionsKeptAsCounts(NumbersOfItsOwn):
    def _fields(self, checkpoint: Checkpoint) -> dict[str, Any]:
        fields = super()._fields(checkpoint)
        versions = checkpoint["channel_versions"]
        counts = {c: int(str(v).split(".")[0]) for c, v in versions.items()}
        return {**fields, "channel_versions": counts}


@mistake(CALLERS, "values are keyed by the number before the dot, which forks share")
class ValuesByWholeVersion(NumbersOfItsOwn):
    def _value_key(self, row: CheckpointRow, channel: str, version: Any) -> Hashable:
        return (channel, int(str(version).split(".")[0]))
