"""What judging writes down: how often each contract was judged, and where the saver differed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from saverproof.model.records import Address, PendingWrite


@dataclass(slots=True)
class Difference:
    """One fact about the saver that is not as the model has it.

    ``contract`` is the contract that made the expected fact expected, as far as the fact alone
    tells; :mod:`saverproof.judging.blame` settles it with the step that brought the difference.
    ``fact`` names what differs (``missing``, ``extra``, ``parent``, ``value:CHANNEL``,
    ``write:missing``, …), ``write`` is the pending write concerned, ``item`` one that is shown and
    should not be; ``settled`` says that the contract does not depend on the step before.
    """

    contract: str
    fact: str
    address: Address | None
    expected: Any
    observed: Any
    write: PendingWrite | None = None
    settled: bool = False
    item: Any = None


class Sheet:
    """Collects agreements, as counts, and differences."""

    __slots__ = ("checked", "differences")

    def __init__(self) -> None:
        self.checked: Counter[str] = Counter()
        self.differences: list[Difference] = []

    def agree(self, contract: str, times: int = 1) -> None:
        """Count that a fact was as the contract has it."""
        self.checked[contract] += times

    def differ(
        self,
        contract: str,
        fact: str,
        address: Address | None,
        expected: Any,
        observed: Any,
        *,
        write: PendingWrite | None = None,
        item: Any = None,
        settled: bool = False,
    ) -> None:
        """Write down that a fact was not as expected; it counts as judged too."""
        self.checked[contract] += 1
        self.differences.append(
            Difference(contract, fact, address, expected, observed, write, settled, item)
        )

    def compare(
        self,
        contract: str,
        fact: str,
        address: Address | None,
        expected: Any,
        observed: Any,
        *,
        settled: bool = False,
    ) -> bool:
        """Compare two plain values (exact by ``==``) and write down which it was."""
        if expected == observed:
            self.checked[contract] += 1
            return True
        self.differ(contract, fact, address, expected, observed, settled=settled)
        return False
