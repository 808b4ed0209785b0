"""Savers that store each version of a channel's value once, for all checkpoints that have it."""

from __future__ import annotations

from tests.reference.blobs import BlobReference, InlineScalars
from tests.right_savers.registry import right


@right(
    "values lie in a table of their own, by channel and version",
    about={"channels", "cost", "deletion", "delta-history", "isolation", "upsert"},
    advice={"cost/space-given-back": "values stay until their thread is deleted"},
)
class BlobsByVersion(BlobReference):
    """Nothing but what its base does."""


@right(
    "scalars lie with their checkpoint, all other values in a table of their own",
    about={"channels", "cost", "serialization"},
)
class ScalarsWithTheirCheckpoint(InlineScalars):
    """Nothing but what its base does."""
