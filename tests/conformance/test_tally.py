"""What an item comes to: what is held, what was given up, and what is left open."""

from tests.conformance.judging_support import EVERY_OPERATION, facts_from

from saverproof.families.items import Finding, ItemPlan
from saverproof.families.tally import Tally

PLAN = ItemPlan({}, facts_from(EVERY_OPERATION), "upsert", "sync", "quick", 0, "")
REPLACES, IDEMPOTENT = "upsert/put-replaces", "upsert/put-is-idempotent"


def finding(contract: str) -> Finding:
    return Finding(contract, "sync", "fault", "", "", "", (), None, "")


def test_a_contract_all_of_whose_checks_were_given_up_is_not_exercised() -> None:
    tally = Tally(PLAN)
    tally.agreed(IDEMPOTENT)
    tally.give_up(REPLACES, "nobody could look", IDEMPOTENT)
    outcome = tally.outcome()
    assert outcome.unexercised == {REPLACES: f"nobody could look: {IDEMPOTENT} stands in the way"}
    assert REPLACES not in outcome.checked


def test_one_check_that_was_made_is_enough() -> None:
    tally = Tally(PLAN)
    tally.give_up(REPLACES, "nobody could look", IDEMPOTENT)
    tally.agreed(REPLACES)
    assert tally.outcome().unexercised == {}


def test_what_is_found_broken_was_exercised() -> None:
    tally = Tally(PLAN)
    tally.give_up(REPLACES, "nobody could look", IDEMPOTENT)
    tally.findings.append(finding(REPLACES))
    assert tally.outcome().unexercised == {}
