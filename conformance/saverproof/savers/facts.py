"""The facts that the probe finds out about a target, as plain data."""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict


class Facts(TypedDict):
    """The facts about a target before anything is judged: JSON, and equal in every process."""

    name: str
    ref: dict[str, Any]
    """The target's reference, as ``TargetRef.to_json()`` returns it."""
    saver_class: str
    """Module and name of the saver's class."""
    distribution: str | None
    """The installed distribution that the class belongs to; None if there is none."""
    version: str | None
    durable: bool
    apis: list[str]
    """"sync", "async" or both, in this order."""
    operations: dict[str, list[str]]
    """API -> the operations that do not merely raise NotImplementedError."""
    capabilities: list[str]
    absent: dict[str, str]
    """Capability -> why it is absent: declined by the author, or not found by calling."""
    opens_ms: float
    """Milliseconds that opening and closing the saver in a new workspace take."""
    call_ms: NotRequired[float]
    """Milliseconds that a usual call of the saver takes."""
    on_server: NotRequired[bool]
    """True if the saver talks to a server. Then faults and kills strike the server as well."""
    shares: NotRequired[str | None]
    """The sign that workspaces share a store; None if each has its own."""
    drops: bool
    known: str | None
    """Absolute path of the target's known-violations file; None without one."""
    examples: NotRequired[list[str]]
    """Absolute paths of the artefacts that are run first."""
    packages: dict[str, str]
    """Versions of the installed distributions that may matter."""
    upgrade_from: NotRequired[list[dict[str, str]]]
    """The older releases with which the saver is judged on one store: distribution, version and
    folder of each.
    """


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
