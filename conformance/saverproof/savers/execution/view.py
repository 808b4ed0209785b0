"""Views of a saver: everything it shows, as plain data to compare, in memory or as JSON.

JSON lets what one process saw be compared in another.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypeAlias

from saverproof.errors import describe
from saverproof.programs.values import show
from saverproof.savers.execution.calls import Config
from saverproof.savers.execution.driver import ApiDriver
from saverproof.savers.execution.settled_calls import Key
from saverproof.savers.targets.calling import Api, every

Contents: TypeAlias = Mapping[str, Any]
"""One checkpoint: "checkpoint", "metadata", "parent" (an id) and "writes" in a fixed order."""

UNREADABLE = "unreadable"
LATEST = "latest"
AMONG_ALL = "entry in list(None)"
_TIMES = "times"


@dataclass(slots=True)
class Snapshot:
    """The answers of reads and listings at one time.

    ``by_key`` has the reads, None where nothing was found. ``listed`` has the listings of the
    threads asked for, None if nothing was listed. ``among_all`` has the checkpoints of these
    threads that a listing over all threads gave, None if it was not made or raised. A read that
    raised is shown as ``{"unreadable": its error}``.
    """

    by_key: dict[Key, Contents | None] = field(default_factory=dict)
    listed: dict[str, dict[Key, Contents]] | None = None
    among_all: frozenset[Key] | None = None

    def thread(self, thread: str) -> Snapshot:
        """Return the part of the snapshot about one thread."""
        return self.of_threads((thread,))

    def of_threads(self, threads: Sequence[str]) -> Snapshot:
        """Return the part of the snapshot about these threads."""
        listed, among_all = self.listed, self.among_all
        return Snapshot(
            {key: shown for key, shown in self.by_key.items() if key[0] in threads},
            None if listed is None else {thread: listed.get(thread, {}) for thread in threads},
            None if among_all is None else frozenset(k for k in among_all if k[0] in threads),
        )

    def agrees(self, reference: Snapshot) -> bool:
        """Return whether all that this snapshot shows is the same in ``reference``."""
        return all(shown == reference.by_key.get(key) for key, shown in self.by_key.items()) and (
            _same_or_unasked(self.listed, reference.listed)
            and _same_or_unasked(self.among_all, reference.among_all)
        )

    def at(self, key: Key) -> Contents | None:
        """Return a checkpoint's contents, from whichever read gave them; None if none did."""
        if key in self.by_key:
            return self.by_key[key]
        return (self.listed or {}).get(key[0], {}).get(key)

    def keys(self) -> set[Key]:
        """Return the addresses of all checkpoints in the snapshot."""
        listed = (self.listed or {}).values()
        read = {k for k, shown in self.by_key.items() if shown is not None and not is_latest(k)}
        return read.union(*listed)

    @property
    def unreadable(self) -> str | None:
        """The error of the first read that raised, or None."""
        shown = [
            *self.by_key.values(),
            *(s for t in (self.listed or {}).values() for s in t.values()),
        ]
        return next((str(s[UNREADABLE]) for s in shown if s is not None and UNREADABLE in s), None)


def _same_or_unasked(shown: object, reference: object) -> bool:
    return shown is None or reference is None or shown == reference


def contents_of(found: Any) -> tuple[Key, Contents]:
    """Return the address and the contents of a checkpoint tuple."""
    address = found.config["configurable"]
    key = (address["thread_id"], address.get("checkpoint_ns") or "", address["checkpoint_id"])
    parent = (found.parent_config or {}).get("configurable", {}).get("checkpoint_id")
    writes = sorted((list(write) for write in found.pending_writes or ()), key=repr)
    return key, {
        "checkpoint": found.checkpoint,
        "metadata": found.metadata,
        "parent": parent,
        "writes": writes,
    }


def _by_key(listing: Iterable[tuple[Key, Contents]]) -> dict[Key, Contents]:
    """Return a listing by address; a checkpoint that was listed several times says how often."""
    found: dict[Key, Contents] = {}
    for key, contents in listing:
        times = found[key].get(_TIMES, 1) + 1 if key in found else 1
        found[key] = contents if times == 1 else {**contents, _TIMES: times}
    return found


def raised(error: BaseException) -> Contents:
    """Return the contents that stand for a read that raised."""
    return {UNREADABLE: describe(error)}


@dataclass(frozen=True, slots=True)
class Wanted:
    """The reads to make: checkpoints by id, latest checkpoints, and listings of whole threads.

    With ``among_all``, these threads are looked up in a listing over all threads as well.
    """

    keys: tuple[Key, ...] = ()
    threads: tuple[str, ...] | None = None
    among_all: bool = False


def latest_key(thread: str, namespace: str) -> Key:
    """Return the key for a read that names no checkpoint, as LangGraph makes it."""
    return (thread, namespace, "")


def is_latest(key: Key) -> bool:
    """Return whether a key stands for the latest checkpoint of a namespace."""
    return not key[2]


