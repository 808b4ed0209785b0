"""A difference follows from a finding only where all that the finding needs is there.

By day a flaw of ids, and one of everything; by night, more kinds of what is needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, facts_of, plan_of
from tests.crowds.two_tables import TwoTables, opened

from saverproof.families.items import Outcome
from saverproof.families.registry import judged
from saverproof.mistakes.isolation import GetByIdInAnyNamespace
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import Shelf
from saverproof.mistakes.registry import opener
from saverproof.mistakes.values import MangledValues
from saverproof.savers.targets.target import Target


class SeparatorsReplaced(GetByIdInAnyNamespace):
    """Finds an id in any namespace; and its listings name nested namespaces in another way.

    No known mistake predicts the latter, which needs a namespace, as the former does.
    """

    def _listed(self, config: RunnableConfig | None, found: CheckpointTuple) -> CheckpointTuple:
        named: dict[str, Any] = {**found.config["configurable"]}
        named["checkpoint_ns"] = named["checkpoint_ns"].replace(":", "/")
        return found._replace(config={"configurable": named})


class LowerCase(ReferenceSaver):
    """Files threads under their ids in lower case, and names them as it is asked to.

    No known mistake predicts this in full: one of a collation without case gives the stored name.
    """

    def _shelf_key(self, thread: str, ns: str) -> tuple[str, str]:
        return thread.lower(), ns


class NamesTheLastPart(ReferenceSaver):
    """Wraps threads of tenants, and answers with what follows the last slash of a thread id."""

    def put(self, *given: Any, **named: Any) -> Any:
        answered = super().put(*given, **named)
        return {"configurable": last_part(answered["configurable"])}

    def _tuple(self, *given: Any, **named: Any) -> CheckpointTuple:
        found = super()._tuple(*given, **named)
        return found._replace(config={"configurable": last_part(found.config["configurable"])})


def last_part(address: Any) -> dict[str, Any]:
    return {**address, "thread_id": address["thread_id"].rpartition("/")[2]}


class DeletesUpToNul(ReferenceSaver):
    """Compares thread ids up to a NUL, as C does, when it deletes. No known mistake predicts it."""

    def _shelves_to_delete(self, thread: str) -> list[Shelf]:
        cut = thread.split("\0")[0]
        return [shelf for shelf in self._all_shelves() if shelf.thread.split("\0")[0] == cut]


class WritesInNamespacesAsText(TwoTables):
    """Gives the writes of a namespace as text. No known mistake predicts it."""

    def writes_of(self, key: tuple[bytes, ...]) -> list[tuple[str, str, Any]]:
        found = super().writes_of(key)
        return [(task, name, f"<{value!r}>") for task, name, value in found] if key[1] else found


class NoFilterInNamespacesEither(WritesInNamespacesAsText):
    """Ignores a filter, too, where a namespace is listed."""

    def list(
        self, config: Any, *, filter: dict[str, Any] | None = None, **how: Any
    ) -> Iterator[CheckpointTuple]:
        inside = config and config["configurable"].get("checkpoint_ns")
        yield from super().list(config, filter=None if inside else filter, **how)


class NumbersOfJsonb(MangledValues):
    """Keeps values as PostgreSQL's jsonb does: -1e16 becomes an integer, infinity is refused."""

    def changed(self, value: Any) -> Any:
        if type(value) is not float:
            return value
        if not math.isfinite(value):
            raise ValueError('Token "Infinity" is invalid')
        # 1.0 stays a float, as jsonb keeps its point; 1e+16 has none.
        return int(value) if abs(value) >= 1e16 else value


def outcome_of(saver: type[ReferenceSaver], folder: Path, family: str = "isolation") -> Outcome:
    """What a family finds of a saver."""
    target = Target(name="wrong", open=opener(saver))
    return judged(
        plan_of(target, family, "sync", folder, facts=facts_from(EVERY_OPERATION)), target
    )


def test_a_flaw_that_shows_everywhere_is_told_once(tmp_path: Path) -> None:
    outcome = outcome_of(LowerCase, tmp_path)
    told = {found.contract for found in outcome.findings}
    assert told == {"isolation/hostile-identifiers"}
    assert not outcome.unsettled


def test_ids_that_are_hostile_in_several_ways_are_one_flaw_by_what_they_share(
    tmp_path: Path,
) -> None:
    # "../a" goes up a folder, "a/b" joins two names: the slash alone is what makes the difference.
    outcome = outcome_of(NamesTheLastPart, tmp_path)
    assert {found.contract for found in outcome.findings} == {"isolation/hostile-identifiers"}
    assert not outcome.unsettled
    assert not outcome.extra["differences"]["elsewhere"]


@pytest.mark.nightly
def test_values_of_another_kind_may_be_wrong_for_their_own_reason(tmp_path: Path) -> None:
    outcome = outcome_of(NumbersOfJsonb, tmp_path, "serialization")
    told = {found.contract for found in outcome.findings}
    assert told == {"serialization/channel-values", "serialization/non-finite"}
    assert not outcome.unsettled


@pytest.mark.nightly
def test_a_step_that_every_program_has_is_no_need_of_its_own(tmp_path: Path) -> None:
    # In the shortest program the thread that is deleted holds nothing; in the others it does.
    outcome = outcome_of(DeletesUpToNul, tmp_path)
    assert {found.contract for found in outcome.findings} == {"isolation/hostile-identifiers"}
    assert not outcome.unsettled
    assert not outcome.extra["differences"]["elsewhere"]


@pytest.mark.nightly
def test_a_flaw_of_writes_explains_nothing_of_programs_without_writes(tmp_path: Path) -> None:
    # Both need a namespace, and most programs with a filter have no writes.
    target = Target(name="wrong", open=partial(opened, NoFilterInNamespacesEither))
    plan = plan_of(target, "filter", "sync", tmp_path, facts=facts_of(target, tmp_path))
    outcome = judged(plan, target)
    assert {found.contract for found in outcome.findings} == {"filter/equality"}


@pytest.mark.nightly
def test_a_flaw_of_all_namespaces_is_told_beside_one_of_odd_names(tmp_path: Path) -> None:
    outcome = outcome_of(SeparatorsReplaced, tmp_path)
    told = {found.contract for found in outcome.findings}
    assert told == {"isolation/namespaces", "isolation/nested-namespaces"}
    assert not outcome.unsettled


@pytest.mark.nightly
def test_needs_are_told_only_where_no_known_mistake_says_what_is_wrong(tmp_path: Path) -> None:
    findings = outcome_of(SeparatorsReplaced, tmp_path).findings
    needs = {bool(found.mistake): found.needs for found in findings}
    # A predicted breach counts as gone whatever is taken out, so that every part would be needed.
    assert needs[True] == ()
    assert "namespaces" in needs[False]
