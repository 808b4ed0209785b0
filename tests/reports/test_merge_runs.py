"""The jobs of a CI matrix: runs that judged different parts of a saver are one run."""

from collections.abc import Collection
from typing import Any

import pytest
from tests.reports.sample import comparison_events, finding, run_event, saver_events

from saverproof_reports import merged, report_of, validate

SHARDS = ({"atomicity"}, {"durability", "lifecycle"})
PARTS = ("summary", "contracts", "causes", "faults", "crash", "power", "timing")


def shard(events: list[Any], families: Collection[str], *, others: bool = False) -> dict[str, Any]:
    """The report of a run that was limited to these families, or to all others."""
    chosen = []
    for event in events:
        if "items" in event:
            items = [pair for pair in event["items"] if (pair[0] in families) is not others]
            chosen.append({**event, "items": items})
        elif event["event"] != "item" or (event["family"] in families) is not others:
            chosen.append(event)
    return report_of(chosen)


def shards(events: list[Any]) -> list[dict[str, Any]]:
    rest = shard(events, {family for each in SHARDS for family in each}, others=True)
    return [shard(events, SHARDS[0]), rest, shard(events, SHARDS[1])]


@pytest.mark.parametrize("first", [0, 1, 2])
def test_shards_together_are_the_whole_run(first: int) -> None:
    events = comparison_events()
    parts = shards(events)
    together = merged([*parts[first:], *parts[:first]])
    whole = report_of(events)
    assert validate(together) == []
    assert together["complete"]
    for one, other in zip(together["savers"], whole["savers"], strict=True):
        for name in PARTS:
            assert one[name] == other[name], (one["saver"]["name"], name)


def test_what_another_part_saw_broken_is_broken() -> None:
    events = [run_event(), *saver_events("x"), {"event": "end"}]
    for event in events:
        if event.get("family") == "lifecycle":
            event["findings"] = [finding("ordering/pages-tile", api=event["api"])]
    (judged,) = merged(shards(events))["savers"]
    (tile,) = [one for one in judged["contracts"] if one["id"] == "ordering/pages-tile"]
    assert (tile["verdict"], len(tile["violations"])) == ("violated", 2)
    assert judged["summary"] == report_of(events)["savers"][0]["summary"]


def test_what_one_part_left_open_another_has_settled() -> None:
    events = [run_event(), *saver_events("x"), {"event": "end"}]
    left = [{"contracts": ["lifecycle/reopen"], "times": 3, "steps": ["reopen"]}]
    for event in events:
        if event.get("family") == "ordering":
            counts = {"seen": 0, "shown": 0, "explained": 0, "unknown": 0, "elsewhere": left}
            event["extra"] = {**event.get("extra", {}), "differences": counts}
        elif event.get("family") == "lifecycle":
            event["findings"] = [finding("lifecycle/reopen", api=event["api"])]
    (judged,) = merged(shards(events))["savers"]
    assert judged["differences"] == report_of(events)["savers"][0]["differences"]
    assert judged["differences"]["explained"] > 0


def test_runs_that_judged_the_same_stand_side_by_side() -> None:
    events = [run_event(), *saver_events("x"), {"event": "end"}]
    whole, part = report_of(events), shard(events, SHARDS[0])
    assert len(merged([whole, part])["savers"]) == 2
    other = shard([run_event(), *saver_events("x", version="9"), {"event": "end"}], SHARDS[1])
    assert len(merged([part, other])["savers"]) == 2
