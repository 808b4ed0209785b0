"""What expires in part, or although it is used, is blamed on one contract, and nothing else is."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.conformance import expiring_targets
from tests.conformance.expiring_targets import RIGHT, attribute_of, said
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, plan_of
from tests.conformance.script_runs import ended_here
from tests.wrong_savers import WRONG, WrongSaver, opener
from tests.wrong_savers.expiring import (
    STAY,
    TTL_S,
    WHOLE,
    Expiring,
    HalfOfItsTime,
    StoredPart,
    pass_time,
)

from saverproof import Expiry, Target, target
from saverproof.contracts.tables.expiry import TABLE
from saverproof.errors import TargetError
from saverproof.families.answer import Status
from saverproof.families.checks import CheckContext, CheckFamily
from saverproof.families.expiry.family import FAMILY
from saverproof.families.items import ItemPlan, Outcome
from saverproof.families.tally import Tally
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.reference import TargetRef
from saverproof.scripts.script import LONGEST

EXPIRING = [wrong for wrong in WRONG if wrong.breaks.startswith("expiry/")]


class OnlyWritesCount(Expiring):
    """Reading does not begin the time anew, and is not said to."""

    def renewed_by_read(self, parts: list[StoredPart], ns: str) -> list[StoredPart]:
        return []


def plan_for(found: Target, api: str, folder: Path) -> ItemPlan:
    facts = facts_from(EVERY_OPERATION, durable=False, expires=True)
    return plan_of(found, "expiry", api, folder, facts=facts)


def judged(found: Target, folder: Path, api: str = "sync") -> Outcome:
    plan = plan_for(found, api, folder)
    tally = Tally(plan)
    FAMILY.judge(plan, found, tally)
    return tally.outcome()


@pytest.mark.parametrize("api", ["sync", "async"])
@pytest.mark.parametrize("wrong", EXPIRING, ids=lambda wrong: wrong.name)
def test_each_mistake_is_blamed_on_one_contract(
    wrong: WrongSaver, api: str, tmp_path: Path
) -> None:
    outcome = judged(said(wrong.saver), tmp_path, api)
    assert {found.contract for found in outcome.findings} == {wrong.breaks}
    assert not outcome.unknown
    (found,) = outcome.findings
    assert any("seconds pass" in step for step in found.steps)


BY_DAY = {
    "writes-expire-first": "async",
    "half-of-its-time": "sync",
    "reads-renew-one-namespace": "async",
    "lists-what-has-expired": "sync",
    "ancestors-expire": "async",
}
"""One wrong saver for each way in which a script complains, and the API that it calls."""


@pytest.mark.parametrize(
    ("name", "api"),
    [
        pytest.param(
            *(wrong.name, api),
            marks=() if BY_DAY.get(wrong.name) == api else pytest.mark.nightly,
        )
        for wrong in EXPIRING
        for api in ("sync", "async")
    ],
)
def test_what_expires_is_shown_by_a_script(name: str, api: str, tmp_path: Path) -> None:
    attribute = attribute_of(name)
    ref = TargetRef(attribute, expiring_targets.__name__, None, attribute)
    (found,) = judged(load(ref), tmp_path, api).findings
    assert 0 < found.reproducer.count("\n") <= LONGEST
    # Tried before it was told: it complains of this saver.
    assert ended_here(found.reproducer.replace(attribute, RIGHT)) == (0, "")


@pytest.mark.parametrize("api", ["sync", "async"])
@pytest.mark.parametrize(
    ("saver", "reads"), [(Expiring, True), (Expiring, False), (OnlyWritesCount, False)]
)
def test_a_saver_that_forgets_whole_threads_is_accused_of_nothing(
    saver: Any, reads: bool, api: str, tmp_path: Path
) -> None:
    outcome = judged(said(saver, reads=reads), tmp_path, api)
    assert not outcome.findings
    assert not outcome.unknown
    assert outcome.checked.keys() == {WHOLE, STAY}


def test_nothing_is_whole_where_nothing_is_shown(tmp_path: Path) -> None:
    outcome = judged(said(HalfOfItsTime), tmp_path)
    assert {found.contract for found in outcome.findings} == {STAY}
    assert not outcome.checked.get(WHOLE)


class RenewsNoWritesAndNoValues(Expiring):
    """Values that stay unchanged expire, and so do pending writes after a read."""

    def renewed_by_put(self, parts: list[StoredPart], new_versions: Any) -> list[StoredPart]:
        return [part for part in parts if part[2] != "value"]

    def renewed_by_read(self, parts: list[StoredPart], ns: str) -> list[StoredPart]:
        return [part for part in parts if part[2] != "writes"]


def test_of_two_flaws_both_are_told(tmp_path: Path) -> None:
    (found,) = judged(said(RenewsNoWritesAndNoValues), tmp_path).findings
    assert found.summary.endswith("has expired: messages")
    assert found.steps[-1].startswith("seen in another thread as well: ")
    assert "pending write of answer" in found.steps[-1]


class ShowsNoWrites(Expiring):
    """Wrong in another way."""

    def get_tuple(self, config: Any) -> Any:
        found = super().get_tuple(config)
        return found and found._replace(pending_writes=[])


class ShowsNothing(Expiring):
    """Wrong in yet another way."""

    def get_tuple(self, config: Any) -> None:
        return None


@pytest.mark.parametrize("saver", [ShowsNoWrites, ShowsNothing])
def test_what_is_never_shown_has_not_expired(saver: Any, tmp_path: Path) -> None:
    outcome = judged(said(saver), tmp_path)
    assert not outcome.findings
    assert not outcome.checked
    assert all("before any time has passed" in why for why in outcome.unknown.values())
    assert outcome.unknown.keys() == {WHOLE, STAY}


def test_nothing_is_held_where_nothing_expires(tmp_path: Path) -> None:
    outcome = judged(said(ReferenceSaver), tmp_path)
    assert not outcome.findings
    assert not outcome.checked
    assert outcome.unknown.keys() == {WHOLE, STAY}
    assert all("still shown" in why for why in outcome.unknown.values())


def test_a_recorded_violation_is_replayed(tmp_path: Path) -> None:
    (wrong, *_) = EXPIRING
    found = said(wrong.saver)
    plan = plan_for(found, "sync", tmp_path)
    recorded = judged(found, tmp_path).findings[0].program
    assert FAMILY.replay(plan, found, wrong.breaks, recorded).status is Status.FAILING
    assert FAMILY.replay(plan, said(Expiring), wrong.breaks, recorded).status is Status.FIXED


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"seconds": 5}, "seconds is 5, expected a finite number from 60 on"),
        ({"seconds": float("nan")}, "seconds is nan, expected a finite number from 60 on"),
        ({"seconds": True}, "seconds is True, expected a number"),
        ({"pass_time": 7}, "pass_time is 7, expected a function"),
        ({"renewed_by_reads": "yes"}, "renewed_by_reads is 'yes', expected True or False"),
    ],
)
def test_what_is_said_amiss_is_told_in_one_line(given: Any, words: str) -> None:
    with pytest.raises(TargetError, match=words):
        Expiry(**{"seconds": TTL_S, "pass_time": pass_time, **given})


def test_a_target_takes_nothing_else_for_its_expiry() -> None:
    seconds: Any = TTL_S
    with pytest.raises(TargetError, match="expiry is 3600, expected an Expiry, or None"):
        target(name="expiring", expiry=seconds)(opener(Expiring))


def test_a_script_that_raises_costs_no_finding(tmp_path: Path) -> None:
    def differ(context: CheckContext) -> None:
        context.differed("something", expected="one", observed="another")
        context.script = partial(int, "no script")  # type: ignore[assignment]

    def say_nothing(context: CheckContext) -> None:
        """Report nothing."""

    family = CheckFamily(TABLE, {WHOLE: differ, STAY: say_nothing})
    found = said(Expiring)
    tally = Tally(plan_for(found, "sync", tmp_path))
    family.judge(tally.plan, found, tally)
    (finding,) = tally.outcome().findings
    assert finding.reproducer == ""
    assert finding.steps[-1].startswith("its script raised ValueError")
