"""All scenes, by contract."""

from __future__ import annotations

from tests.wrong_savers.scenes import (
    SCENES,
    deleting,
    filtering,
    isolating,
    listing,
    living,
    serializing,
    storing,
)

__all__ = [
    "SCENES",
    "deleting",
    "filtering",
    "isolating",
    "listing",
    "living",
    "serializing",
    "storing",
]
