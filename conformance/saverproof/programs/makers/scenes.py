"""Makers of steps that are small scenes of their own, whatever the store holds."""

from __future__ import annotations

from random import Random

from saverproof.model.store import Model
from saverproof.programs.theme import Theme
from saverproof.steps.definitions import (
    Bulk,
    CallOnLoop,
    CheckFiles,
    FirstOperation,
    NextVersions,
)

BULKS = (
    Bulk("writes", "a", 1, 20_000),
    Bulk("channels", "a", 1, 1_000),
    Bulk("checkpoints", "a", 1, 5_000),
)
"""Each on a store of its own: some savers take longer for every operation, the more they hold."""
FIRST_OPERATIONS = ("put", "put_writes", "get_tuple", "list")
"""Those that every saver has."""
ON_THE_LOOP = ("get_tuple", "list", "delete_thread", "put", "put_writes")


def next_versions(model: Model, choose: Random, theme: Theme) -> NextVersions:
    """Mint more than a hundred channel versions in a row."""
    del model, theme
    return NextVersions(choose.randint(101, 140))


def check_files(model: Model, choose: Random, theme: Theme) -> CheckFiles:
    """Look at who may read the files of the workspace."""
    del model, choose, theme
    return CheckFiles("private")


def check_encryption(model: Model, choose: Random, theme: Theme) -> CheckFiles:
    """Look for plaintext in the files of a store whose serializer encrypts."""
    del model, choose, theme
    return CheckFiles("encrypted")


def call_on_loop(model: Model, choose: Random, theme: Theme) -> CallOnLoop:
    """Make a sync call on the thread of a running event loop."""
    del model
    return CallOnLoop(choose.choice(ON_THE_LOOP), choose.choice(theme.threads), 1)


def first_operation(model: Model, choose: Random, theme: Theme) -> FirstOperation:
    """Make an operation the first on a new store, set up or not."""
    del model, theme
    return FirstOperation(choose.choice(FIRST_OPERATIONS), choose.random() < 0.5)


def bulk(model: Model, choose: Random, theme: Theme) -> Bulk | None:
    """Many writes, channels or checkpoints at once, into a thread that holds nothing."""
    step = choose.choice(BULKS)
    del theme
    return None if step.thread in model.threads else step
