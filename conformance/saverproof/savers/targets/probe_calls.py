"""Tries out a saver: which operations answer through which API."""

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from langgraph.checkpoint.base import empty_checkpoint

from saverproof.errors import TargetError, describe
from saverproof.savers.facts import APIS, METHODS
from saverproof.savers.targets.calling import api_of, every
from saverproof.savers.targets.event_loop import Loop

CHANNEL, VALUE = "probe", "what the probe wrote"
SERIALIZED: Mapping[str, Any] = {
    "probed-object": {"probe": [1, "two", {"three": 3.0}]},
    "probed-bytes": b"\x00\xff what the probe wrote",
    "probed-large": "what the probe wrote " * 1_000,
}
"""Channels with values that hardly any saver stores without its serializer, unlike a plain text."""


class Prober:
    """A caller of a saver's operations by name, through either API."""

    def __init__(self, saver: Any, loop: Loop, stage: Callable[[str], None]) -> None:
        self.saver = saver
        self._apis = {api: api_of(api, loop) for api in APIS}
        self._stage = stage

    def call(self, api: str, operation: str, *arguments: Any, **named: Any) -> Any:
        """Return the answer of an operation; a listing as a list."""
        self._stage(f"calling {METHODS[api][operation]}")
        method = METHODS["sync"][operation]
        if operation == "list":
            return self._apis[api].items(self.saver, method, every, *arguments, **named)
        return self._apis[api].call(self.saver, method, *arguments, **named)

    def absent(self, api: str, operation: str, *arguments: Any, **named: Any) -> str | None:
        """Return why an operation is missing. None if it exists, even if it raises for other
        reasons.
        """
        method = METHODS[api][operation]
        if not hasattr(self.saver, method):
            return f"there is no {method} in this saver and this langgraph-checkpoint"
        try:
            self.call(api, operation, *arguments, **named)
        except NotImplementedError:
            return f"{method} raises NotImplementedError"
        except Exception:  # noqa: BLE001 - it is there; whether it is right is for the contracts
            return None
        return None


def config(thread: str, checkpoint_id: str | None = None) -> dict[str, Any]:
    """Return a config as LangGraph sends it."""
    address = {"thread_id": thread, "checkpoint_ns": ""}
    return {"configurable": address | ({"checkpoint_id": checkpoint_id} if checkpoint_id else {})}


def put_arguments(
    saver: Any, thread: str, parent: str | None = None, also: Mapping[str, Any] | None = None
) -> tuple[Any, ...]:
    """Return the arguments for a legal ``put`` of a new checkpoint.

    It holds ``VALUE`` in ``CHANNEL``; ``also`` has the values of further channels.
    """
    values = {CHANNEL: VALUE, **(also or {})}
    versions = dict.fromkeys(values, saver.get_next_version(None, None))
    checkpoint: dict[str, Any] = {
        **empty_checkpoint(),
        "channel_values": values,
        "channel_versions": versions,
    }
    metadata = {"source": "loop", "step": 0, "parents": {}, "run_id": "probe-run"}
    return config(thread, parent), checkpoint, metadata, versions


def holds(found: Any) -> bool:
    """Return whether a tuple is the checkpoint that ``put_arguments`` describes."""
    return found is not None and found.checkpoint["channel_values"].get(CHANNEL) == VALUE


def find_operations(prober: Prober) -> dict[str, list[str]]:
    """Return, for each API, the operations that do more than raise NotImplementedError."""
    return {api: [name for name, reason in _reasons(prober, api) if reason is None] for api in APIS}


def _reasons(prober: Prober, api: str) -> Iterator[tuple[str, str | None]]:
    saver = prober.saver
    thread = f"probe-{api}"
    written = put_arguments(saver, thread)
    yield "put", prober.absent(api, "put", *written)
    task = str(uuid.uuid4())
    address = config(thread, written[1]["id"])
    yield "put_writes", prober.absent(api, "put_writes", address, [(CHANNEL, VALUE)], task)
    yield "get_tuple", prober.absent(api, "get_tuple", config(thread))
    yield "list", prober.absent(api, "list", config(thread))
    named = {"config": address, "channels": [CHANNEL]}
    yield "delta_history", prober.absent(api, "delta_history", **named)
    yield "copy_thread", prober.absent(api, "copy_thread", thread, f"{thread}-copy")
    yield "prune", prober.absent(api, "prune", [thread], strategy="keep_latest")
    yield "delete_for_runs", prober.absent(api, "delete_for_runs", ["probe-run"])
    yield "delete_thread", prober.absent(api, "delete_thread", thread)


def write_first(prober: Prober, apis: list[str], name: str, thread: str) -> str:
    """Put a checkpoint through the first API that accepts it, and return that API.

    Raises:
        TargetError: no API accepts it.
    """
    troubles = []
    for api in apis:
        try:
            prober.call(api, "put", *put_arguments(prober.saver, thread))
        except Exception as error:  # noqa: BLE001 - told to the user, who must mend it
            troubles.append(f"{METHODS[api]['put']} raised {describe(error)}")
        else:
            return api
    raise TargetError(
        f"target {name!r}: {'; '.join(troubles)}; expected it to store a first checkpoint "
        "(is everything set up when the function yields the saver?)"
    )


def reads_back(prober: Prober, api: str, thread: str) -> bool:
    """Return whether the latest checkpoint of ``thread`` is the one that ``write_first`` put."""
    try:
        return holds(prober.call(api, "get_tuple", config(thread)))
    except Exception:  # noqa: BLE001 - not to give back is not to give back, however
        return False


_TIMED = 8
"""How many calls of each operation are timed; the best of them counts."""


def time_of_a_call(prober: Prober, api: str) -> float:
    """Return the milliseconds of an operation: the mean of a put, a write, a read and a listing.

    Of each, the best of several calls counts, so that other work of the machine matters little.
    """
    thread = f"probe-timed-{api}"
    times: list[float] = []
    for operation in ("put", "put_writes", "get_tuple", "list"):
        tried: list[float] = []
        for _ in range(_TIMED):
            put = put_arguments(prober.saver, thread)
            arguments: tuple[Any, ...] = (config(thread),)
            if operation == "put":
                arguments = put
            elif operation == "put_writes":
                arguments = (config(thread, put[1]["id"]), [(CHANNEL, VALUE)], str(uuid.uuid4()))
            with timed(tried):
                prober.absent(api, operation, *arguments)
        times.append(min(tried))
    return sum(times) / len(times)


@contextmanager
def timed(sink: list[float]) -> Iterator[None]:
    """Append the milliseconds that the block took to ``sink``."""
    before = time.perf_counter()
    yield
    sink.append(1000 * (time.perf_counter() - before))
