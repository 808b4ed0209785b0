"""What several APIs show of one contract is put together."""

from __future__ import annotations

from typing import Any

from saverproof_reports.entries import PhaseViolations, entries

CONTRACT = "concurrency/linearizable"


def violation(api: str, steps: int, script: str | None, mistake_of: str = "") -> dict[str, Any]:
    return {
        "api": api,
        "phase": "concurrency",
        "steps": ["put"] * steps,
        "reproducer": script,
        "mistake_of": mistake_of,
    }


def entry_of(*violations: dict[str, Any]) -> PhaseViolations:
    (entry,) = entries({"id": CONTRACT, "violations": violations})
    return entry


def test_the_shortest_is_shown_and_of_those_one_with_a_script() -> None:
    sync, asynchronous = violation("sync", 4, None), violation("async", 4, "async.py")
    entry = entry_of(sync, asynchronous)
    assert entry.shown is asynchronous
    assert entry.apis == ["sync", "async"]
    assert entry_of(violation("sync", 3, None), asynchronous).shown["api"] == "sync"


def test_one_by_the_mistake_of_another_contract_comes_last() -> None:
    """Its words would name that other mistake above this contract's heading."""
    follows = violation("sync", 2, "sync.py", "identity/parent")
    own = violation("async", 3, "async.py", CONTRACT)
    assert entry_of(follows, own).shown is own
    assert entry_of(follows, violation("async", 3, None)).shown["api"] == "async"
