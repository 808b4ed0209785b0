"""Plays programs on one store, with parts taken by different releases, and reads what a release
shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from saverproof.families.upgrade.openings import StoreOpening
from saverproof.families.upgrade.programs import questions, settled, written
from saverproof.families.upgrade.release_process import ReleaseProcess, ReleaseRaised
from saverproof.families.upgrade.release_program import text_of
from saverproof.programs.legality import objection
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import Program, Step
from saverproof.savers.targets.opening import fresh_workspace
from saverproof.savers.targets.target import Target
from saverproof.savers.workspace import Workspace

ProgramFacts = Mapping[str, str]
"""What a release shows of a program: facts by their names."""
_AS_PUT = '"as it was put"'
_RAISES = "step raises "


class Which(StrEnum):
    """One of the two releases."""

    OLD = "old"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class Handover:
    """The releases that take the parts of a program on one store, and those that are asked at the
    end.

    Each of ``parts`` has the releases that take it, and a function that computes where the part
    ends from the number of the program's steps. If a part has both releases, both keep the store
    open, and take turns.
    """

    parts: tuple[tuple[tuple[Which, ...], Callable[[int], int]], ...]
    readers: tuple[Which, ...]


def _whole(steps: int) -> int:
    return steps


def _half(steps: int) -> int:
    return (steps + 1) // 2


ALL_OLD = Handover((((Which.OLD,), _whole),), (Which.OLD,))
ALL_NEW = Handover((((Which.NEW,), _whole),), (Which.NEW,))
READ_BY_NEW = Handover((((Which.OLD,), _whole),), (Which.NEW,))
GONE_ON = Handover((((Which.OLD,), _half), ((Which.NEW,), _whole)), (Which.NEW,))
ROLLED_BACK = Handover((((Which.OLD,), _half), ((Which.NEW,), _whole)), (Which.OLD,))
SIDE_BY_SIDE = Handover((((Which.OLD, Which.NEW), _whole),), (Which.NEW, Which.OLD))


@dataclass(slots=True)
class Playing:
    """One program that is being played on a store. The names of its threads have a prefix of their
    own.
    """

    program: Program
    name: str
    model: Model = field(default_factory=Model)
    taken: int = 0
    shown: dict[str, str] = field(default_factory=dict)
    raised: dict[str, str] = field(default_factory=dict)
    versions: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The channel versions, and the versions seen, of each checkpoint that was put, by its id."""

    def go_on(self, players: Sequence[ReleaseProcess], store: str, upto: int) -> None:
        """Take the steps before number ``upto``, with the releases in turns."""
        for step in written(self.program)[self.taken : upto]:
            player = players[self.taken % len(players)]
            self.taken += 1
            if objection(step, self.model) is None:
                self._take(step, player, store)

    def _take(self, step: Step, player: ReleaseProcess, store: str) -> None:
        def next_version(current: Any) -> Any:
            return player.ask("version", name=store, current=current)

        thread = self.name + getattr(step, "thread", "")
        try:
            call = settled(step, self.model, thread, next_version)
            if call.operation == "put":
                checkpoint = call.arguments[1]
                self.versions[checkpoint["id"]] = (
                    text_of(checkpoint["channel_versions"]),
                    text_of(checkpoint["versions_seen"]),
                )
            player.ask("call", name=store, operation=call.operation, arguments=call.arguments)
        except ReleaseRaised as refusal:
            self.raised[f"{_RAISES}({self.taken})"] = str(refusal)

    def look(self, player: ReleaseProcess, store: str) -> dict[str, str]:
        """Return the facts that a release shows of the program. Their names are the same for all
        stores.
        """
        asked = questions(self.program, self.name)
        shown: dict[str, str] = dict(self.raised)
        for question, facts in zip(asked, player.look(store, asked), strict=True):
            at = repr({k: v for k, v in question.items() if k != "kind"}).replace(self.name, "")
            for name, text in facts.items():
                about = f"{name} ({question['kind']} {at})"
                shown[about] = self._without_versions(name, text.replace(self.name, ""))
        return shown

    def _without_versions(self, name: str, text: str) -> str:
        """Return a placeholder if the text is a version as it was put, since each release makes
        versions of its own. Return any other text unchanged.
        """
        for put in self.versions.items():
            identifier, made = put
            for kind, known in zip(("channel_versions", "versions_seen"), made, strict=True):
                if name.endswith(f"{identifier}: {kind}") and text == known:
                    return _AS_PUT
        return text


@dataclass(frozen=True, slots=True)
class Odd:
    """A fact that differs from what each release shows of its own store. ``expected`` are the texts
    that they show there.
    """

    program: Program
    fact: str
    expected: tuple[str, ...]
    observed: str
    reader: Which


NOTHING = "nothing"
"""The text of a fact that is not shown at all."""


