"""langgraph-synapse: files of the engine Synapse."""

import contextlib
from collections.abc import Iterator
from typing import Any

from targets import on_path


@on_path("synapse")
@contextlib.contextmanager
def synapse(path: str) -> "Iterator[Any]":
    from langgraph_synapse import SynapseCheckpointer
    from synapse import Synapse

    opened = Synapse(path + "/state")
    yield SynapseCheckpointer(synapse=opened)
    opened.close()
