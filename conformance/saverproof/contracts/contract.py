"""One promise of a saver as data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from saverproof.capability import Capability


class Level(StrEnum):
    """The weight of a breach: a broken `must` fails a run, a broken `should` is reported as
    advice.
    """

    MUST = "must"
    SHOULD = "should"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """One promise that a saver makes to LangGraph and its users.

    Attributes:
        id: `family/name`; stable, and the key in reports and known-violations files.
        level: weight of a breach on current versions of langgraph-checkpoint.
        statement: the promise as one sentence.
        source: where the promise is made or relied on; dotted names in backticks can be imported.
        wrong: a typical wrong implementation that this contract is there to catch.
        matters: what users of an agent suffer where it is broken.
        fix: how an author mends a saver that breaks it.
        since: release of langgraph-checkpoint ("4.3") from which `level` applies; None: always.
        before_since: level on older releases; None: not applicable there.
        needs: capabilities that all must be present, else the contract is not applicable.
        durable: applies only to savers whose data outlives the process.
        implies: ids of contracts that a breach of this one may break as well; such a breach is
            not counted as a second flaw.
    """

    id: str
    level: Level = Level.MUST
    statement: str
    source: str
    wrong: str
    matters: str = ""
    fix: str = ""
    since: str | None = None
    before_since: Level | None = None
    needs: frozenset[Capability] = frozenset()
    durable: bool = False
    implies: frozenset[str] = frozenset()

    @property
    def family(self) -> str:
        """The part of the id before the slash."""
        return self.id.partition("/")[0]

    @property
    def name(self) -> str:
        """The part of the id after the slash."""
        return self.id.partition("/")[2]

    def level_at(self, version: str) -> Level | None:
        """Return the level with this release of langgraph-checkpoint ("4.2.1"); None: not
        applicable.
        """
        if self.since is None or release(version) >= release(self.since):
            return self.level
        return self.before_since


def release(version: str) -> tuple[int, ...]:
    """Return the numbers of a version without trailing zeros: "4.3.0" and "4.3rc1" give (4, 3).

    Raises:
        ValueError: the text does not start with a number.
    """
    match = re.match(r"\d+(?:\.\d+)*", version)
    if match is None:
        raise ValueError(f"version {version!r}: expected numbers joined by dots, such as '4.3.2'")
    numbers = [int(part) for part in match[0].split(".")]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
