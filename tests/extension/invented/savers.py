"""A saver that keeps labels, and one that changes them; both tell the ledger of every put."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from invented.ledger import Connection
from saverproof import Workspace, target


class Right(InMemorySaver):
    """Keeps what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.ledger = Connection()

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        """Tell the ledger, then keep it."""
        self.ledger.execute("insert into puts values (1)")
        return super().put(config, checkpoint, metadata, new_versions)


class Wrong(Right):
    """Keeps labels in lower case."""

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        """Change the label."""
        if "label" in metadata:
            metadata = {**metadata, "label": metadata["label"].lower()}
        return super().put(config, checkpoint, metadata, new_versions)


@target(name="invented-right", durable=False)
@contextmanager
def right(workspace: Workspace) -> Iterator[Any]:
    """The right one."""
    yield Right()


@target(name="invented-wrong", durable=False)
@contextmanager
def wrong(workspace: Workspace) -> Iterator[Any]:
    """The wrong one."""
    yield Wrong()
