"""Finds out what the installed LangGraph supports."""

from __future__ import annotations

import inspect
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from langgraph.pregel import Pregel

from saverproof.contracts.contract import release

DELTA = "delta channels"
COPY_UPDATE = "bulk_update_state"
SORTED_WRITES = "pending writes in a promised order"


@cache
def durability_modes() -> dict[str, dict[str, Any]]:
    """Return the durability modes, each with the arguments of ``invoke`` and ``stream`` that choose
    it.

    LangGraph before 0.6 has no ``durability``, but a ``checkpoint_during`` for two of the three
    modes.
    """
    parameters = inspect.signature(Pregel.stream).parameters
    if "durability" in parameters:
        return {mode: {"durability": mode} for mode in ("sync", "async", "exit")}
    if "checkpoint_during" in parameters:
        return {"async": {"checkpoint_during": True}, "exit": {"checkpoint_during": False}}
    return {"async": {}}


@cache
def abilities() -> frozenset[str]:
    """Return those of the module's abilities that the installed release of LangGraph supports."""
    found = set()
    if find_spec("langgraph.channels.delta") is not None:
        found.add(DELTA)
    if hasattr(Pregel, "bulk_update_state"):
        found.add(COPY_UPDATE)
    if release(version("langgraph-checkpoint")) >= release("4.3"):
        found.add(SORTED_WRITES)
    return frozenset(found)
