"""What a trial came to: the contract that it shows to be broken, if any."""

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
    """What a trial came to; ``contract`` None means that nothing is wrong.

    ``outcome`` is one of the words of a report: clean, held, torn, lost, late, stuck, not-fired.
    ``unseen`` are the contracts of which the trial tells nothing: what they speak of was not looked
    at, or nobody could.
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
    """The verdict that a contract is broken."""
    return FaultVerdict(_OUTCOMES[contract], contract, summary, expected, observed)
