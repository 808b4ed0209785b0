"""The plain reference saver keeps what other judges promise too."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.memory import InMemorySaver

from tests.reference.saver import ReferenceSaver


def test_the_published_conformance_suite_passes_in_full() -> None:
    @checkpointer_test(name="reference")
    async def reference() -> AsyncGenerator[BaseCheckpointSaver[Any], None]:
        yield ReferenceSaver()

    report = asyncio.run(validate(reference))
    print(report)
    assert report.passed_all()
