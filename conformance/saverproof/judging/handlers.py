"""Importing this module teaches :func:`saverproof.judging.session.perform` every step there is."""

from saverproof.judging import (
    deletions,
    delta,
    files,
    lifecycles,
    listings,
    parity,
    puts,
    reads,
    scenes,
)

__all__ = [
    "deletions",
    "delta",
    "files",
    "lifecycles",
    "listings",
    "parity",
    "puts",
    "reads",
    "scenes",
]
