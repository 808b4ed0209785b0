"""Contracts on updates, one at a time: what a change of settings loses, and how graphs go on.

By day one of each kind of contract; what is played again, by night.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.upgrade.test_upgrade import Releases
from tests.conformance.upgrade.upgrade_savers import (
    ForgetsAnswers,
    KeepsItsSerializer,
    LenientByItsSerializer,
    RefusesWhatAnotherSerializerStored,
    TwoFlaws,
)
from tests.conformance.upgrade.upgrade_support import kept
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.upgrades import (
    CipherOfToday,
    Later,
    OldAnswersStay,
    ReadsLeniently,
)

from saverproof.families.answer import Status
from saverproof.families.items import Outcome
from saverproof.families.upgrade.judging import GRAPH_RESUMES, SETTINGS, STRICT_MSGPACK
from saverproof.families.upgrade.replay import replay

Judged = Callable[..., tuple[Outcome, list[str]]]


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judged:
    """Judges a saver by one contract, as the release after another one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))

    def judge(only: str, saver: Any, old: Any = SqliteReference) -> tuple[Outcome, list[str]]:
        made = Releases(tmp_path, saver, old)
        monkeypatch.syspath_prepend(made.new)
        return made.judged_with_notes(only)

    return judge


@pytest.mark.nightly
def test_a_saver_that_says_what_it_cannot_read_is_right(judged: Judged) -> None:
    outcome, _ = judged(SETTINGS, RefusesWhatAnotherSerializerStored)
    assert not outcome.findings
    assert SETTINGS in outcome.checked


def test_a_change_that_never_comes_to_the_saver_is_told(judged: Judged) -> None:
    outcome, notes = judged(SETTINGS, KeepsItsSerializer)
    assert not outcome.findings
    assert any(
        "encryption: the saver called no serializer that was given to it" in n for n in notes
    )


def test_a_saver_that_goes_by_its_own_serializer_is_right(judged: Judged) -> None:
    outcome, _ = judged(STRICT_MSGPACK, LenientByItsSerializer)
    assert not outcome.findings
    assert STRICT_MSGPACK not in outcome.checked
    assert "in the same way with strict msgpack" in outcome.unexercised[STRICT_MSGPACK]


def test_strict_msgpack_is_held_of_a_saver_that_refuses_other_serializers(judged: Judged) -> None:
    outcome, _ = judged(STRICT_MSGPACK, RefusesWhatAnotherSerializerStored)
    assert not outcome.findings
    assert STRICT_MSGPACK in outcome.checked


@pytest.mark.nightly
def test_a_strict_read_is_played_again(
    judged: Judged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome, _ = judged(STRICT_MSGPACK, ReadsLeniently)
    (found,) = outcome.findings
    assert "FunctionProfile" in found.observed
    assert "FunctionProfile" not in found.expected
    mended = Releases(tmp_path / "mended", Later, SqliteReference)
    monkeypatch.syspath_prepend(mended.new)
    assert replay(mended.plan, kept, STRICT_MSGPACK, found.program).status is Status.FIXED


@pytest.mark.nightly
def test_of_two_flaws_both_are_told(judged: Judged) -> None:
    outcome, notes = judged(SETTINGS, TwoFlaws)
    (found,) = outcome.findings
    told = [found.observed, *(note for note in notes if note.startswith(f"{SETTINGS}, too"))]
    assert any("never encrypted" in one for one in told)
    assert any("nothing" in one for one in told)


@pytest.mark.nightly
def test_a_change_is_played_again(
    judged: Judged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome, _ = judged(SETTINGS, CipherOfToday)
    (found,) = outcome.findings
    assert "never encrypted" in found.observed
    assert found.program["change"] == "encryption-on"
    plan = Releases(tmp_path / "again", CipherOfToday, SqliteReference).plan
    assert replay(plan, kept, SETTINGS, found.program).status is Status.FAILING
    mended = Releases(tmp_path / "mended", Later, SqliteReference)
    monkeypatch.syspath_prepend(mended.new)
    assert replay(mended.plan, kept, SETTINGS, found.program).status is Status.FIXED
    with pytest.raises(ValueError, match=r"^change: found 'sideways', expected one of \['encry"):
        replay(plan, kept, SETTINGS, {**found.program, "change": "sideways"})


@pytest.mark.nightly
def test_a_graph_that_does_not_go_on_anywhere_is_no_matter_of_updates(judged: Judged) -> None:
    outcome, notes = judged(GRAPH_RESUMES, Later, ForgetsAnswers)
    assert not outcome.findings
    # Four of five are no pass: what is not tried is named.
    assert GRAPH_RESUMES not in outcome.checked
    said = "three questions goes otherwise where plain 1.0 plays both parts"
    assert said in outcome.unknown[GRAPH_RESUMES]
    assert any(said in note for note in notes)


@pytest.mark.nightly
def test_a_graph_goes_on_again(
    judged: Judged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome, _ = judged(GRAPH_RESUMES, OldAnswersStay)
    (found,) = outcome.findings
    assert found.program["graph"] == "asked-often"
    mended = Releases(tmp_path / "mended", Later, SqliteReference)
    monkeypatch.syspath_prepend(mended.new)
    assert replay(mended.plan, kept, GRAPH_RESUMES, found.program).status is Status.FIXED
    with pytest.raises(ValueError, match=r"^graph: found 'round', expected one of \['asked', "):
        replay(mended.plan, kept, GRAPH_RESUMES, {**found.program, "graph": "round"})
