"""Right savers on real servers are accused of nothing, by a little of everything.

By day that on Redis is judged by faults, kills and callers; at night those on PostgreSQL and
MariaDB as well, and each also in a third of the families of programs and graphs. Their servers are
killed, stand still and refuse in other tests; ``make right-on-servers`` judges them by the whole
quick profile.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from saverproof.contracts.registry import TABLES
from saverproof.families.atomicity import effort as atomicity
from saverproof.families.atomicity import family as faults
from saverproof.families.atomicity.effort import FaultEffort
from saverproof.families.atomicity.scenarios import A_NEW_TASK, SCENARIOS, THE_SAME_ID
from saverproof.families.concurrency import effort as concurrency
from saverproof.families.concurrency.effort import SceneEffort
from saverproof.families.durability import effort as durability
from saverproof.families.functional.judging import SLOW_TO_OPEN_MS
from saverproof.families.registry import judged
from saverproof.savers.targets.target import Target
from saverproof_faults.servers import ServerUnavailable, serving
from tests.conformance.a_little import accusations_in, judge_a_little
from tests.conformance.judging_support import facts_of, plan_of
from tests.nights import by_night
from tests.servers import mariadb_saver, postgres_savers, redis_saver

RIGHT = [postgres_savers.right, mariadb_saver.right, redis_saver.right]
FAULTS = 20
FAILED_IN_A_ROW = (THE_SAME_ID, A_NEW_TASK)
SCENES = SceneEffort(shared=2, instances=1, processes=1, races=1, overtaken=True, reads=12)
KILLS = {"swept": 8, "instants": 1, "beside": 1, "graphs": 2, "servers": 0}
IN_PROCESSES = {"atomicity", "durability", "concurrency"}
ALL = [table.name for table in TABLES]
NOT_OF_THESE = {"upgrade", "expiry"}
"""Families of savers with older releases, or with a time to live."""
PROGRAMS = "by programs and graphs"
UNSEEN = {"concurrency/reads-change-nothing": "what no saver shows is seen in files alone"}


@pytest.fixture(
    params=[
        # They speak by messages as Redis does, and take two and three times as long.
        by_night(0, id="PostgreSQL"),
        by_night(1, id="MariaDB"),
        pytest.param(2, id="Redis"),
    ]
)
def right(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Target]:
    """A right saver while its server runs, and while all that is judged is a part of it."""
    turn: int = request.param
    judge_a_little(turn, monkeypatch)
    part = [*SCENARIOS[turn :: len(RIGHT)], *FAILED_IN_A_ROW]
    monkeypatch.setattr(faults, "SCENARIOS", [one for one in SCENARIOS if one in part])
    monkeypatch.setitem(atomicity.EFFORTS, "quick", FaultEffort(most=FAULTS, slow_most=FAULTS))
    kills = dataclasses.replace(durability.EFFORTS["quick"], **KILLS)
    monkeypatch.setitem(durability.EFFORTS, "quick", kills)
    monkeypatch.setitem(concurrency.EFFORTS, "quick", SCENES)
    target = RIGHT[turn]
    assert target.server is not None
    try:
        with serving(target.server):
            yield target
    except ServerUnavailable as reason:
        pytest.skip(str(reason))


# They are written to be plain, and pay for it: what they cost is not judged here.
BY_PROGRAMS = [name for name in ALL if name not in IN_PROCESSES and name != "cost"]


def families_of(right: Target, kind: str) -> list[str]:
    """Those that a saver is judged in: of what programs and graphs tell, each has a third."""
    return (
        BY_PROGRAMS[RIGHT.index(right) :: len(RIGHT)] if kind == PROGRAMS else sorted(IN_PROCESSES)
    )


@pytest.mark.parametrize("kind", [by_night(PROGRAMS), "by faults, kills and callers"])
def test_a_right_saver_is_accused_of_nothing(kind: str, right: Target, tmp_path: Path) -> None:
    assert right.ref is not None
    families = families_of(right, kind)
    facts = facts_of(right, tmp_path)
    if right is not redis_saver.right:  # It reads its whole store in each call.
        facts |= {"opens_ms": SLOW_TO_OPEN_MS}
    accused: list[str] = []
    for family in families:
        api = "crossed" if family == "parity" else "sync"
        plan = plan_of(right, family, api, tmp_path, facts=facts)
        outcome = judged(dataclasses.replace(plan, target=right.ref.to_json()), right)
        assert outcome.checked or family in NOT_OF_THESE, family
        accused += accusations_in(outcome, unjudged=UNSEEN)
    assert not accused, "\n".join(accused)
