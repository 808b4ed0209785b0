"""Finds by calling what a saver cannot do, and through which APIs it can be judged."""

import contextlib
import uuid
from typing import Any

from saverproof.capability import Capability
from saverproof.errors import TargetError
from saverproof.savers.facts import APIS, METHODS
from saverproof.savers.targets import probe_calls
from saverproof.savers.targets.target import Target


def apis_of(target: Target, operations: dict[str, list[str]]) -> list[str]:
    """Return the APIs through which a saver with these operations can be judged.

    Raises:
        TargetError: the author declines both.
    """
    offered = [api for api in APIS if Capability(api) not in target.capabilities]
    if not offered:
        raise TargetError(
            f"target {target.name!r}: capabilities declines sync and async, expected one to be left"
        )
    # An API without put cannot be judged; a saver without any put is judged for lacking it.
    whole = [api for api in offered if "put" in operations[api]]
    return whole or [api for api in offered if operations[api]] or offered[:1]


def absent_capabilities(
    target: Target, prober: probe_calls.Prober, operations: dict[str, list[str]], apis: list[str]
) -> dict[str, str]:
    """Return why each absent capability is absent: declined, or not found by calling."""
    absent = {str(name): f"declined: {reason}" for name, reason in target.capabilities.items()}
    for api in APIS:
        if api not in apis:
            absent.setdefault(api, f"the saver has no {api} put")
    for name in ("delete_thread", "delete_for_runs", "copy_thread", "prune", "delta_history"):
        if not any(name in operations[api] for api in apis):
            methods = " and ".join(METHODS[api][name] for api in apis)
            absent.setdefault(name, f"not implemented: {methods}")
    if not _keeps_history(prober, apis[0]):
        absent.setdefault("history", "an older checkpoint cannot be read once there is a newer one")
    if not _uses_serializer(prober, apis[0]):
        absent.setdefault("serializer", "a serializer assigned to saver.serde is never called")
    if target.expiry is None:
        absent.setdefault("expiry", "the target says of no time after which something expires")
    return absent


def _keeps_history(prober: probe_calls.Prober, api: str) -> bool:
    thread = "probe-history"
    first = probe_calls.put_arguments(prober.saver, thread)
    second = probe_calls.put_arguments(prober.saver, thread, parent=first[1]["id"])
    try:
        prober.call(api, "put", *first)
        prober.call(api, "put", *second)
        older = prober.call(api, "get_tuple", probe_calls.config(thread, first[1]["id"]))
        latest = prober.call(api, "get_tuple", probe_calls.config(thread))
    except Exception:  # noqa: BLE001 - a saver that breaks here is not one that declines history
        return True
    return probe_calls.holds(older) or not probe_calls.holds(latest)


class _Listening:
    """A serializer that records whether it was called."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.called = False

    def dumps_typed(self, value: Any) -> Any:
        self.called = True
        return self._inner.dumps_typed(value)

    def loads_typed(self, data: Any) -> Any:
        return self._inner.loads_typed(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _uses_serializer(prober: probe_calls.Prober, api: str) -> bool:
    saver, thread = prober.saver, "probe-serializer"
    original = getattr(saver, "serde", None)
    listening = _Listening(original)
    given = probe_calls.put_arguments(saver, thread, also=probe_calls.SERIALIZED)
    address = probe_calls.config(thread, given[1]["id"])
    writes = [*probe_calls.SERIALIZED.items()]
    try:
        saver.serde = listening
        prober.call(api, "put", *given)
        prober.call(api, "put_writes", address, writes, str(uuid.uuid4()))
    except Exception:  # noqa: BLE001 - whatever it raised, what counts is whether it was called
        return listening.called
    finally:
        with contextlib.suppress(AttributeError):
            saver.serde = original
    return listening.called
