"""The calls that a script makes between the items of a listing."""

from __future__ import annotations

from saverproof.families.concurrency.callers.records import PLACES, Operation, OperationKind
from saverproof.families.concurrency.scenes.iteration import BETWEEN, By
from saverproof.scripts.call_source import CallSource

_TASK = "00000000-0000-4000-8000-000000000001"
_ADVANCING = {
    ("sync", True): {
        "next": "pool.submit(next, listing, None).result(5)",
        "between": "pool.submit(call).result(5)",
        "rest": "pool.submit(list, listing).result(5)",
    },
    ("sync", False): {
        "next": "next(listing, None)",
        "between": "pool.submit(call).result(5)",
        "rest": "list(listing)",
    },
    ("async", True): {
        "next": "await anext(listing, None)",
        "between": "async with asyncio.timeout(5): await call()",
        "rest": "[found async for found in listing]",
    },
    ("async", False): {
        "next": "await anext(listing, None)",
        "between": "await asyncio.wait_for(asyncio.ensure_future(call()), 5)",
        "rest": "[found async for found in listing]",
    },
}


def listing_words(api: str, by: str, calls: list[str]) -> dict[str, object]:
    """Return the words of a script that makes these calls between the items of a listing."""
    known = {operation.describe(): operation for operation in BETWEEN}
    made = [_call(known[one], api) for one in calls if one in known]
    return {**_ADVANCING[api, by == By.SAME], "calls": made}


def _call(operation: Operation, api: str) -> str:
    """Return the call of an operation, without ``await``."""
    source = CallSource(api, managed=False)

    def call(name: str, *arguments: str) -> str:
        return source.call(api, "saver", name, *arguments).removeprefix("await ")

    match operation.kind:
        case OperationKind.GET:
            return call("get_tuple", "at")
        case OperationKind.LATEST:
            return call("get_tuple", "CONFIG")
        case OperationKind.LIST:
            return (
                f"list({call('list', 'CONFIG')})" if api == "sync" else "anext(saver.alist(CONFIG))"
            )
        case OperationKind.WRITES:
            return call("put_writes", "at", '[("x", 1)]', f'"{_TASK}"')
        case OperationKind.DELETE:
            return call("delete_thread", '"b"')
    new = operation.kind is OperationKind.PUT and bool(PLACES[operation.place][1])
    return call("put", "NEW" if new else "at", "empty_checkpoint()", "META", "{}")


_WAITING = {
    "get_tuple": "lambda: saver.aget_tuple(at)",
    "list": "listed",
    "put_writes": f'lambda: saver.aput_writes(at, [("x", 1)], "{_TASK}")',
    "put": "lambda: saver.aput(at, empty_checkpoint(), META, {})",
    "copy_thread": 'lambda: saver.acopy_thread("a", "b")',
    "delete_for_runs": 'lambda: saver.adelete_for_runs(["a run"])',
    "prune": 'lambda: saver.aprune(["a"])',
    "delete_thread": 'lambda: saver.adelete_thread("a")',
}


def waiting_words(calls: list[str]) -> list[str]:
    """Return the words of a script in which these operations have to wait. Each call is begun by
    one function.
    """
    return [_WAITING[call] for call in dict.fromkeys(calls)]
