"""What the pytest side and the judge tell each other: plain data, JSON both ways by ``asdict`` and
``from_json``.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypedDict

from saverproof.facts import Facts


@dataclass(frozen=True, slots=True)
class ItemPlan:
    """What one item is to judge: one family of contracts through one API of one saver."""

    target: dict[str, Any]
    """``TargetRef.to_json()``: how a child process finds the target again."""
    facts: Facts
    """What the probe found out."""
    family: str
    api: str
    """"sync", "async" or "crossed"."""
    profile: str
    """"quick", "default" or "deep"."""
    seed: int
    folder: str
    """Private scratch folder of this item; workspaces are made below it."""
    journal: str | None = None
    """If set, each step is appended to this file as a JSON line before it is executed."""
    examples: str | None = None
    """If set, the folder of the example database: programs that broke a contract before."""
    budget_s: float | None = None
    """If set, the seconds in which all is to be done that may be left out."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The plan that ``asdict`` gave."""
        return cls(**data)


@dataclass(frozen=True, slots=True)
class Finding:
    """One violated contract in one item, already shrunk. Texts are already cut."""

    contract: str
    api: str
    phase: str
    """"functional", "fault", "crash", "power", "concurrency", "graph", "cost" or "resources"."""
    summary: str
    expected: str
    observed: str
    steps: tuple[str, ...]
    """The program, one line a step, for people."""
    program: Any
    """The program as JSON, for the artefact."""
    reproducer: str
    """Source text of a standalone script; "" if none could be made."""
    needs: tuple[str, ...] = ()
    """What the program cannot do without to show it, in words, the most special first."""
    goes_without: tuple[str, ...] = ()
    """The contracts that speak of something the program cannot do without."""
    also_shows: tuple[str, ...] = ()
    """Other contracts whose breach the program shows as well."""
    may_break: tuple[str, ...] = ()
    """Other contracts that a breach of this one may break."""
    mistake: str = ""
    """The known mistake, in words, that predicts all that the program shows; "" if none does."""
    mistake_of: str = ""
    """The contract that this mistake breaks: another one where its consequence is shown."""
    showed: str = ""
    """In how many of its runs the script showed it, such as "2 of 3", if that hangs on timing."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The finding that ``asdict`` gave."""
        rows = ("steps", "needs", "goes_without", "also_shows", "may_break")
        return cls(**{**data, **{name: tuple(data.get(name, ())) for name in rows}})


class Unsettled(TypedDict):
    """Differences that may break a contract, and that no finding explains."""

    times: int
    """How many were seen."""
    why: str
    """Why they could not be settled, in one sentence."""
    steps: list[str]
    """The shortest program that shows one, one line a step, for people; empty if there is none."""
    program: Any
    """The same program as JSON, for an artefact; None if there is none."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What judging one item came to."""

    checked: dict[str, int]
    """Contract id -> how often it was judged through this API."""
    findings: tuple[Finding, ...]
    unknown: dict[str, str]
    """Contract id -> why nothing can be said (the search was cut off, a checker broke)."""
    inapplicable: dict[str, str]
    """Contract id -> why it does not apply."""
    unexercised: dict[str, str]
    """Contract id -> what keeps it from being judged, and what would let it be."""
    operations: int
    saver_s: float
    """Seconds spent inside the saver."""
    total_s: float
    extra: dict[str, Any] = field(default_factory=dict)
    """Sections for report.json: "faults", "crash", "power"."""
    unsettled: dict[str, Unsettled] = field(default_factory=dict)
    """Contract id, of whatever family -> the differences in whose question it is. One that is in
    ``findings`` or ``handed`` as well counts as violated.
    """
    handed: tuple[Finding, ...] = ()
    """The violations of contracts of other families, which this item saw: they count where the
    run judges those, too, and their own items did not find them.
    """

    def about(self, contracts: Collection[str] | None) -> Self:
        """The same without what it says of other contracts; None: of all. What it hands to other
        families stays: the report tells of it even where nobody asked.
        """
        if contracts is None:
            return self
        return replace(
            self,
            checked={name: n for name, n in self.checked.items() if name in contracts},
            findings=tuple(one for one in self.findings if one.contract in contracts),
            unknown={name: why for name, why in self.unknown.items() if name in contracts},
            inapplicable={n: why for n, why in self.inapplicable.items() if n in contracts},
            unexercised={n: why for n, why in self.unexercised.items() if n in contracts},
            unsettled={name: seen for name, seen in self.unsettled.items() if name in contracts},
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The outcome that ``asdict`` gave."""
        found = {
            name: tuple(Finding.from_json(finding) for finding in data.get(name, ()))
            for name in ("findings", "handed")
        }
        return cls(**{**data, **found})
