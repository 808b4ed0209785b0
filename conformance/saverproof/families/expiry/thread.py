"""A thread of a saver whose time passes: what was put into it, and what is still shown of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from saverproof.families.checks import CheckContext
from saverproof.families.expiry.scripts import Place, TrialScript
from saverproof.programs.steps.identifiers import mint
from saverproof.savers.targets.expiry import Expiry

TASK = "00000000-0000-0000-0000-000000000001"
OTHER_TASK = "00000000-0000-0000-0000-000000000003"
AT = "2026-01-01T00:00:00+00:00"


@dataclass(slots=True)
class ExpiringCheckpoint:
    """A checkpoint that was put, and its pending writes."""

    number: int
    config: dict[str, Any]
    values: dict[str, Any]
    writes: list[tuple[str, Any]] = field(default_factory=list)

    @property
    def id(self) -> str:
        return mint(self.number)

    @property
    def parts(self) -> list[tuple[str, Any]]:
        """What is to be shown: each value and each pending write, with its channel."""
        return [*self.values.items(), *self.writes]

    def lacks(self, shown: Any) -> dict[str, Any]:
        """Return what is missing in a tuple that is shown for this checkpoint."""
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
    """A thread of its own in the context's store. ``script`` follows what is called."""

    def __init__(
        self, context: CheckContext, expiry: Expiry, name: str, script: TrialScript
    ) -> None:
        self.context = context
        self.expiry = expiry
        self.script = script
        self.short = name
        self.name = f"{context.store.workspace.name}-{name}"
        self.latest: dict[str, ExpiringCheckpoint] = {}
        self._versions: dict[str, dict[str, Any]] = {}

    def beside(self) -> Thread:
        """Return another thread of the same store, which is no part of the script: it only shows
        whether this thread is to be judged.
        """
        return Thread(self.context, self.expiry, f"{self.short}-beside", self.script.unread())

    def copied(self, ns: str = "") -> Thread:
        """Copy the thread, and return the copy."""
        copy = Thread(self.context, self.expiry, f"{self.short}-copy", self.script)
        words = f"copy_thread({self.short!r}, {copy.short!r})"
        self.context.call_as(words, "copy_thread", self.name, copy.name)
        self.script.copy(self.short, copy.short)
        kept = self.latest[ns]
        address = copy.address(ns, kept.id)
        copy.latest[ns] = ExpiringCheckpoint(kept.number, address, kept.values, kept.writes)
        return copy

    def put(self, ns: str = "", *, delta: str = "", **changed: Any) -> ExpiringCheckpoint:
        """Put a checkpoint in which these channels change, and the others stay as they are.

        The channel ``delta`` has a new version, and no value: it is rebuilt from writes.
        """
        before = self.latest.get(ns)
        saver = self.context.saver
        versions = dict(self._versions.get(ns, {}))
        current = max(versions.values(), default=None)
        named = [*changed, *filter(None, [delta])]
        new = dict.fromkeys(named, saver.get_next_version(current, None))
        values = {**(before.values if before else {}), **changed}
        number = next(self.script.numbers)
        checkpoint = {
            "v": 4,
            "id": mint(number),
            "ts": AT,
            "channel_values": values,
            "channel_versions": versions | new,
            "versions_seen": {},
            "updated_channels": sorted(named),
        }
        config = self.address(ns, before.id if before else None)
        metadata = {"source": "loop", "step": len(versions), "parents": {}}
        told = [*(f"{name}={value!r}" for name, value in changed.items()), *filter(None, [delta])]
        words = self._words("put", ns, *told)
        self.context.call_as(words, "put", config, checkpoint, metadata, new)
        parent = before.number if before else None
        self.script.put(self.place(ns), number, parent, values, versions, named, new[named[0]])
        self._versions[ns] = versions | new
        self.latest[ns] = ExpiringCheckpoint(number, self.address(ns, mint(number)), values)
        return self.latest[ns]

    def write(self, channel: str, value: Any, task: str = TASK, ns: str = "") -> None:
        """Add a task's pending write to the newest checkpoint of a namespace."""
        kept, batch = self.latest[ns], [(channel, value)]
        words = self._words("put_writes", ns, f"{channel}={value!r}")
        self.context.call_as(words, "put_writes", kept.config, batch, task)
        self.script.put_writes(self.place(ns), kept.number, (channel, value), task)
        kept.writes.append((channel, value))

    def history(self, kept: ExpiringCheckpoint, channel: str) -> list[Any]:
        """Return the values of the writes from which a checkpoint's delta channel is rebuilt."""
        words = self._words("get_delta_channel_history", "", channel)
        asked = {"config": kept.config, "channels": [channel]}
        self.script.ask_history(self.place(), kept.number, channel)
        shown = self.context.call_as(words, "get_delta_channel_history", **asked)
        return [value for _, _, value in shown[channel]["writes"]]

    def wait(self, share: float) -> None:
        """Let this share of the saver's time pass."""
        seconds = share * self.expiry.seconds
        self.context.steps.append(f"{seconds:,.0f} of {self.expiry.seconds:,.0f} seconds pass")
        self.script.wait(seconds)
        self.expiry.pass_time(self.context.store.workspace, seconds)

    def read(self, ns: str = "") -> Any:
        """Return what is shown as the newest checkpoint; None if it has expired."""
        self.script.read(self.place(ns))
        return self.context.call_as(self._words("get_tuple", ns), "get_tuple", self.address(ns))

    def by_id(self, kept: ExpiringCheckpoint) -> Any:
        """Return what is shown of a checkpoint by its id; None if it has expired."""
        words = self._words("get_tuple", "", "by its id")
        self.script.read(self.place(), kept.number)
        return self.context.call_as(words, "get_tuple", kept.config)

    def listed(self, kept: ExpiringCheckpoint) -> Any:
        """Return what a listing of the thread shows of a checkpoint; None if it has expired."""
        self.context.steps.append(self._words("list", ""))
        self.script.read_list(self.place())
        shown = self.context.store.drivers[0].list_tuples(self.address(""), {})
        return next((each for each in shown if id_of(each) == kept.id), None)

    def place(self, ns: str = "") -> Place:
        """Return thread and namespace, for the script."""
        return self.short, ns

    def address(self, ns: str, checkpoint_id: str | None = None) -> dict[str, Any]:
        """Return a config of the thread, of a checkpoint if an id is given."""
        of_checkpoint = {} if checkpoint_id is None else {"checkpoint_id": checkpoint_id}
        place = {"thread_id": self.name, "checkpoint_ns": ns}
        return {"configurable": place | of_checkpoint}

    def _words(self, operation: str, ns: str, *told: str) -> str:
        return f"{operation}({', '.join([repr(self.short), repr(ns), *told])})"


def id_of(shown: Any) -> str:
    """Return the id of the checkpoint of a tuple."""
    return str(shown.config["configurable"]["checkpoint_id"])


def words(lost: Mapping[str, Any]) -> str:
    """Return the names of what is lost."""
    return ", ".join(lost)
