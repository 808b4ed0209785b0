"""A saver that no layer of faults reached does not end with an unqualified pass, in any format."""

import pytest
from tests.reports.sample import Data, extra, run_event, saver_events

from saverproof_reports import html, markdown, report_of, validate
from saverproof_reports.github import annotations
from saverproof_reports.wording import run_standing, sentence

WHY = (
    "this container's or system's rules forbid seccomp filters (Operation not permitted), which "
    "Docker allows with --security-opt seccomp=unconfined"
)
LINE = f"no storage fault was tried: {WHY}."


def report(*reasons: str) -> Data:
    """That of a saver whose items of atomicity gave these reasons ("" where faults were tried)."""
    events = saver_events("files", sections=extra({}))
    items = [event for event in events if event.get("family") == "atomicity"]
    for item, why in zip(items, reasons, strict=True):
        empty = {"points": 0, "injected": 0, "by_kind": {}}
        item["extra"] = {"faults": empty | ({"untried": why} if why else {})}
    durability = next(event for event in events if event.get("extra", {}).get("crash"))
    del durability["extra"]["faults"]
    return report_of([run_event(), *events, {"event": "end"}])


def test_the_headline_says_so() -> None:
    found = report(WHY, WHY)
    assert sentence(found) == "files keeps all 56 musts that apply; no storage fault was tried."
    assert run_standing(found) == "open"


def test_every_format_has_the_reason_in_one_line() -> None:
    found = report(WHY, WHY)
    validate(found)
    assert found["savers"][0]["faults"]["untried"] == WHY
    lines = markdown(found).replace("\\", "").splitlines()
    assert f"- {LINE}" in lines
    assert LINE[1:].replace("'", "&#39;") in html(found)
    assert any(LINE in line.replace("%25", "%") for line in annotations(found))


@pytest.mark.parametrize("reasons", [("", WHY), (WHY, ""), ("", "")])
def test_a_saver_that_was_failed_through_one_api_passes(reasons: tuple[str, str]) -> None:
    found = report(*reasons)
    assert sentence(found) == "files keeps all 56 musts that apply."
    assert "untried" not in found["savers"][0]["faults"]
    assert annotations(found) == []
