"""Savers that forget what nobody uses, each with its mistake; their clock is moved by hand."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, TypeAlias

from langgraph.checkpoint.base import CheckpointTuple

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import ReferenceStore
from saverproof.savers.workspace import Workspace
from tests.wrong_savers.registry import wrong

TTL_S = 3_600
WHOLE = "expiry/whole-or-not-at-all"
STAY = "expiry/used-threads-stay"

StoredPart: TypeAlias = tuple[str, str, str, Hashable]
"""Thread, namespace, kind ("checkpoint", "writes" or "value") and key."""


def pass_time(workspace: Workspace, seconds: float) -> None:
    """Move the clock of the workspace's store on."""
    clock = ReferenceStore.at(workspace.path).extra
    clock["now"] = clock.get("now", 0.0) + seconds


class Expiring(ReferenceSaver):
    """Forgets a thread as a whole, when it was neither written nor read for its time."""

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        self.forget_what_is_due()
        answer = super().put(config, checkpoint, metadata, new_versions)
        self.renew(self.renewed_by_put(self.known(config), new_versions))
        return answer

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        self.forget_what_is_due()
        super().put_writes(config, writes, task_id, task_path)
        self.renew(self.renewed_by_writes(self.known(config)))

    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        self.forget_what_is_due()
        found = super().get_tuple(config)
        if found is not None:
            self.renew(self.renewed_by_read(self.known(config), self._get_ns(config)))
        return found

    def list(self, config: Any, **options: Any) -> Iterator[CheckpointTuple]:
        self.forget_what_is_due()
        yield from super().list(config, **options)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        self.forget_what_is_due()
        super().copy_thread(source_thread_id, target_thread_id)
        copied = [part for part in self._parts() if part[0] == target_thread_id]
        self.renew(self.renewed_by_copy(copied))

    def renewed_by_copy(self, parts: list[StoredPart]) -> list[StoredPart]:
        return parts

    def renewed_by_put(self, parts: list[StoredPart], new_versions: Any) -> list[StoredPart]:
        return parts

    def renewed_by_writes(self, parts: list[StoredPart]) -> list[StoredPart]:
        return parts

    def renewed_by_read(self, parts: list[StoredPart], ns: str) -> list[StoredPart]:
        return parts

    def time_of(self, kind: str) -> float:
        return TTL_S

    def known(self, config: Any) -> list[StoredPart]:
        """Everything that is stored of the config's thread."""
        return [part for part in self._parts() if part[0] == self._thread_of(config)]

    def _parts(self) -> list[StoredPart]:
        found: list[StoredPart] = []
        for shelf in self.store.shelves.values():
            at = shelf.thread, shelf.ns
            found += [(*at, "checkpoint", key) for key in shelf.checkpoints]
            found += [(*at, "writes", key) for key in shelf.writes]
            found += [(*at, "value", key) for key in shelf.values]
        return found

    @property
    def _now(self) -> float:
        return float(self.store.extra.get("now", 0.0))

    def renew(self, parts: list[StoredPart]) -> None:
        used = self.store.extra.setdefault("used", {})
        for part in self._parts():
            if part in parts or part not in used:
                used[part] = self._now

    def forget_what_is_due(self) -> None:
        used = self.store.extra.setdefault("used", {})
        for shelf in self.store.shelves.values():
            kinds: dict[str, dict[Any, Any]] = {
                "checkpoint": shelf.checkpoints,
                "writes": shelf.writes,
                "value": shelf.values,
            }
            for kind, stored in kinds.items():
                for key in list(stored):
                    part = shelf.thread, shelf.ns, kind, key
                    if self._is_due(part):
                        del stored[key], used[part]

    def _is_due(self, part: StoredPart) -> bool:
        used = self.store.extra.setdefault("used", {})
        return bool(self._now - used.get(part, self._now) > self.time_of(part[2]))


@wrong(WHOLE, "pending writes expire before their checkpoint")
class WritesExpireFirst(Expiring):
    def time_of(self, kind: str) -> float:
        return TTL_S / 2 if kind == "writes" else TTL_S


@wrong(WHOLE, "reading begins the time of the checkpoint anew, and not that of its writes")
class ReadsRenewNoWrites(Expiring):
    def renewed_by_read(self, parts: list[StoredPart], ns: str) -> list[StoredPart]:
        return [part for part in parts if part[2] != "writes"]


@wrong(WHOLE, "reading begins the time of the checkpoint anew, and not that of its values")
class ReadsRenewNoValues(Expiring):
    def renewed_by_read(self, parts: list[StoredPart], ns: str) -> list[StoredPart]:
        return [part for part in parts if part[2] != "value"]


