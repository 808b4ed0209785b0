"""A call that raises for some names or questions is not told as one that always raises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.conformance.judging_support import plan_of
from tests.wrong_savers.registry import opener

from saverproof.contracts.tables.serialization import NAMES
from saverproof.families.registry import judged
from saverproof.mistakes import selecting
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.savers.targets.target import Target


class NamesAsJsonPaths(ReferenceSaver):
    """Stores any channel, and cannot read those whose names begin as no path of JSON does."""

    def get_tuple(self, config: Any) -> Any:
        return _readable(super().get_tuple(config))

    def list(self, config: Any, **narrowing: Any) -> Any:
        return map(_readable, super().list(config, **narrowing))


def _readable(found: Any) -> Any:
    if found is not None and any(
        name.startswith("../") for name in found.checkpoint["channel_versions"]
    ):
        raise ValueError("JSON path error near '.../count'")
    return found


def test_the_names_are_blamed_if_other_checkpoints_are_read(tmp_path: Path) -> None:
    target = Target(name="wrong", open=opener(NamesAsJsonPaths))
    outcome = judged(plan_of(target, "serialization", "sync", tmp_path), target)
    assert {one.contract for one in (*outcome.findings, *outcome.handed)} == {NAMES.id}
    assert outcome.unsettled == {}


class ForOneThread(selecting.ListDefaultsToRoot, selecting.ListNeedsAConfig):
    """Lists one thread, and without a namespace its root alone."""


def test_a_listing_that_needs_a_config_is_told_so(tmp_path: Path) -> None:
    target = Target(name="wrong", open=opener(ForOneThread))
    outcome = judged(plan_of(target, "identity", "sync", tmp_path), target)
    assert {one.contract: one.mistake for one in outcome.findings} == {
        "identity/list-selects": 'config["configurable"] of None',
        "identity/list-without-namespace": (
            "without a namespace only the root's checkpoints are listed"
        ),
    }
    assert outcome.unsettled == {}
