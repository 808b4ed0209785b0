"""The verdict on a trial: the contract that it shows to be broken, if any."""

from __future__ import annotations

from dataclasses import dataclass

from saverproof.contracts.tables import atomicity, durability

WHOLE = atomicity.ALL_OR_NOTHING.id
LATE = atomicity.NO_LATE_COMMIT.id
USABLE = atomicity.USABLE_AFTER.id
SILENT = atomicity.NO_SILENT_LOSS.id
CANCELLED = atomicity.CANCELLED.id
PREVIOUS = atomicity.PREVIOUS_INTACT.id
READS_RAISE = atomicity.FAILED_READS_RAISE.id
LOST_CONNECTION = atomicity.USABLE_AFTER_LOST_CONNECTION.id
IN_FLIGHT = durability.IN_FLIGHT_ATOMIC.id
SURVIVES = durability.ACKNOWLEDGED_SURVIVES.id

_OUTCOMES = {
    WHOLE: "torn",
    PREVIOUS: "torn",
    IN_FLIGHT: "torn",
    CANCELLED: "torn",
    SILENT: "lost",
    SURVIVES: "lost",
    LATE: "late",
    USABLE: "stuck",
    LOST_CONNECTION: "stuck",
}


@dataclass(frozen=True, slots=True)
class FaultVerdict:
    """The verdict on a trial; ``contract`` None means that nothing is wrong.

    ``outcome`` is one of a report's words: clean, held, torn, lost, late, stuck, not-fired.
    ``unseen`` are the contracts of which the trial says nothing, because nobody looked, or nobody
    could.
    """

    outcome: str
    contract: str | None = None
    summary: str = ""
    expected: str = ""
    observed: str = ""
    unseen: frozenset[str] = frozenset()


def broken(
    contract: str, summary: str, expected: str = "what the call stores", observed: str = ""
) -> FaultVerdict:
    """Return the verdict that a contract is broken."""
    return FaultVerdict(_OUTCOMES[contract], contract, summary, expected, observed)