@wrong(WHOLE, "values that stay unchanged keep the time at which they were first stored")
class UnchangedValuesExpire(Expiring):
    def renewed_by_put(self, parts: list[StoredPart], new_versions: Any) -> list[StoredPart]:
        return [part for part in parts if part[2] != "value"]


@wrong(WHOLE, "reading begins the time of its namespace anew, and not that of the subgraphs")
class ReadsRenewOneNamespace(Expiring):
    def renewed_by_read(self, parts: list[StoredPart], ns: str) -> list[StoredPart]:
        return [part for part in parts if part[1] == ns]


@wrong(STAY, "pending writes have a time of their own, and that of their checkpoint goes on")
class WritesRenewNothing(Expiring):
    def renewed_by_writes(self, parts: list[StoredPart]) -> list[StoredPart]:
        return [part for part in parts if part[2] == "writes"]


@wrong(STAY, "reading is said to begin the time anew, and does not")
class ReadsRenewNothing(Expiring):
    def renewed_by_read(self, parts: list[StoredPart], ns: str) -> list[StoredPart]:
        return []


@wrong(WHOLE, "a pending write begins the time of its checkpoint anew, and not that of its values")
class WritesRenewNoValues(Expiring):
    def renewed_by_writes(self, parts: list[StoredPart]) -> list[StoredPart]:
        return [part for part in parts if part[2] != "value"]


@wrong(
    WHOLE, "a pending write begins the time of its checkpoint anew, and not that of other writes"
)
class WritesRenewNoOtherWrites(Expiring):
    def renewed_by_writes(self, parts: list[StoredPart]) -> list[StoredPart]:
        return [part for part in parts if part[2] != "writes"]


@wrong(STAY, "a put begins the time of its namespace anew, and not that of the waiting root")
class PutsRenewOneNamespace(Expiring):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        self.forget_what_is_due()
        answer = ReferenceSaver.put(self, config, checkpoint, metadata, new_versions)
        ns = self._get_ns(config)
        self.renew([part for part in self.known(config) if part[1] == ns])
        return answer


@wrong(STAY, "everything expires after half of the time that is said")
class HalfOfItsTime(Expiring):
    def time_of(self, kind: str) -> float:
        return TTL_S / 2


@wrong(STAY, "the time of a thread begins with its first put, and never anew")
class TimeBeginsOnce(Expiring):
    def renew(self, parts: list[StoredPart]) -> None:
        used = self.store.extra.setdefault("used", {})
        for part in self._parts():
            began = (time for other, time in used.items() if other[0] == part[0])
            used.setdefault(part, min(began, default=self._now))


@wrong(WHOLE, "a pending write begins the time of its namespace anew, and not that of subgraphs")
class WritesRenewOneNamespace(Expiring):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        self.forget_what_is_due()
        ReferenceSaver.put_writes(self, config, writes, task_id, task_path)
        ns = self._get_ns(config)
        # What is written in a subgraph is a use of the thread.
        self.renew([part for part in self.known(config) if ns or part[1] == ns])


@wrong(STAY, "a pending write of a subgraph is no use of the waiting root")
class SubgraphWritesRenewTheirNamespace(Expiring):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        self.forget_what_is_due()
        ReferenceSaver.put_writes(self, config, writes, task_id, task_path)
        ns = self._get_ns(config)
        self.renew([part for part in self.known(config) if not ns or part[1] == ns])


@wrong(WHOLE, "each checkpoint has its own time, that of its descendants leaves it alone")
class AncestorsExpire(Expiring):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        self.forget_what_is_due()
        answer = ReferenceSaver.put(self, config, checkpoint, metadata, new_versions)
        before = (config["configurable"].get("checkpoint_id"), self._get_ns(config))
        kinds = "checkpoint", "writes"
        self.renew(
            [
                part
                for part in self.known(config)
                if part[2] not in kinds or (part[3], part[1]) != before
            ]
        )
        return answer


@wrong(WHOLE, "a copy's checkpoints begin their time anew, its writes go on with the original's")
class CopiesWritesWithTheirTime(Expiring):
    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        used = self.store.extra.setdefault("used", {})
        super().copy_thread(source_thread_id, target_thread_id)
        for thread, *part in list(used):
            if thread == source_thread_id and part[1] == "writes":
                used[target_thread_id, *part] = used[thread, *part]


@wrong(WHOLE, "only `get_tuple` heeds the time: listings show what has expired")
class ListsWhatHasExpired(Expiring):
    def forget_what_is_due(self) -> None:
        """Leave it to a job that comes at some time."""

    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        due = all(self._is_due(part) for part in self.known(config))
        return None if due else super().get_tuple(config)
