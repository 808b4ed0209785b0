"""Savers with one mistake each that only shows, or also shows, when graphs run on them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

Writes = Sequence[tuple[str, Any]]


class Base(InMemorySaver):
    """The async API on top of the sync one, so that a mistake has to be made only once."""

    async def aget_tuple(self, config: Any) -> Any:
        return self.get_tuple(config)

    async def alist(self, config: Any, **named: Any) -> AsyncIterator[Any]:
        for found in list(self.list(config, **named)):
            yield found

    async def aput(self, *arguments: Any) -> Any:
        return self.put(*arguments)

    async def aput_writes(
        self, config: Any, writes: Writes, task_id: str, task_path: str = ""
    ) -> None:
        self.put_writes(config, writes, task_id, task_path)


class DropsWrites(Base):
    """Pending writes are not kept."""

    def put_writes(self, config: Any, writes: Writes, task_id: str, task_path: str = "") -> None:
        return


class ForgetsAnswers(Base):
    """The answers to questions are not kept."""

    def put_writes(self, config: Any, writes: Writes, task_id: str, task_path: str = "") -> None:
        kept = [write for write in writes if write[0] != "__resume__"]
        super().put_writes(config, kept, task_id, task_path)


class ForgetsTasks(Base):
    """What a task wrote is lost when a question comes from the same checkpoint."""

    def put_writes(self, config: Any, writes: Writes, task_id: str, task_path: str = "") -> None:
        at = config["configurable"]
        if any(channel == "__interrupt__" for channel, _ in writes):
            key = (at["thread_id"], at.get("checkpoint_ns", ""), at["checkpoint_id"])
            self.writes.pop(key, None)
        super().put_writes(config, writes, task_id, task_path)


class LosesParents(Base):
    """No checkpoint knows its parent."""

    def put(self, config: Any, *arguments: Any) -> Any:
        at = {**config["configurable"], "checkpoint_id": None}
        return super().put(config | {"configurable": at}, *arguments)


class Stale(Base):
    """The latest checkpoint is the one before the latest."""

    def get_tuple(self, config: Any) -> Any:
        if not config["configurable"].get("checkpoint_id"):
            at = {**config["configurable"]}
            at.setdefault("checkpoint_ns", "")
            newest = list(super().list({"configurable": at}, limit=2))
            if len(newest) == 2:
                return newest[1]
        return super().get_tuple(config)


class IgnoresNamespaces(Base):
    """The latest checkpoint of the thread, whichever namespace it is asked for."""

    def get_tuple(self, config: Any) -> Any:
        at = config["configurable"]
        if at.get("checkpoint_id"):
            return super().get_tuple(config)
        found = super().list({"configurable": {"thread_id": at["thread_id"]}})
        return max(found, key=lambda one: one.checkpoint["id"], default=None)


class IgnoresForeignBefore(Base):
    """``before`` counts only if its checkpoint is of the namespace that is listed."""

    def list(self, config: Any, *, before: Any = None, **named: Any) -> Iterator[Any]:
        if before is not None:
            at: Any = {"configurable": {**config["configurable"], **before["configurable"]}}
            if super().get_tuple(at) is None:
                before = None
        yield from super().list(config, before=before, **named)


class EmptiesCopies(Base):
    """A checkpoint put without new versions has no values."""

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        if not new_versions and checkpoint["channel_versions"]:
            checkpoint = {**checkpoint, "channel_versions": {}, "channel_values": {}}
        return super().put(config, checkpoint, metadata, new_versions)


class Fails(Base):
    """Every third checkpoint raises."""

    puts = 0

    def put(self, *arguments: Any) -> Any:
        self.puts += 1
        if self.puts % 3 == 0:
            raise OSError("disk gone")
        return super().put(*arguments)


class RefusesInside(Base):
    """Questions of subgraphs raise, of which LangGraph tells nobody."""

    def put_writes(self, config: Any, writes: Writes, task_id: str, task_path: str = "") -> None:
        if config["configurable"].get("checkpoint_ns") and writes[0][0] == "__interrupt__":
            self._refused(config, writes, task_id)
        else:
            super().put_writes(config, writes, task_id, task_path)

    def _refused(self, config: Any, writes: Writes, task_id: str) -> None:
        raise OSError("disk gone")


class LosesInside(RefusesInside):
    """Questions of subgraphs are not kept."""

    def _refused(self, config: Any, writes: Writes, task_id: str) -> None:
        pass


class TriesAgainInside(RefusesInside):
    """Questions of subgraphs are kept at the second attempt."""

    def _refused(self, config: Any, writes: Writes, task_id: str) -> None:
        with contextlib.suppress(OSError):
            super()._refused(config, writes, task_id)
        Base.put_writes(self, config, writes, task_id)


class WrongOrder(Base):
    """The history comes oldest first."""

    def list(self, config: Any, **named: Any) -> Iterator[Any]:
        yield from reversed(list(super().list(config, **named)))


class MixesThreads(Base):
    """Thread ids are the same if their first letters and their length are."""

    def put_writes(self, config: Any, writes: Writes, task_id: str, task_path: str = "") -> None:
        super().put_writes(_short(config), writes, task_id, task_path)

    def get_tuple(self, config: Any) -> Any:
        return super().get_tuple(_short(config))

    def put(self, config: Any, *arguments: Any) -> Any:
        return super().put(_short(config), *arguments)


def _short(config: Any) -> Any:
    at = config["configurable"]
    return {**config, "configurable": {**at, "thread_id": at["thread_id"][:-1]}}