def config_of(key: Key) -> dict[str, Any]:
    """Return the config that names a checkpoint, or only its namespace for the latest one."""
    thread, namespace, checkpoint = key
    names = {"thread_id": thread, "checkpoint_ns": namespace}
    return {"configurable": names if is_latest(key) else names | {"checkpoint_id": checkpoint}}


def snapshot(driver: ApiDriver, wanted: Wanted) -> Snapshot:
    """Read all that is wanted, as one coroutine on the API's event loop. It raises nothing."""
    return driver.through.run(_snapshot(driver.through, driver.saver, wanted))


async def _snapshot(api: Api, saver: Any, wanted: Wanted) -> Snapshot:
    seen = Snapshot()
    for key in wanted.keys:
        try:
            found = await api.ask(saver, "get_tuple", config_of(key))
            seen.by_key[key] = None if found is None else contents_of(found)[1]
        except Exception as error:  # noqa: BLE001 - a saver may raise anything
            seen.by_key[key] = raised(error)
    if wanted.threads is not None:
        seen.listed = {}
        for thread in wanted.threads:
            config = {"configurable": {"thread_id": thread}}
            try:
                listing = await api.ask_items(saver, "list", every, config)
                seen.listed[thread] = _by_key(map(contents_of, listing))
            except Exception as error:  # noqa: BLE001 - a saver may raise anything
                seen.listed[thread] = {(thread, "", ""): raised(error)}
    if wanted.threads is not None and wanted.among_all:
        # Whether such a listing may raise is judged elsewhere.
        with suppress(Exception):
            everything = await api.ask_items(saver, "list", every, None)
            found = {contents_of(one)[0] for one in everything}
            seen.among_all = frozenset(key for key in found if key[0] in wanted.threads)
    return seen


ShownFacts: TypeAlias = dict[str, str]
"""The facts that a saver shows, by their names; see :func:`fact`."""


def fact(thread: str, namespace: str, checkpoint: str, kind: str, of: str = "") -> str:
    """Return the name of one fact about a checkpoint or about the latest of a namespace.

    ``kind`` is "checkpoint", "metadata", "parent", "writes" (with the task in ``of``), "latest" or
    "entry in list(None)".
    """
    return json.dumps([thread, namespace, checkpoint, kind, of])


def parts_of(name: str) -> tuple[str, str, str, str, str]:
    """Return thread, namespace, checkpoint id, kind and task from the name of a fact."""
    thread, namespace, checkpoint, kind, of = json.loads(name)
    return thread, namespace, checkpoint, kind, of


def listed_facts(driver: ApiDriver, threads: Iterable[str]) -> ShownFacts:
    """Return all that listings of these threads show, and the latest checkpoint of each namespace.

    Latest checkpoints are read without an id. What the saver raises is raised.
    """
    shown: ShownFacts = {}
    for thread in threads:
        config: Config = {"configurable": {"thread_id": thread}}
        listing = driver.list_tuples(config, {})
        for found in listing:
            shown |= facts_of(found)
        listed = {contents_of(found)[0][1] for found in listing}
        for namespace in sorted({"", *listed}):
            latest = driver.get_tuple(config_of(latest_key(thread, namespace)))
            # A thread that holds nothing gives no facts.
            if latest is not None or namespace in listed:
                shown[fact(thread, namespace, "", LATEST)] = canonical(
                    None if latest is None else contents_of(latest)[0][2]
                )
    return shown


def facts_among_all(driver: ApiDriver, threads: Iterable[str]) -> ShownFacts:
    """Return the checkpoints of these threads that a listing over all threads has.

    Return nothing if that listing raises: whether it should work is judged elsewhere.
    """
    wanted = {*threads}
    try:
        addresses = [contents_of(found)[0] for found in driver.list_tuples(None, {})]
    except Exception:  # noqa: BLE001 - a saver may raise anything
        return {}
    return {fact(*at, AMONG_ALL): canonical(True) for at in addresses if at[0] in wanted}


def facts_of(found: Any) -> ShownFacts:
    """Return what one checkpoint tuple shows, as facts."""
    at, contents = contents_of(found)
    facts = {
        fact(*at, "checkpoint"): canonical(contents["checkpoint"]),
        fact(*at, "metadata"): canonical(contents["metadata"]),
        fact(*at, "parent"): canonical(contents["parent"]),
    }
    tasks: dict[str, list[Any]] = {}
    for task, channel, value in found.pending_writes or ():
        tasks.setdefault(str(task), []).append([channel, value])
    return facts | {fact(*at, "writes", task): canonical(made) for task, made in tasks.items()}


def canonical(value: Any) -> str:
    """Return a text that is the same for equal values, whatever the order of their keys."""
    return json.dumps(_plain(value), sort_keys=True)


_LONG = 2_000
"""The length in characters or bytes from which a value is shown by a digest."""


def _plain(value: Any) -> Any:
    if isinstance(value, str | bytes) and len(value) > _LONG:
        data = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
        return {type(value).__name__: [show(value, 100), len(value), sha256(data).hexdigest()]}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return {type(value).__name__: show(value, _LONG)}
