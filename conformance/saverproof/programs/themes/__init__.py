"""The themes of each family: which programs put its contracts to the test."""

from __future__ import annotations

from saverproof.programs.theme import Theme
from saverproof.programs.themes import contents, stores
from saverproof.programs.themes.weights import GENERAL

__all__ = ["FUNCTIONAL_FAMILIES", "GENERAL", "themes"]

_FAMILIES = {
    "interface": stores.interface,
    "ordering": contents.ordering,
    "upsert": contents.upsert,
    "pending-writes": contents.pending_writes,
    "identity": contents.identity,
    "serialization": contents.serialization,
    "channels": contents.channels,
    "isolation": stores.isolation,
    "filter": stores.filter_,
    "deletion": stores.deletion,
    "delta-history": stores.delta_history,
    "parity": stores.parity,
    "lifecycle": stores.lifecycle,
}

FUNCTIONAL_FAMILIES = tuple(_FAMILIES)


def themes(family: str) -> tuple[Theme, ...]:
    """The themes of a functional family.

    Raises:
        KeyError: the family is none that programs alone put to the test.
    """
    return _FAMILIES[family]()
