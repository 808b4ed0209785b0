"""A thread of a saver whose time passes: what was put into it, and what is still shown of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph.checkpoint.base.id import uuid6

from saverproof.families.checks import CheckContext
from saverproof.savers.targets.expiry import Expiry

TASK = "00000000-0000-0000-0000-000000000001"
OTHER_TASK = "00000000-0000-0000-0000-000000000003"
AT = "2026-01-01T00:00:00+00:00"


@dataclass(slots=True)
class StoredCheckpoint:
    """A checkpoint that was put, and its pending writes."""

    config: dict[str, Any]
    values: dict[str, Any]
    writes: list[tuple[str, Any]] = field(default_factory=list)

    def lacks(self, shown: Any) -> dict[str, Any]:
        """Return what a tuple that is shown for it lacks."""
        values = shown.checkpoint["channel_values"]
        written = [(channel, value) for _, channel, value in shown.pending_writes or ()]
        lost = {name: value for name, value in self.values.items() if values.get(name) != value}
        lost |= {
            f"pending write of {channel}": value
            for channel, value in self.writes
            if (channel, value) not in written
        }
        return lost


class Thread:
    """A thread of its own in the context's store."""

    def __init__(self, context: CheckContext, expiry: Expiry, name: str) -> None:
        self.context = context
        self.expiry = expiry
        self.name = f"{context.store.workspace.name}-{name}"
        self.latest: dict[str, StoredCheckpoint] = {}
        self._versions: dict[str, dict[str, Any]] = {}

    def beside(self) -> Thread:
        """Return another thread of the same store."""
        return Thread(self.context, self.expiry, f"{self.name}-beside")

    def put(self, ns: str = "", **changed: Any) -> StoredCheckpoint:
        """Put a checkpoint in which these channels change, and the others stay as they are."""
        before = self.latest.get(ns)
        saver = self.context.saver
        versions = dict(self._versions.get(ns, {}))
        current = max(versions.values(), default=None)
        new = dict.fromkeys(changed, saver.get_next_version(current, None))
        values = {**(before.values if before else {}), **changed}
        checkpoint = {
            "v": 4,
            "id": str(uuid6()),
            "ts": AT,
            "channel_values": values,
            "channel_versions": versions | new,
            "versions_seen": {},
            "updated_channels": sorted(changed),
        }
        config = self.address(ns)
        if before is not None:
            config["configurable"]["checkpoint_id"] = before.config["configurable"]["checkpoint_id"]
        metadata = {"source": "loop", "step": len(versions), "parents": {}}
        self.context.call("put", config, checkpoint, metadata, new)
        self._versions[ns] = versions | new
        put = self.address(ns)
        put["configurable"]["checkpoint_id"] = checkpoint["id"]
        self.latest[ns] = StoredCheckpoint(put, values)
        return self.latest[ns]

    def write(self, channel: str, value: Any, task: str = TASK) -> None:
        """Add a task's pending write to the newest checkpoint of the root."""
        kept = self.latest[""]
        self.context.call("put_writes", kept.config, [(channel, value)], task)
        kept.writes.append((channel, value))

    def wait(self, share: float) -> None:
        """Let this share of the saver's time pass."""
        seconds = share * self.expiry.seconds
        self.context.steps.append(f"{seconds:,.0f} of {self.expiry.seconds:,.0f} seconds pass")
        self.expiry.pass_time(self.context.store.workspace, seconds)

    def read(self, ns: str = "") -> Any:
        """Return what is shown as the newest checkpoint; None if it has expired."""
        return self.context.call("get_tuple", self.address(ns))

    def address(self, ns: str) -> dict[str, Any]:
        """Return a config of the thread without a checkpoint."""
        return {"configurable": {"thread_id": self.name, "checkpoint_ns": ns}}


def words(lost: Mapping[str, Any]) -> str:
    """Return the names of what is lost."""
    return ", ".join(lost)
