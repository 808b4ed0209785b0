"""A first saver: three tables by SQLAlchemy, with the channel values in one of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_metadata,
)
from sqlalchemy import JSON, Engine, LargeBinary, create_engine, delete, event, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from tests.crowds.first_savers.registry import FirstSaver


class Base(DeclarativeBase):
    """The tables."""


class CheckpointRow(Base):
    """A checkpoint without its values."""

    __tablename__ = "checkpoints"
    thread_id: Mapped[str] = mapped_column(primary_key=True)
    ns: Mapped[str] = mapped_column(primary_key=True)
    checkpoint_id: Mapped[str] = mapped_column(primary_key=True)
    parent_id: Mapped[str | None]
    kind: Mapped[str]
    data: Mapped[bytes] = mapped_column(LargeBinary)
    details: Mapped[Any] = mapped_column(JSON)


class ValueRow(Base):
    """The value of a channel."""

    __tablename__ = "channel_values"
    thread_id: Mapped[str] = mapped_column(primary_key=True)
    ns: Mapped[str] = mapped_column(primary_key=True)
    channel: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    data: Mapped[bytes] = mapped_column(LargeBinary)


class WriteRow(Base):
    """A pending write."""

    __tablename__ = "writes"
    thread_id: Mapped[str] = mapped_column(primary_key=True)
    ns: Mapped[str] = mapped_column(primary_key=True)
    checkpoint_id: Mapped[str] = mapped_column(primary_key=True)
    task_id: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    idx: Mapped[int]
    task_path: Mapped[str]
    channel: Mapped[str]
    kind: Mapped[str]
    data: Mapped[bytes] = mapped_column(LargeBinary)


class SqlAlchemySaver(BaseCheckpointSaver[int]):
    """Merges rows, and selects them by what the config says."""

    mode = 0o666
    """Who may read the file."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.engine = engine
        Base.metadata.create_all(engine)

    # -- writing --------------------------------------------------------------------------

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        place = self.place_of(config)
        rest: dict[str, Any] = dict(checkpoint)
        values = rest.pop("channel_values")
        kind, data = self.serde.dumps_typed(rest)
        row = CheckpointRow(
            **place,
            checkpoint_id=checkpoint["id"],
            parent_id=config["configurable"].get("checkpoint_id") or None,
            kind=kind,
            data=data,
            details=self.details_of(config, metadata),
        )
        with Session(self.engine) as session:
            self.store_values(session, place, values, checkpoint["channel_versions"])
            session.merge(row)
            session.commit()
        return self.address(**place, checkpoint_id=checkpoint["id"])

    def details_of(self, config: RunnableConfig, metadata: CheckpointMetadata) -> Any:
        merged = get_checkpoint_metadata(config, metadata)
        return {key: merged.get(key) for key in ("source", "step", "parents", "run_id")}

    def store_values(
        self, session: Session, place: Mapping[str, str], values: Any, versions: Any
    ) -> None:
        for channel, value in values.items():
            kind, data = self.serde.dumps_typed(value)
            version = self.version_of(channel, versions)
            row = ValueRow(**place, channel=channel, version=version, kind=kind, data=data)
            session.merge(row)

    def version_of(self, channel: str, versions: Any) -> str:
        """Under which version a value is kept."""
        return "current"

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        place = self.place_of(config)
        checkpoint_id = config["configurable"]["checkpoint_id"]
        with Session(self.engine) as session:
            for position, (channel, value) in enumerate(writes):
                index = self.index_of(channel, position)
                kind, data = self.serde.dumps_typed(value)
                row = WriteRow(
                    **place,
                    checkpoint_id=checkpoint_id,
                    task_id=task_id,
                    key=self.key_of(channel, index),
                    idx=index,
                    task_path=task_path,
                    channel=channel,
                    kind=kind,
                    data=data,
                )
                self.store_write(session, row)
            session.commit()

    def index_of(self, channel: str, position: int) -> int:
        special = ("__error__", "__scheduled__", "__interrupt__", "__resume__")
        return -special.index(channel) - 1 if channel in special else position

    def key_of(self, channel: str, index: int) -> str:
        """What tells the writes of one task apart."""
        return ascii(channel)

    def store_write(self, session: Session, row: WriteRow) -> None:
        session.merge(row)

    def delete_thread(self, thread_id: str) -> None:
        with Session(self.engine) as session:
            for table in self.tables_of_threads():
                session.execute(delete(table).where(table.thread_id == thread_id))
            session.commit()

    def tables_of_threads(self) -> Sequence[Any]:
        return (CheckpointRow, ValueRow)

    # -- reading --------------------------------------------------------------------------

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        place = self.place_of(config)
        asked = select(CheckpointRow).filter_by(**place)
        if self.names_id(config):
            asked = asked.filter_by(checkpoint_id=config["configurable"]["checkpoint_id"])
        with Session(self.engine) as session:
            row = session.scalars(asked.order_by(CheckpointRow.checkpoint_id.desc())).first()
            return None if row is None else self.tuple_of(session, row)

    def names_id(self, config: RunnableConfig) -> bool:
        return "checkpoint_id" in config["configurable"]

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        asked = select(CheckpointRow).order_by(CheckpointRow.checkpoint_id.desc())
        if config is not None:
            asked = asked.filter_by(**self.listed_place(config))
            if checkpoint_id := config["configurable"].get("checkpoint_id"):
                asked = asked.filter_by(checkpoint_id=checkpoint_id)
        if before and (bound := before["configurable"].get("checkpoint_id")):
            asked = asked.where(CheckpointRow.checkpoint_id < bound)
        with Session(self.engine) as session:
            found = [self.tuple_of(session, row) for row in session.scalars(asked)]
        matching = [each for each in found if self.matches(each.metadata, filter or {})]
        yield from matching[: len(found) if limit is None else limit]

    def listed_place(self, config: RunnableConfig) -> dict[str, str]:
        place = self.place_of(config)
        return {name: text for name, text in place.items() if text}

    def matches(self, metadata: Any, filter: dict[str, Any]) -> bool:
        return all(metadata.get(key) == value for key, value in filter.items())

    def tuple_of(self, session: Session, row: CheckpointRow) -> CheckpointTuple:
        place = {"thread_id": row.thread_id, "ns": row.ns}
        checkpoint = self.serde.loads_typed((row.kind, row.data))
        versions = checkpoint["channel_versions"]
        checkpoint["channel_values"] = {
            value.channel: self.serde.loads_typed((value.kind, value.data))
            for value in session.scalars(select(ValueRow).filter_by(**place))
            if value.channel in versions
            and value.version == self.version_of(value.channel, versions)
        }
        asked = select(WriteRow).filter_by(**place, checkpoint_id=row.checkpoint_id)
        writes = sorted(
            session.scalars(asked), key=lambda write: (write.task_path, write.task_id, write.idx)
        )
        return CheckpointTuple(
            self.address(**place, checkpoint_id=row.checkpoint_id),
            checkpoint,
            row.details,
            self.address(**place, checkpoint_id=row.parent_id) if row.parent_id else None,
            [(w.task_id, w.channel, self.serde.loads_typed((w.kind, w.data))) for w in writes],
        )

    def place_of(self, config: RunnableConfig) -> dict[str, str]:
        asked = config["configurable"]
        return {"thread_id": str(asked["thread_id"]), "ns": asked.get("checkpoint_ns") or ""}

    def address(self, thread_id: str, ns: str, checkpoint_id: str) -> RunnableConfig:
        address = {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}
        return {"configurable": address}


