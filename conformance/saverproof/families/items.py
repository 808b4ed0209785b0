"""The messages between pytest and the judge, as plain data.

They become JSON by ``asdict``, and are read back by ``from_json``.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypedDict

from saverproof.savers.facts import Facts


@dataclass(frozen=True, slots=True)
class ItemPlan:
    """The plan of one item: judge one family of contracts through one API of one saver."""

    target: dict[str, Any]
    """The target's reference (``TargetRef.to_json()``), by which a child process finds it."""
    facts: Facts
    """The facts that the probe found out."""
    family: str
    api: str
    """"sync", "async" or "crossed"."""
    profile: str
    """"quick", "default" or "deep"."""
    seed: int
    folder: str
    """The item's private scratch folder; workspaces are made below it."""
    journal: str | None = None
    """The file to which each step is appended as a JSON line before it is taken; None for no
    file.
    """
    examples: str | None = None
    """The folder of stored programs that broke a contract in earlier runs; None for no folder."""
    budget_s: float | None = None
    """The seconds after which everything that can be left out is left out; None for no limit."""
    without: tuple[str, ...] = ()
    """The kinds of steps that no program takes, because the process died in one of each."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Make a plan from the result of ``asdict``."""
        return cls(**{**data, "without": tuple(data.get("without", ()))})


@dataclass(frozen=True, slots=True)
class Finding:
    """A violated contract in one item. Its program is shrunk, and its texts are cut."""

    contract: str
    api: str
    phase: str
    """"functional", "fault", "crash", "power", "concurrency", "graph", "cost", "resources" or
    "upgrade"."""
    summary: str
    expected: str
    observed: str
    steps: tuple[str, ...]
    """The program, one line a step, for people."""
    program: Any
    """The program as JSON, for the artefact."""
    reproducer: str
    """The source of a standalone script; "" if none could be made."""
    needs: tuple[str, ...] = ()
    """The parts without which the program shows nothing, in words, the most special first. Not told
    where a known mistake says what is wrong."""
    goes_without: tuple[str, ...] = ()
    """The contracts about something that the program cannot do without."""
    also_shows: tuple[str, ...] = ()
    """Other contracts whose breach the program shows as well."""
    may_break: tuple[str, ...] = ()
    """Other contracts that a breach of this contract may break."""
    mistake: str = ""
    """The known mistake, in words, that predicts everything that the program shows; "" if none
    does.
    """
    mistake_of: str = ""
    """The contract that the known mistake breaks. It may be another one than the finding's, which
    then only follows from it.
    """
    mistakes_alike: tuple[str, ...] = ()
    """Known mistakes of other contracts, in words, each of which alone shows the same. They are
    looked for where a graph or the programs of another family show it.
    """
    showed: str = ""
    """The number of runs in which the script showed it, such as "2 of 3", if that depends on
    timing; else "".
    """

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Make a finding from the result of ``asdict``."""
        rows = ("steps", "needs", "goes_without", "also_shows", "may_break", "mistakes_alike")
        return cls(**{**data, **{name: tuple(data.get(name, ())) for name in rows}})


class Unsettled(TypedDict):
    """Differences that may break a contract, and that no finding explains."""

    times: int
    """The number of differences that may break the contract."""
    why: str
    """The reason why the differences could not be settled, in one sentence."""
    steps: list[str]
    """The shortest program that shows one, one line a step, for people; empty if there is none."""
    program: Any
    """That program as JSON, for an artefact; None if there is none."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of judging one item."""

    checked: dict[str, int]
    """Contract id -> how often it was judged through this API."""
    findings: tuple[Finding, ...]
    unknown: dict[str, str]
    """Contract id -> why it is unknown, such as a search that was cut off or a checker that
    failed.
    """
    inapplicable: dict[str, str]
    """Contract id -> why it does not apply."""
    unexercised: dict[str, str]
    """Contract id -> why it could not be judged, and what would change that."""
    operations: int
    saver_s: float
    """Seconds spent inside the saver."""
    total_s: float
    extra: dict[str, Any] = field(default_factory=dict)
    """Sections for report.json: "faults", "crash", "power"."""
    unsettled: dict[str, Unsettled] = field(default_factory=dict)
    """Contract id, of any family -> the differences that may break it. A contract that is in
    ``findings`` or ``handed`` as well counts as violated.
    """
    handed: tuple[Finding, ...] = ()
    """Violations of other families' contracts that this item saw. They count if the run judges
    those families and their own items did not find them, or if they are in the way of a must.
    """
    hidden_by: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Contract id -> the contracts whose breach is in the way of judging it. There is none if
    calls that it needs are answered wrongly, and nobody knows which contract that breaks.
    """

    def about(self, contracts: Collection[str] | None) -> Self:
        """Return the outcome without what it says of contracts other than these; None keeps all.

        Violations handed to other families stay: the report shows them even if nobody asked. So
        does what is in the way of judging these contracts.
        """
        if contracts is None:
            return self
        hidden_by = {n: behind for n, behind in self.hidden_by.items() if n in contracts}
        in_the_way = {one for behind in hidden_by.values() for one in behind} - {*contracts}
        handed = tuple(one for one in self.findings if one.contract in in_the_way)
        return replace(
            self,
            checked={name: n for name, n in self.checked.items() if name in contracts},
            findings=tuple(one for one in self.findings if one.contract in contracts),
            handed=(*self.handed, *handed),
            hidden_by=hidden_by,
            unknown={name: why for name, why in self.unknown.items() if name in contracts},
            inapplicable={n: why for n, why in self.inapplicable.items() if n in contracts},
            unexercised={n: why for n, why in self.unexercised.items() if n in contracts},
            unsettled={
                name: seen
                for name, seen in self.unsettled.items()
                if name in contracts or name in in_the_way
            },
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Make an outcome from the result of ``asdict``."""
        found = {
            name: tuple(Finding.from_json(finding) for finding in data.get(name, ()))
            for name in ("findings", "handed")
        }
        hidden_by = {name: tuple(behind) for name, behind in data.get("hidden_by", {}).items()}
        return cls(**{**data, **found, "hidden_by": hidden_by})
