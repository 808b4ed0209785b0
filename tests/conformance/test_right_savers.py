"""Right savers of unusual design are accused of nothing, in any family.

Each is judged once by a little of what its design is about, and of all that takes no processes and
little time; ``SAVERPROOF_SEEDS`` (``make selftest-full``) judges them by the quick profile through
all their APIs and in every family, under kills and by many callers too.
"""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.a_little import PARTS, accusations_in, judge_a_little
from tests.conformance.judging_support import facts_of, plan_of
from tests.conformance.right_targets import ref_to
from tests.conformance.selftest_support import EVERY_FAMILY, SEEDS
from tests.right_savers import RIGHT, RightSaver
from tests.right_savers.registry import ON_THE_LOOP

from saverproof.contracts.contract import Level
from saverproof.contracts.registry import TABLES, contract
from saverproof.families.asked_saver import AskedSaver
from saverproof.families.atomicity import effort as atomicity
from saverproof.families.chain import Chain
from saverproof.families.items import ItemPlan
from saverproof.families.machines.registry import FUNCTIONAL_FAMILIES
from saverproof.families.registry import judged
from saverproof.savers.execution.store import Store
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.loading import load

SLOW = {"concurrency", "durability"}
"""What is judged in processes of their own."""
FAMILIES = [table.name for table in TABLES if EVERY_FAMILY or table.name not in SLOW]
BY_TURNS = (
    *("atomicity", "cost", "deletion", "graph", "isolation", "resources", "serialization"),
    *("channels", "delta-history", "filter", "identity", "lifecycle"),
    *("ordering", "parity", "pending-writes", "upsert"),
)
"""What is judged by day where a design is about it, and of other savers by turns: those of a base
store and answer alike.
"""
_TURNS = 3
_READERS = 8
"""Tasks that read at once: more than a small pool has connections."""


@pytest.fixture
def little(right: RightSaver, monkeypatch: pytest.MonkeyPatch) -> None:
    """What each family needs to have accused the right savers that it once accused."""
    if EVERY_FAMILY:
        return
    judge_a_little(RIGHT.index(right), monkeypatch, lambda family: judged_in(family).index(right))
    # A third of the quick profile: each of some twenty savers is failed at other places.
    faults = dataclasses.replace(atomicity.EFFORTS["quick"], most=50)
    monkeypatch.setitem(atomicity.EFFORTS, "quick", faults)


def apis_of(right: RightSaver, family: str) -> tuple[str, ...]:
    """Through which APIs a family is judged: where it is quick, one after the other."""
    if family == "parity":
        return ("crossed",)
    if EVERY_FAMILY or len(right.apis) == 1:
        return right.apis
    # Each family through one, and each API by half of the savers.
    return (right.apis[RIGHT.index(right) % len(right.apis)],)


def families_of(right: RightSaver) -> list[str]:
    """The families in which a right saver is judged."""
    # Savers that follow each other are judged by other parts of what a family has.
    turn = RIGHT.index(right) // _TURNS
    left_out = {
        name
        for number, name in enumerate(BY_TURNS)
        if not EVERY_FAMILY and name not in right.about and (turn + number) % _TURNS
    }
    if not right.durable:
        left_out.add("durability")
    return [name for name in FAMILIES if name not in left_out]


def judged_in(family: str) -> list[RightSaver]:
    """The right savers that are judged in a family."""
    return [right for right in RIGHT if family in families_of(right)]


def plans_of(right: RightSaver, folder: Path, seed: int) -> list[ItemPlan]:
    """One plan for each family and API."""
    ref = ref_to(right.name)
    target = load(ref)
    facts = facts_of(target, folder)
    facts["capabilities"] = [name for name in facts["capabilities"] if name not in right.declines]
    facts["absent"] |= right.declines
    return [
        dataclasses.replace(
            plan_of(target, family, api, folder, seed=seed, facts=facts), target=ref.to_json()
        )
        for family in families_of(right)
        for api in apis_of(right, family)
    ]


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("right", RIGHT, ids=lambda right: right.name)
def test_a_right_saver_is_accused_of_nothing(right: RightSaver, seed: int, tmp_path: Path) -> None:
    target = load(ref_to(right.name))
    judgements = [judged(plan, target) for plan in plans_of(right, tmp_path, seed)]
    accused = [
        line
        for outcome in judgements
        for line in accusations_in(outcome, {**right.advice, **ON_THE_LOOP}, right.unjudged)
    ]
    assert not accused, "\n".join(accused)
    checked = {name for outcome in judgements for name in outcome.checked}
    declined = {name.replace("_", "-") for name in right.declines}
    functional = {*FUNCTIONAL_FAMILIES}.intersection(families_of(right))
    assert {contract(name).family for name in checked} >= functional - declined


@pytest.mark.parametrize("right", RIGHT, ids=lambda right: right.name)
def test_what_a_right_saver_does_not_follow_is_advice(right: RightSaver) -> None:
    assert all(contract(name).level is Level.SHOULD for name in right.advice)
    assert all(contract(name) for name in right.unjudged)
    assert all([*right.declines.values(), *right.advice.values(), *right.unjudged.values()])


@pytest.mark.parametrize("family", BY_TURNS)
def test_each_family_that_is_left_out_of_some_is_judged_of_several(family: str) -> None:
    savers = judged_in(family)
    # Together these take all that the family has.
    assert {RIGHT.index(right) % _TURNS for right in savers} == {*range(_TURNS)}
    if family in FUNCTIONAL_FAMILIES:
        assert len(savers) >= PARTS
    assert all(family in families_of(right) for right in RIGHT if family in right.about)


@pytest.mark.parametrize(
    "right", [one for one in RIGHT if "async" in one.apis], ids=lambda right: right.name
)
def test_a_right_saver_answers_many_readers_at_once(right: RightSaver, tmp_path: Path) -> None:
    """By day no family with many callers judges these savers."""
    with (
        EventLoop() as loop,
        Store(load(ref_to(right.name)), tmp_path, loop, ("async",)) as store,
    ):
        chain = Chain(AskedSaver(store), "read-by-many")
        chain.step()
        saver = store.drivers[0].saver

        async def answers() -> list[Any]:
            return await asyncio.gather(*(saver.aget_tuple(chain.place) for _ in range(_READERS)))

        ids = [found.config["configurable"]["checkpoint_id"] for found in loop.run(answers())]
    assert ids == [chain.configs[-1]["configurable"]["checkpoint_id"]] * _READERS


def test_there_are_a_dozen_of_them() -> None:
    assert len({right.name for right in RIGHT}) >= 12
