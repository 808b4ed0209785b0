"""Two savers on one store show each wrong saver that keeps what another one has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.instances import (
    ChangesCountedAnew,
    EmptyAnswerKept,
    LatestIdKept,
    LatestIdKeptByTheProcess,
    ListingKept,
    OwnCheckpointsKept,
    OwnLatestKept,
)
from tests.wrong_savers.readers import (
    CacheOfTheInstance,
    ReaderNeverEnds,
)
from tests.wrong_savers.scenes.failing import (
    prepared,
    two,
)
from tests.wrong_savers.scenes.probe import Probe
from tests.wrong_savers.support import (
    opening,
    reading,
)


@pytest.mark.parametrize("saver", [CacheOfTheInstance, LatestIdKept, ReaderNeverEnds])
def test_what_another_instance_wrote_is_not_seen(saver: Any, tmp_path: Path) -> None:
    first, second = two(saver, tmp_path)
    assert first.id_of() == 2
    second.put(3, parent=2)
    assert first.id_of() == 2
    assert reading(tmp_path).get_tuple(first.config()).checkpoint["id"] == first.id(3)


@pytest.mark.parametrize("saver", [EmptyAnswerKept, ListingKept])
def test_an_answer_is_kept_against_what_another_instance_wrote(saver: Any, tmp_path: Path) -> None:
    first, second = two(saver, tmp_path)
    assert first.id_of("b") is None
    assert first.ids(first.config("b")) == []
    second.put(1, thread="b")
    assert first.id_of("b") is None or first.ids(first.config("b")) == []


def test_what_an_instance_put_is_kept_against_what_another_one_puts(tmp_path: Path) -> None:
    first, second = two(OwnLatestKept, tmp_path)
    first.put(3, parent=2)
    second.put(4, parent=3)
    assert first.id_of() == 3
    assert second.id_of() == 4


def test_what_an_instance_put_is_answered_as_it_put_it(tmp_path: Path) -> None:
    first, second = two(OwnCheckpointsKept, tmp_path)
    for probe, step in ((first, 1), (second, 2)):
        probe.put(3, parent=2, metadata={"step": step})
    shown = [each.saver.get_tuple(each.config()).metadata["step"] for each in (first, second)]
    assert shown == [1, 2]


def test_as_many_changes_as_before_look_like_none(tmp_path: Path) -> None:
    first, second = two(ChangesCountedAnew, tmp_path)
    second.delete("a")
    second.put(1)
    assert first.id_of() == 1
    second.delete("a")
    second.put(3)
    assert first.id_of() == 1
    assert reading(tmp_path).get_tuple(first.config()).checkpoint["id"] == first.id(3)


def test_one_process_forgets_together(tmp_path: Path) -> None:
    first, second = two(LatestIdKeptByTheProcess, tmp_path)
    assert first.id_of() == 2
    second.put(3, parent=2)
    assert first.id_of() == 3
    elsewhere = prepared(Probe(opening(SqliteReference), tmp_path, "sync"))
    elsewhere.put(4, parent=3)
    assert first.id_of() == 3
