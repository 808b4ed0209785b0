"""Savers on one store: caches that hold, stores with one owner, and what others are not shown.

By night, a store that one saver owns.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.concurrency.concurrency_support import SCENES_ALONE, blamed, judged
from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers import opener
from tests.wrong_savers.registry import WorkspaceLike

from saverproof import target
from saverproof.families.concurrency.contract_ids import (
    INSTANCES,
    PROCESSES,
)
from saverproof.families.concurrency.effort import SceneEffort


class KeepsWhatIsTrue(SqliteReference):
    """Keeps answers for as long as neither it nor anyone else has changed the database."""

    def _kept(self) -> dict[Any, Any]:
        kept: dict[Any, Any] = self.__dict__.setdefault("kept", {})
        ((version,),) = self.database.rows("PRAGMA data_version")
        own = self.database.connection.total_changes
        if kept.get("at") != (version, own):
            kept.clear()
        kept["at"] = (version, own)
        return kept

    def _find(self, config: Any) -> Any:
        asked = (self._thread_of(config), self._get_ns(config), self._asked_id(config))
        kept = self._kept()
        if asked not in kept:
            kept[asked] = super()._find(config)
        return kept[asked]


keeps_what_is_true = target(name="keeps-what-is-true")(opener(KeepsWhatIsTrue))


def opens_once(workspace: WorkspaceLike) -> AbstractContextManager[Any]:
    """Refuse a second saver beside the first, as a database with one owner does."""
    (workspace.path / "owned").touch(exist_ok=False)
    return opener(SqliteReference)(workspace)


owned = target(name="owned")(opens_once)


def locked_at_first(workspace: WorkspaceLike) -> AbstractContextManager[Any]:
    """Refuse the first opening in each process, as SQLite does while another switches to its log,
    which nobody can wait for.
    """
    met = workspace.path / f"met-{os.getpid()}"
    if not met.exists():
        met.touch()
        raise sqlite3.OperationalError("database is locked")
    return opener(SqliteReference)(workspace)


locked = target(name="locked-at-first")(locked_at_first)


@pytest.mark.usefixtures("shared_harness")
def test_a_store_that_cannot_be_opened_at_once_is_opened_a_moment_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "tests.conformance.concurrency.test_concurrency_instances:locked"
    few = SceneEffort(shared=0, instances=0, processes=2, races=0)
    outcome = judged(where, tmp_path, "sync", monkeypatch, few, only=PROCESSES)
    assert (blamed(outcome), outcome.unknown) == (set(), {})
    assert outcome.checked[PROCESSES]


class OwnedDatabase(Database):
    """Belongs to who wrote first, as long as it is open; others are refused every look."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.owner = (folder / "owner").open("a")
        self.is_owned = False

    def writing(self) -> AbstractContextManager[None]:
        fcntl.flock(self.owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.is_owned = True
        return super().writing()

    def reading(self) -> AbstractContextManager[None]:
        if not self.is_owned:
            fcntl.flock(self.owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(self.owner, fcntl.LOCK_UN)
        return super().reading()

    def close(self) -> None:
        super().close()
        self.owner.close()


class OwnedOnceWritten(SqliteReference):
    """See its database."""

    database_class = OwnedDatabase


owned_once_written = target(name="owned-once-written")(opener(OwnedOnceWritten))


class WritesWhenItIsRead(SqliteReference):
    """Puts off a put until the next read of its own, or the next put."""

    def put(self, *given: Any, **named: Any) -> Any:
        self._write()
        self.__dict__["put_off"] = given, named
        config, checkpoint = given[:2]
        at = {**config["configurable"], "checkpoint_id": checkpoint["id"]}
        return {"configurable": {k: at[k] for k in ("thread_id", "checkpoint_ns", "checkpoint_id")}}

    def _write(self) -> None:
        if put_off := self.__dict__.pop("put_off", None):
            given, named = put_off
            super().put(*given, **named)

    def get_tuple(self, config: Any) -> Any:
        self._write()
        return super().get_tuple(config)

    def list(self, config: Any, **named: Any) -> Any:
        self._write()
        yield from super().list(config, **named)


writes_when_it_is_read = target(name="writes-when-it-is-read")(opener(WritesWhenItIsRead))


@pytest.mark.usefixtures("shared_harness")
def test_who_is_not_asked_has_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = "tests.conformance.concurrency.test_concurrency_instances:writes_when_it_is_read"
    few = SceneEffort(shared=0, instances=1, processes=0, races=0)
    outcome = judged(where, tmp_path, "sync", monkeypatch, few, only=INSTANCES)
    assert blamed(outcome) == {INSTANCES}


class ShowsMore(SqliteReference):
    """Shows who wrote a checkpoint more of its metadata than it shows others."""

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        answer = super().put(config, checkpoint, metadata, new_versions)
        self.__dict__.setdefault("own", set()).add(checkpoint["id"])
        return answer

    def _tuple(self, row: Any, *more: Any) -> Any:
        shown = super()._tuple(row, *more)
        if row.id in self.__dict__.get("own", ()):
            return shown._replace(metadata={**shown.metadata, "by": "me"})
        return shown


shows_more = target(name="shows-more")(opener(ShowsMore))


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize("api", ["sync", "async"])
def test_a_cache_that_asks_whether_it_still_holds_is_right(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "tests.conformance.concurrency.test_concurrency_instances:keeps_what_is_true"
    outcome = judged(where, tmp_path, api, monkeypatch, SCENES_ALONE, INSTANCES)
    assert (outcome.findings, outcome.unknown) == ((), {})
    assert outcome.checked[INSTANCES] > 200
    axes = outcome.extra["axes"]
    assert axes["untouched"] == []
    assert axes["pairs"]["covered"] == axes["pairs"]["of"]


@pytest.mark.nightly
@pytest.mark.usefixtures("shared_harness")
def test_a_store_that_one_saver_owns_has_nobody_to_agree_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "tests.conformance.concurrency.test_concurrency_instances:owned"
    outcome = judged(where, tmp_path, "sync", monkeypatch, SCENES_ALONE, INSTANCES)
    assert outcome.findings == ()
    assert "beside the first" in outcome.inapplicable[INSTANCES]


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize("api", ["sync", "async"])
def test_a_store_of_which_others_are_refused_every_look_is_accused_of_nothing(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "tests.conformance.concurrency.test_concurrency_instances:owned_once_written"
    outcome = judged(where, tmp_path, api, monkeypatch, SCENES_ALONE, INSTANCES)
    assert (outcome.findings, outcome.unknown) == ((), {})
    assert "beside the first" in outcome.inapplicable[INSTANCES]


@pytest.mark.usefixtures("shared_harness")
def test_what_nobody_but_the_writer_is_shown_is_not_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "tests.conformance.concurrency.test_concurrency_instances:shows_more"
    outcome = judged(where, tmp_path, "sync", monkeypatch, SCENES_ALONE, INSTANCES)
    assert outcome.findings == ()
    left = outcome.unsettled[INSTANCES]
    assert "no two savers agree; get_tuple('a', '', the latest)" in left["why"]
    assert '"by"' in left["why"]
    assert left["times"]
