"""What the end of a history says of a saver."""

from __future__ import annotations

from saverproof.families.concurrency.contract_ids import PROCESSES, THREADS
from saverproof.families.concurrency.histories import Played, Sharing
from saverproof.families.concurrency.record import Problem


def ended(played: Played) -> list[Problem]:
    """The problem of a history that never ended, or whose process did."""
    sharing = played.script.sharing
    name = THREADS if sharing is Sharing.SHARED else PROCESSES
    if played.died:
        how = played.died.partition("\n")[0]
        return [Problem(name, how, "no call to end the process", how, stacks=played.died)]
    if played.hung:
        how, _, stacks = played.hung.partition("\n")
        expected = "every call to be answered"
        last = played.events[-8:]
        return [Problem(name, f"{sharing.value}: {how}", expected, how, last, stacks=stacks)]
    return []
