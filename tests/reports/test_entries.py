"""What several APIs show of one contract is put together."""

from __future__ import annotations

from typing import Any

from saverproof_reports.entries import entries


def violation(api: str, steps: int, script: str | None) -> dict[str, Any]:
    return {"api": api, "phase": "concurrency", "steps": ["put"] * steps, "reproducer": script}


def test_the_shortest_is_shown_and_of_those_one_with_a_script() -> None:
    sync, asynchronous = violation("sync", 4, None), violation("async", 4, "async.py")
    (entry,) = entries([sync, asynchronous])
    assert entry.shown is asynchronous
    assert entry.apis == ["sync", "async"]
    (entry,) = entries([violation("sync", 3, None), asynchronous])
    assert entry.shown["api"] == "sync"
