"""docs/field.md, made of the results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from field_judging import HANGS, SCRIPT_LIMIT_S
from field_packages import Absent, Release, absent, disputes, packages, readings
from field_results import Result, drawn, results
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from saverproof.contracts.registry import contract
from saverproof_faults.scripted import UNDECIDED
from saverproof_reports.markup import linked, plain, prose

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the matrix: a question of users, and the families that answer it."""

    title: str
    question: str
    families: tuple[str, ...]


COLUMNS = (
    Column("crash", "The process is killed", ("durability",)),
    Column("failed call", "A call fails or is cancelled", ("atomicity",)),
    Column("retry", "A step is repeated, or answered by a person", ("upsert", "pending-writes")),
    Column("resume", "A graph is resumed", ("graph", "delta-history")),
    Column("workers", "Several workers at once", ("concurrency", "parity")),
    Column("values", "Values come back", ("serialization", "channels")),
    Column(
        "reading",
        "Checkpoints are found and listed",
        ("interface", "identity", "ordering", "filter", "lifecycle"),
    ),
    Column("apart", "Threads and users are kept apart", ("isolation",)),
    Column("deletion", "Threads are deleted, copied, pruned", ("deletion",)),
    Column("a year", "After a year", ("cost", "resources")),
)
"""The columns, those first whose breach loses work."""


@dataclass(frozen=True, slots=True)
class Task:
    """Something that LangGraph's Agent Server asks of a saver, and the contracts of it."""

    title: str
    contracts: tuple[str, ...]
    putting: tuple[str, ...] = ()
    """The contracts of what the server puts in place of it, where a saver lacks the method."""


