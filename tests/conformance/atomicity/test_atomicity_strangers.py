"""Savers that nobody prepared: the official ones, and strangers' on SQLAlchemy and aiosqlite.

By day one of each make; the others, and the official async one, by night.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import WRITES_IDX_MAP, BaseCheckpointSaver, CheckpointTuple
from sqlalchemy import (
    Column,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    create_engine,
    delete,
    event,
    insert,
    select,
)
from tests.conformance.atomicity.aiosqlite_saver import AioSaver, CommittedApart, through_aiosqlite
from tests.conformance.atomicity.test_atomicity import found, judged
from tests.conformance.script_runs import ended
from tests.nights import by_night

from saverproof.families.atomicity import effort
from saverproof.savers.targets.target import Target
from saverproof.scripts.script import LONGEST
from saverproof_savers import targets

META = MetaData()
NAMES = ("thread", "ns", "id")
CHECKPOINTS = Table(
    "checkpoints",
    META,
    *(Column(name, String, primary_key=True) for name in NAMES),
    Column("parent", String),
    Column("metadata", String),
    *(Column("kind", String), Column("value", LargeBinary)),
)
WRITES = Table(
    "writes",
    META,
    *(Column(name, String, primary_key=True) for name in (*NAMES, "task")),
    Column("position", Integer, primary_key=True),
    Column("channel", String),
    *(Column("kind", String), Column("value", LargeBinary)),
)


def address(config: Any) -> tuple[str, str, str | None]:
    at = config["configurable"]
    return at["thread_id"], at.get("checkpoint_ns", ""), at.get("checkpoint_id")


class AlchemySaver(BaseCheckpointSaver[int]):
    """A stranger's saver: SQLAlchemy Core, one transaction for each operation."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.engine = create_engine(f"sqlite:///{path}")
        META.create_all(self.engine)

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        thread, ns, parent = address(config)
        kind, value = self.serde.dumps_typed(checkpoint)
        row = {"thread": thread, "ns": ns, "id": checkpoint["id"], "parent": parent}
        row |= {"metadata": json.dumps(metadata), "kind": kind, "value": value}
        with self.engine.begin() as connection:
            connection.execute(insert(CHECKPOINTS).prefix_with("OR REPLACE"), row)
        at = {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": checkpoint["id"]}
        return {"configurable": at}

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        where = dict(zip(NAMES, address(config), strict=True)) | {"task": task_id}
        rows = []
        for index, (channel, written) in enumerate(writes):
            kind, value = self.serde.dumps_typed(written)
            position = WRITES_IDX_MAP.get(channel, index)
            rows.append(
                where | {"position": position, "channel": channel, "kind": kind, "value": value}
            )
        self.store(rows)

    def store(self, rows: list[Any]) -> None:
        with self.engine.begin() as connection:
            connection.execute(insert(WRITES).prefix_with("OR IGNORE"), rows)

    def get_tuple(self, config: Any) -> Any:
        return next(self.list(config, limit=1), None)

    def list(self, config: Any, **options: Any) -> Iterator[Any]:
        at = config["configurable"]
        names = {"thread_id": "thread", "checkpoint_ns": "ns", "checkpoint_id": "id"}
        query = select(CHECKPOINTS).order_by(CHECKPOINTS.c.id.desc()).limit(options.get("limit"))
        for key, column in names.items():
            if at.get(key) is not None:
                query = query.where(CHECKPOINTS.c[column] == at[key])
        with self.engine.connect() as connection:
            rows = connection.execute(query).fetchall()
            listed = [self.tuple_of(connection, row) for row in rows]
        yield from listed

    def tuple_of(self, connection: Any, row: Any) -> Any:
        thread, ns, id, parent, metadata, *typed = row
        here = [WRITES.c[name] == at for name, at in zip(NAMES, (thread, ns, id), strict=True)]
        query = select(WRITES).where(*here).order_by(WRITES.c.task, WRITES.c.position)

        def config(id: Any) -> Any:
            at = {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": id}
            return {"configurable": at}

        return CheckpointTuple(
            config(id),
            self.serde.loads_typed(tuple(typed)),
            json.loads(metadata),
            config(parent) if parent else None,
            [
                (write.task, write.channel, self.serde.loads_typed((write.kind, write.value)))
                for write in connection.execute(query)
            ],
        )

    def delete_thread(self, thread_id: str) -> None:
        with self.engine.begin() as connection:
            for table in (CHECKPOINTS, WRITES):
                connection.execute(delete(table).where(table.c.thread == thread_id))

    def get_next_version(self, current: int | None, channel: None) -> int:
        return (current or 0) + 1


class RowByRow(AlchemySaver):
    """Each write is a transaction of its own."""

    def store(self, rows: Any) -> None:
        for row in rows:
            super().store([row])


def alchemy(saver: type[AlchemySaver]) -> Target:
    @contextmanager
    def opened(workspace: Any) -> Iterator[Any]:
        made = saver(workspace.path / "a.db")

        # As SQLAlchemy's documentation advises for SQLite: begin for reading, too.
        @event.listens_for(made.engine, "connect")
        def connected(connection: Any, record: Any) -> None:
            connection.isolation_level = None

        @event.listens_for(made.engine, "begin")
        def begun(connection: Any) -> None:
            connection.exec_driver_sql("BEGIN")

        made.engine.dispose()
        try:
            yield made
        finally:
            made.engine.dispose()

    return Target(name="alchemy", open=opened)


@pytest.fixture
def few_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as show every flaw, by every kind."""
    monkeypatch.setitem(
        effort.EFFORTS, "quick", dataclasses.replace(effort.EFFORTS["quick"], most=80)
    )


NOT_BESIDE_OTHERS = (
    "calls that fail while others are under way were not judged: what one caller alone leaves is "
    "wrong"
)


@pytest.mark.usefixtures("few_faults")
@pytest.mark.parametrize(
    ("saver", "flaws"), [(AlchemySaver, set()), by_night(RowByRow, {"all-or-nothing"})]
)
def test_a_saver_on_sqlalchemy_is_swept(
    saver: type[AlchemySaver], flaws: set[str], tmp_path: Path
) -> None:
    outcome = judged(alchemy(saver), tmp_path, operations=["put", "put_writes", "delete_thread"])
    assert found(outcome) == flaws
    assert outcome.unknown == {}
    kinds = outcome.extra["faults"]["by_kind"]
    assert {"raise", "trigger-abort", "interrupt", "io-error", "serializer"} <= kinds.keys()
    assert outcome.extra["faults"]["notes"][1:] == ([NOT_BESIDE_OTHERS] if flaws else [])


@pytest.mark.usefixtures("few_faults")
@pytest.mark.parametrize(
    ("saver", "flaws"),
    [by_night(AioSaver, set()), (CommittedApart, {"all-or-nothing", "cancelled"})],
)
def test_a_saver_on_aiosqlite_is_swept(
    saver: type[AioSaver], flaws: set[str], tmp_path: Path
) -> None:
    operations = ["put", "put_writes", "delete_thread"]
    outcome = judged(through_aiosqlite(saver), tmp_path, "async", operations=operations)
    assert found(outcome) == flaws
    assert outcome.unknown == {}
    kinds = outcome.extra["faults"]["by_kind"]
    wanted = {"raise", "trigger-abort", "interrupt", "io-error", "serializer", "cancel"}
    assert wanted <= kinds.keys()
    assert outcome.extra["faults"]["notes"][1:] == ([NOT_BESIDE_OTHERS] if flaws else [])


OFFICIAL = {
    "sync": (targets.langgraph_sqlite, {"all-or-nothing", "no-late-commit"}),
    "async": (
        targets.langgraph_sqlite_async,
        {"no-late-commit", "usable-after", "cancelled"},
    ),
}


@pytest.mark.parametrize("api", ["sync", by_night("async")])
def test_the_official_savers_show_their_flaws_and_no_others(api: str, tmp_path: Path) -> None:
    target, flaws = OFFICIAL[api]
    outcome = judged(target, tmp_path, api, operations=["put", "put_writes", "delete_thread"])
    assert found(outcome) == flaws
    for finding in outcome.findings:
        assert finding.phase == "fault"
        assert 0 < finding.reproducer.count("\n") <= LONGEST
        assert "saverproof" not in finding.reproducer
        assert any(step.startswith("fault: ") for step in finding.steps)


def test_a_script_shows_the_flaw_by_itself(tmp_path: Path) -> None:
    target, _ = OFFICIAL["sync"]
    outcome = judged(target, tmp_path, operations=["put", "put_writes"])
    torn = next(f for f in outcome.findings if f.contract == "atomicity/all-or-nothing")
    status, said = ended(torn.reproducer, tmp_path)
    assert status == 1
    assert torn.contract in said
