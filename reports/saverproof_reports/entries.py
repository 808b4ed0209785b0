"""Put together what several APIs show of one broken contract, so that readers see it once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Violation = Mapping[str, Any]
_READ = ("summary", "steps", "expected", "observed", "stacks")
"""The parts of a violation that a reader sees, without its files."""


@dataclass(frozen=True, slots=True)
class PhaseViolations:
    """The violations of one contract in one phase.

    Attributes:
        shown: the one that is shown in full: preferably one that no mistake of another contract
            explains, then the one with the fewest steps, then one with a script.
        alike: all violations that look the same to a reader, ``shown`` included.
        others: those with another program or answer.
    """

    shown: Violation
    alike: tuple[Violation, ...]
    others: tuple[Violation, ...]

    @property
    def apis(self) -> list[str]:
        """The APIs that show it, those of ``alike`` first."""
        return list(dict.fromkeys(one["api"] for one in (*self.alike, *self.others)))


def entries(contract: Mapping[str, Any]) -> Iterator[PhaseViolations]:
    """Yield the violations of one contract, those of one phase together."""
    violations: Sequence[Violation] = contract["violations"]

    def rank(one: Violation) -> tuple[bool, int, bool]:
        return is_of_another(one, contract["id"]), len(one["steps"]), not one.get("reproducer")

    for phase in dict.fromkeys(one["phase"] for one in violations):
        found = [one for one in violations if one["phase"] == phase]
        shown = min(found, key=rank)
        alike = tuple(one for one in found if _read(one) == _read(shown))
        yield PhaseViolations(
            shown, alike, tuple(one for one in found if _read(one) != _read(shown))
        )


def is_of_another(violation: Violation, contract: str) -> bool:
    """Return whether a violation of this contract comes from a known mistake that breaks another
    one. Its words tell less of this contract than those of other violations do.
    """
    return violation.get("mistake_of") not in (None, "", contract)


def _read(violation: Violation) -> list[Any]:
    return [violation.get(part) for part in _READ]
