"""Makers of steps that delete, copy or prune whole threads or runs."""

from __future__ import annotations

from random import Random

from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import CopyThread, DeleteForRuns, DeleteThread, Prune
from saverproof.programs.theme import Theme


def delete_thread(model: Model, choose: Random, theme: Theme) -> DeleteThread:
    """Delete a thread, now and then one that holds nothing."""
    return DeleteThread(choose.choice((*theme.threads, "nobody")))


def delete_runs(model: Model, choose: Random, theme: Theme) -> DeleteForRuns:
    """Delete the checkpoints of one or two runs, now and then of an unknown run."""
    runs = choose.sample((*theme.runs, "no-such-run"), choose.randint(1, 2))
    return DeleteForRuns(tuple(runs))


def copy_thread(model: Model, choose: Random, theme: Theme) -> CopyThread | None:
    """Copy a thread to one that holds nothing."""
    written = {address[0] for address in model.writes}
    free = [t for t in (*theme.threads, "twin", "other") if t not in model.threads]
    free = [t for t in free if t not in written]
    sources = [t for t in theme.threads if t in model.threads]
    if not free or not sources:
        return None
    return CopyThread(choose.choice(sources), choose.choice(free))


def prune(model: Model, choose: Random, theme: Theme) -> Prune:
    """Prune no thread, one, or two."""
    threads = choose.sample(theme.threads, choose.choice((0, 1, 1, 2)))
    return Prune(tuple(threads), choose.choice(("keep_latest", "keep_latest", "delete")))


def prune_to_latest(model: Model, choose: Random, theme: Theme) -> Prune:
    """Prune one thread to its newest checkpoints."""
    return Prune((choose.choice(theme.threads),), "keep_latest")