def do_not_wait_for_the_disk(connection: Any, _: Any) -> None:
    """Leave out the syncs: nothing here looks at the disk."""
    connection.execute("PRAGMA synchronous = OFF")


@contextmanager
def opened(saver: type[SqlAlchemySaver], folder: Path) -> Iterator[SqlAlchemySaver]:
    """Open the saver on a database in a folder."""
    file = folder / "memory.sqlite"
    file.touch(saver.mode)
    engine = create_engine(f"sqlite:///{file}")
    event.listen(engine, "connect", do_not_wait_for_the_disk)
    try:
        yield saver(engine)
    finally:
        engine.dispose()


SQLALCHEMY = FirstSaver("sqlalchemy-tables", SqlAlchemySaver, opened)


@SQLALCHEMY.mend(
    "chosen-metadata", "serialization/metadata", "only the metadata that LangGraph names is kept"
)
class KeepsMetadata:
    def details_of(self, config: RunnableConfig, metadata: CheckpointMetadata) -> Any:
        return get_checkpoint_metadata(config, metadata)


@SQLALCHEMY.mend(
    "values-without-version",
    "channels/history-immutable",
    "a channel has one value, so that a put changes earlier checkpoints",
)
class ValuesByVersion:
    def version_of(self, channel: str, versions: Any) -> str:
        return str(versions.get(channel))


@SQLALCHEMY.mend(
    "writes-by-channel",
    "pending-writes/complete",
    "writes are keyed by channel: the second to one channel replaces the first",
)
class WritesByIndex:
    def key_of(self, channel: str, index: int) -> str:
        return str(index)


@SQLALCHEMY.mend("writes-merged", "upsert/regular-write-first-wins", "merge() for every write")
class KeepsFirstWrite:
    def store_write(self, session: Session, row: WriteRow) -> None:
        names = ("thread_id", "ns", "checkpoint_id", "task_id", "key")
        there = session.get(WriteRow, {name: getattr(row, name) for name in names})
        if row.idx < 0 or there is None:
            session.merge(row)


@SQLALCHEMY.mend(
    "writes-stay", "deletion/no-ghosts", "writes are not in the list of tables to delete from"
)
class DeletesWrites:
    def tables_of_threads(self) -> Sequence[Any]:
        return (CheckpointRow, ValueRow, WriteRow)


@SQLALCHEMY.mend(
    "none-is-an-id", "identity/none-id-is-latest", "an id that is None is looked up as one"
)
class NoneIsNoId:
    def names_id(self, config: RunnableConfig) -> bool:
        return bool(config["configurable"].get("checkpoint_id"))


@SQLALCHEMY.mend(
    "root-is-no-namespace", "identity/list-selects", "the root's name is falsy, and lists them all"
)
class ListsTheRoot:
    def listed_place(self, config: RunnableConfig) -> dict[str, str]:
        place = self.place_of(config)
        if config["configurable"].get("checkpoint_ns") is None:
            del place["ns"]
        return place


@SQLALCHEMY.mend("readable-by-all", "isolation/private-files", "other users can read the file")
class OwnersOnly:
    mode = 0o600
