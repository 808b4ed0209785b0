"""Makers of steps that ask something of the saver itself, whatever it holds."""

from __future__ import annotations

from random import Random

from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import NextVersions, Reopen, SetUp
from saverproof.programs.theme import Theme


def reopen(model: Model, choose: Random, theme: Theme) -> Reopen:
    """Close and open again."""
    del model, choose, theme
    return Reopen()


def set_up(model: Model, choose: Random, theme: Theme) -> SetUp:
    """Set the store up once more."""
    del model, choose, theme
    return SetUp()


def next_versions(model: Model, choose: Random, theme: Theme) -> NextVersions:
    """Mint more than a hundred channel versions in a row."""
    del model, theme
    return NextVersions(choose.randint(101, 140))
