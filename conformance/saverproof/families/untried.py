"""Says why no layer of faults reached a saver, for the headline of a run."""

from __future__ import annotations

from saverproof.savers.targets.target import Target
from saverproof_faults.syscalls import available


def why_untried(target: Target) -> str:
    """Return in one clause why no layer failed anything below a saver, and what would change
    that.
    """
    if not target.durable:
        return "the saver keeps its data in memory, and has no storage that could fail"
    return available() or (
        "the saver made no system call on files of its workspace or on a connection, and no call "
        "of a database driver that is known or that target(drivers=[...]) names"
    )