_SERVER = (
    Task("versions that the server makes", ("channels/versions-of-callers",)),
    Task("delete a thread", ("deletion/thread-all", "deletion/no-ghosts")),
    Task("roll a run back", ("deletion/runs",)),
    Task("prune by age", ("deletion/prune-latest",)),
    Task(
        "copy a thread",
        ("deletion/copy-complete", "deletion/copy-independent"),
        # What a listing of the thread leaves out, subgraphs or writes, the copy lacks.
        putting=(
            "deletion/copy-by-putting",
            "identity/list-without-namespace",
            "pending-writes/complete",
        ),
    ),
    Task("delta channels", ("delta-history/matches-walk", "deletion/prune-keeps-delta-chain")),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """What is known about one saver and some contracts."""

    broken: tuple[str, ...]
    disputed: tuple[str, ...]
    undecided: tuple[str, ...]
    held: tuple[str, ...]

    @property
    def mark(self) -> str:
        """The cell of the matrix."""
        if self.broken:
            return f"**✗ {len(self.broken)}**"
        if self.disputed:
            return "disputed"
        if self.undecided:
            return f"? {len(self.undecided)}"
        return "✓" if self.held else "–"

    @property
    def kind(self) -> str:
        """What the mark says, in a word: broken, open, held or none."""
        if self.broken:
            return "broken"
        if self.disputed or self.undecided:
            return "open"
        return "held" if self.held else "none"


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken contract of one saver, with its words."""

    id: str
    seen: str
    expected: str
    observed: str
    apis: str
    shown: str
    matters: str
    fix: str
    read: str


class Saver:
    """One result with what the page says about it."""

    def __init__(self, result: Result, release: Release) -> None:
        self.result = result
        self.release = release
        self.title = f"{release.name} {release.version}"
        self._disputed = {one.contract: one.why for one in disputes() if one.name == release.name}

    @property
    def judged(self) -> bool:
        return "failed" not in self.result

    @property
    def cells(self) -> list[Cell]:
        """The cells of the matrix, one for each column."""
        return [self.cell(column.families) for column in COLUMNS]

    def cell(self, families: Iterable[str]) -> Cell:
        """Return what is known about the musts of some families."""
        return self._cell(lambda name: name.split("/")[0] in set(families))

    def server_mark(self, names: tuple[str, ...]) -> str:
        """Say in a word whether what some contracts, the first above all, are about works."""
        # A result that is older than a contract says nothing of it.
        if not self._told.issuperset(names):
            return "not judged"
        cell = self._cell(lambda name: name in names, ("must", "should"))
        if cell.broken:
            return "**breaks**"
        if cell.disputed:
            return "disputed"
        if cell.undecided:
            return "not judged"
        return "works" if names[0] in cell.held else "absent"

    @property
    def _told(self) -> set[str]:
        """The contracts that the result says anything of."""
        verdicts = [each for level in self.result["others"].values() for each in level.values()]
        return {one["id"] for one in self.result["broken"]}.union(*verdicts)

    def _cell(self, asked: Any, levels: tuple[str, ...] = ("must",)) -> Cell:
        broken = [
            one["id"]
            for one in self.result["broken"]
            if one["level"] in levels and asked(one["id"])
        ]
        others = [self.result["others"].get(level, {}) for level in levels]
        return Cell(
            broken=tuple(one for one in broken if one not in self._disputed),
            disputed=tuple(one for one in broken if one in self._disputed),
            undecided=tuple(
                name
                for verdict in ("unknown", "not-exercised")
                for verdicts in others
                for name in verdicts.get(verdict, ())
                if asked(name) and not name.startswith("upgrade/")
            ),
            held=tuple(
                name for verdicts in others for name in verdicts.get("held", ()) if asked(name)
            ),
        )

    def _musts(self) -> Iterator[dict[str, Any]]:
        yield from (one for one in self.result["broken"] if one["level"] == "must")

    @property
    def consequences(self) -> list[tuple[str, list[str]]]:
        """What users meet, by the question: what each broken must means to them."""
        found = []
        for column, cell in zip(COLUMNS, self.cells, strict=True):
            if cell.broken:
                said = [f"{linked(contract(name).matters)}" for name in cell.broken]
                found.append((column.question, list(dict.fromkeys(said))))
        return found

    @property
    def kept(self) -> list[str]:
        """The questions on which nothing is broken and something held."""
        return [
            column.question.lower()
            for column, cell in zip(COLUMNS, self.cells, strict=True)
            if cell.held and not (cell.broken or cell.disputed or cell.undecided)
        ]

    @property
    def undecided(self) -> list[str]:
        """The musts that were not judged, as families with how many of each."""
        names = [name for cell in self.cells for name in cell.undecided]
        families = [name.split("/")[0] for name in names]
        return [f"{one} ({families.count(one)})" for one in dict.fromkeys(families)]

    @property
    def advice(self) -> list[tuple[str, str]]:
        """The contracts of level should that are broken, with what was read, if anything was."""
        shoulds = [one["id"] for one in self.result["broken"] if one["level"] == "should"]
        return [(name, self._read(name)) for name in shoulds]

    @property
    def findings(self) -> list[Finding]:
        """The broken musts, that first which an author should mend first."""
        order = [family for column in COLUMNS for family in column.families]
        broken = sorted(self._musts(), key=lambda one: order.index(one["id"].split("/")[0]))
        return [self._finding(one) for one in broken if one["id"] not in self._disputed]

    def _finding(self, one: dict[str, Any]) -> Finding:
        known = contract(one["id"])
        return Finding(
            id=one["id"],
            seen=plain(one["seen"]),
            expected=_code(one["expected"]),
            observed=_code(one["observed"]),
            apis=", ".join(one["apis"]),
            shown=_shown(one.get("script", "unknown")),
            matters=linked(known.matters),
            fix=linked(known.fix),
            read=self._read(one["id"]),
        )

    def _read(self, name: str) -> str:
        """Return what was read in the saver's source about a contract, or nothing."""
        about = (self.release.name, name)
        read = [each.where for each in readings() if (each.name, each.contract) == about]
        return prose(read[0]) if read else ""

    def breaks_unlike(self, other: Saver) -> list[Finding]:
        """Return the broken musts of this release that another release was seen to keep."""
        kept = other.result["others"]["must"].get("held", ())
        return [self._finding(one) for one in self._musts() if one["id"] in kept]

    @property
    def disputed(self) -> list[tuple[str, str]]:
        """The disputed contracts that are broken in this result, with the reason."""
        return [
            (one["id"], self._disputed[one["id"]])
            for one in self._musts()
            if one["id"] in self._disputed
        ]

    @property
    def server(self) -> list[str]:
        """The cells of the table on LangGraph's Agent Server."""
        marks = []
        for task in _SERVER:
            mark = self.server_mark(task.contracts)
            if mark == "absent" and task.putting:
                mark = f"by putting: {self.server_mark(task.putting)}"
            marks.append(mark)
        return marks


def _shown(status: int | str | None) -> str:
    """Say what the script of a finding did when it was run alone."""
    if status == 1:
        return "its script shows it alone"
    if status == "unknown":
        return "seen in the run"
    if status is None:
        return "seen in the run; it has no script"
    if status == HANGS:
        return f"seen in the run; its script did not end within {SCRIPT_LIMIT_S:.0f} s"
    if status == UNDECIDED:
        return "seen in the run; its script could not go on to where it shows"
    return "seen in the run; its script did not show it again"


def shown_alone(found: list[Saver]) -> tuple[int, int]:
    """Return how many broken musts there are in the newest releases, and how many a script shows.

    What is disputed does not count.
    """
    shown = [finding.shown for one in newest(found) for finding in one.findings]
    return len(shown), shown.count(_shown(1))


def _code(text: str) -> str:
    return f"`{text.replace('`', chr(39))}`"


def link(name: str) -> str:
    """Return a link to a contract."""
    return f"[{name}](contracts.md#{name.replace('/', '')})"


def newest(savers: list[Saver]) -> list[Saver]:
    """Return the newest release of each saver."""
    found: dict[str, Saver] = {}
    for one in savers:
        found.setdefault(one.release.name, one)
    return list(found.values())


def savers() -> list[Saver]:
    """Return every judged release that is in the list, in the order of the list."""
    listed = {(one.name, one.version): one for one in packages()}
    order = list(dict.fromkeys(one.name for one in listed.values()))
    found = [
        Saver(one, listed[one["name"], one["version"]])
        for one in results()
        if (one["name"], one["version"]) in listed
    ]
    return sorted(found, key=lambda one: order.index(one.release.name))


def most_broken(found: list[Saver]) -> list[tuple[str, int]]:
    """Return the contracts that most savers break, with how many do."""
    counts: dict[str, int] = {}
    for one in newest(found):
        for finding in one.findings:
            counts[finding.id] = counts.get(finding.id, 0) + 1
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:12]


def not_judged(found: list[Saver]) -> list[Absent]:
    """Return what could not be judged, here or at all, with why."""
    failed = [
        Absent(one.release.distribution, one.release.version, one.result["failed"]["said"])
        for one in found
        if not one.judged
    ]
    done = {(one.release.name, one.release.version) for one in found}
    later = [
        Absent(one.distribution, one.version, f"has a target, and waits for `run {one.name}`")
        for one in packages()
        if (one.name, one.version) not in done
    ]
    return [*failed, *later, *absent()]


def template(name: str) -> Template:
    """Return a template of what is made of the results."""
    engine = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    engine.filters |= {"link": link, "plain": plain}
    return engine.get_template(name)


def page() -> str:
    """Return docs/field.md."""
    every = savers()
    found = [one for one in every if one.judged]
    broken, shown = shown_alone(found)
    return template("field.md.j2").render(
        columns=COLUMNS,
        savers=found,
        newest=newest(found),
        server=[task.title for task in _SERVER],
        most=most_broken(found),
        broken=broken,
        shown=shown,
        missing=not_judged(every),
        drawn=drawn(),
        seconds=sum(one.result.get("seconds", 0) for one in every),
    )
