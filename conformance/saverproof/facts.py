"""What the probe finds out about a target, as plain data."""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict


class Facts(TypedDict):
    """What is known of a target before anything is judged. JSON, and the same in every process."""

    name: str
    ref: dict[str, Any]
    """``TargetRef.to_json()``."""
    saver_class: str
    """Module and name of the saver's class."""
    distribution: str | None
    """The installed distribution that the class comes from, if it comes from one."""
    version: str | None
    durable: bool
    apis: list[str]
    """"sync", "async" or both, in this order."""
    operations: dict[str, list[str]]
    """For each API, the operations that do not merely raise NotImplementedError."""
    capabilities: list[str]
    absent: dict[str, str]
    """Capability -> why it is not there: declined by the author, or not found by calling."""
    opens_ms: float
    """Milliseconds that opening and closing the saver in a new workspace take."""
    call_ms: NotRequired[float]
    """Milliseconds that a call of the saver takes, of the usual sorts."""
    on_server: NotRequired[bool]
    """Whether it speaks to a server, in which it is failed and killed, too."""
    shares: NotRequired[str | None]
    """What shows that workspaces share a store; None if each has one of its own."""
    drops: bool
    known: str | None
    """Absolute path of the target's known-violations file."""
    examples: NotRequired[list[str]]
    """Absolute paths of the artefacts that are run first."""
    packages: dict[str, str]
    """Versions of the installed distributions that matter."""


APIS = ("sync", "async")

METHODS: Mapping[str, Mapping[str, str]] = {
    "sync": {
        "put": "put",
        "put_writes": "put_writes",
        "get_tuple": "get_tuple",
        "list": "list",
        "delete_thread": "delete_thread",
        "delete_for_runs": "delete_for_runs",
        "copy_thread": "copy_thread",
        "prune": "prune",
        "delta_history": "get_delta_channel_history",
    },
    "async": {
        "put": "aput",
        "put_writes": "aput_writes",
        "get_tuple": "aget_tuple",
        "list": "alist",
        "delete_thread": "adelete_thread",
        "delete_for_runs": "adelete_for_runs",
        "copy_thread": "acopy_thread",
        "prune": "aprune",
        "delta_history": "aget_delta_channel_history",
    },
}
"""Operation -> method, for each API."""