def odd_facts(
    program: Program, reader: Which, shown: ProgramFacts, old: ProgramFacts, new: ProgramFacts
) -> Iterator[Odd]:
    """Yield the facts that differ from what each of the two releases shows of its own store."""
    # An exception explains what is not shown for it.
    names = sorted({*old, *new, *shown}, key=lambda name: (" raises " not in name, name))
    for name in names:
        known = tuple(dict.fromkeys(one.get(name, NOTHING) for one in (old, new)))
        observed = shown.get(name, NOTHING)
        if observed not in known:
            yield Odd(program, name, known, observed, reader)


@dataclass(slots=True)
class ReleaseBench:
    """The processes of both releases, and the folder in which their stores are made.

    ``serializers`` are those that replace a release's own, as data. ``plain`` is the bench with the
    plain saver on both, if LangGraph itself is older in one of them.
    """

    target: Target
    folder: Path
    opening: StoreOpening
    players: Mapping[Which, ReleaseProcess]
    serializers: Mapping[Which, Any] = field(default_factory=dict)
    plain: ReleaseBench | None = None
    _stores: int = 0

    @contextmanager
    def store(self) -> Iterator[Workspace]:
        """Make an empty store."""
        with fresh_workspace(self.folder, self.target) as workspace:
            yield workspace

    @contextmanager
    def opened(self, roles: Sequence[Which], at: Workspace) -> Iterator[str]:
        """Open a store in these releases. Yields the name by which the releases know it."""
        self._stores += 1
        name = f"store {self._stores}"
        for role in roles:
            self.players[role].open(name, self.opening, at, self.serializers.get(role))
        try:
            yield name
        finally:
            for role in roles:
                self.players[role].close(name)

    def play(self, handover: Handover, programs: Sequence[Program], at: Workspace) -> list[Playing]:
        """Play programs on a store, with the releases of a handover."""
        playing = [Playing(one, f"{number}~") for number, one in enumerate(programs)]
        for roles, upto in handover.parts:
            with self.opened(roles, at) as name:
                players = [self.players[role] for role in roles]
                for one in playing:
                    one.go_on(players, name, upto(len(written(one.program))))
        return playing

    def read(self, reader: Which, playing: Sequence[Playing], at: Workspace) -> list[ProgramFacts]:
        """Return what a release shows of the programs, on a store that it opens for that."""
        with self.opened((reader,), at) as name:
            return [one.look(self.players[reader], name) for one in playing]

    def shown(self, handover: Handover, programs: Sequence[Program]) -> list[list[ProgramFacts]]:
        """Return what each reader of a handover shows of each program, on a store of its own."""
        with self.store() as at:
            playing = self.play(handover, programs, at)
            return [self.read(reader, playing, at) for reader in handover.readers]


@dataclass(slots=True)
class Alone:
    """The facts that each release shows of programs that it wrote alone. Programs that one of them
    refuses are left out.

    ``refusal`` is the error of the first refused program.
    """

    programs: list[Program]
    old: list[ProgramFacts]
    new: list[ProgramFacts]
    refusal: str = ""

    @classmethod
    def of(cls, bench: ReleaseBench, programs: Sequence[Program]) -> Alone:
        """Have both releases play the programs, each on its own store."""
        (old,) = bench.shown(ALL_OLD, programs)
        return cls.beside(bench, programs, old)

    @classmethod
    def beside(
        cls, bench: ReleaseBench, programs: Sequence[Program], old: Sequence[ProgramFacts]
    ) -> Alone:
        """Let only the new release play the programs. What the old one shows is given."""
        (new,) = bench.shown(ALL_NEW, programs)
        rows = [
            row for row in zip(programs, old, new, strict=True) if not any(map(refusal_of, row[1:]))
        ]
        refusal = next(filter(None, map(refusal_of, (*old, *new))), "")
        return cls(
            [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows], refusal
        )

    def only(self, wanted: Callable[[Program], bool]) -> Alone:
        """Return the results of those programs that are wanted."""
        rows = [
            row for row in zip(self.programs, self.old, self.new, strict=True) if wanted(row[0])
        ]
        return Alone([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])

    def odd(self, reader: Which, shown: Sequence[ProgramFacts]) -> Iterator[Odd]:
        """Yield the facts that differ from what each of the two releases shows."""
        for program, seen, old, new in zip(self.programs, shown, self.old, self.new, strict=True):
            yield from odd_facts(program, reader, seen, old, new)


def refusal_of(shown: ProgramFacts) -> str:
    """Return the error of the first step that raised; "" if none did."""
    return next((text for name, text in shown.items() if is_refusal(name)), "")


def is_refusal(fact: str) -> bool:
    """Return whether this is the name of the fact that a step raised."""
    return fact.startswith(_RAISES)
