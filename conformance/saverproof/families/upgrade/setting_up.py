"""Sets an old store up by several processes at once, or by one that is killed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from saverproof.families.upgrade.first_read import NotToBeSeen
from saverproof.families.upgrade.release_process import ReleaseProcess, ReleaseRaised, where
from saverproof.families.upgrade.trials import (
    ALL_NEW,
    ALL_OLD,
    NOTHING,
    Alone,
    Handover,
    Odd,
    Playing,
    ProgramFacts,
    ReleaseBench,
    Which,
)
from saverproof.programs.small import LATE_WRITES, TWO_WRITES
from saverproof.programs.steps.definitions import Program
from saverproof.savers.workspace import Workspace

PROGRAMS: tuple[Program, ...] = (TWO_WRITES, LATE_WRITES)
AT_ONCE = 3
ROUNDS = {"quick": 2, "default": 5, "deep": 40}
"""How often several processes set a store up at once: which one comes first is left to chance."""
MOST_KILLS = {"quick": 6, "default": 24, "deep": 400}
_TO_THE_END = 1 << 30
LOST_ANYWAY = "an old store cannot be set up by one process, with nothing else going on: {}"
OWN_TROUBLE = "a store of the release's own is not set up without trouble, too: {}: {}"
NO_CALLS = "no call of a driver was seen while a store was set up, so that no process was killed"


@dataclass(frozen=True, slots=True)
class Trouble:
    """A flaw that was seen when an old store was set up, and how it was set up.

    ``place`` is the place of the kill, if there was one. ``beside`` says that more is lost where
    nothing is killed, too, which was left out.
    """

    how: str
    observed: str
    place: int | None = None
    beside: bool = False


@dataclass(slots=True)
class SettingUp:
    """Makes the trials of one pair of releases.

    ``more`` are further processes of the new release; ``alone`` is what each release shows of
    ``PROGRAMS`` in its own store.
    """

    bench: ReleaseBench
    more: Sequence[ReleaseProcess]
    alone: Alone
    profile: str
    undisturbed: Sequence[ProgramFacts] = ()
    """What an old store shows that was set up without any trouble, if that is not as it should be.
    """
    tried: int = 0
    kills: int = 0

    def set_up_undisturbed(self) -> None:
        """Learn what is lost anyway when an old store is set up.

        Raises:
            NotToBeSeen: it cannot be set up at all.
        """
        with self.bench.store() as at:
            playing = self.bench.play(ALL_OLD, PROGRAMS, at)
            try:
                self.undisturbed = self._set_up_and_read(playing, at)
            except ReleaseRaised as refusal:
                raise NotToBeSeen(LOST_ANYWAY.format(refusal)) from refusal

    def trouble(self) -> Trouble | None:
        """Return the first flaw seen with stores of the old release.

        Raises:
            NotToBeSeen: stores of the new release show flaws as well, which other families judge;
                or there was no call at which a process could be killed.
        """
        found = next(self.troubles(ALL_OLD), None)
        if found is not None:
            if own := next(self.troubles(ALL_NEW), None):
                raise NotToBeSeen(OWN_TROUBLE.format(own.how, own.observed))
            return found
        if not self.kills:
            raise NotToBeSeen(NO_CALLS)
        return None

    def troubles(self, wrote: Handover) -> Iterator[Trouble]:
        """Yield all flaws seen with stores that were written by this handover."""
        for _ in range(ROUNDS[self.profile]):
            yield from self._at_once(wrote)
        with self.bench.store() as at:
            self.bench.play(wrote, PROGRAMS, at)
            count = self._die(at, _TO_THE_END)
        most = MOST_KILLS[self.profile]
        for place in range(0, count, max(1, -(-count // most))):
            yield from self.killed_at(place, wrote)

    def _at_once(self, wrote: Handover) -> Iterator[Trouble]:
        self.tried += 1
        with self.bench.store() as at:
            self.bench.play(wrote, PROGRAMS, at)
            how = f"{AT_ONCE} processes set it up at once"
            for player in self.more:
                player.send("open", name="shared", **where(self.bench.opening, at))
                player.send("set_up", name="shared")
                player.send("close", name="shared")
            # Read all answers before one is told: whoever asks for one alone would leave the
            # others to the next trial.
            raised = [[*filter(None, (_refusal(one) for _ in range(3)))] for one in self.more]
        for each in filter(None, raised):
            yield Trouble(how, each[0])

    def killed_at(self, place: int, wrote: Handover) -> Iterator[Trouble]:
        """Yield the flaws seen after a process was killed at one call of its driver."""
        self.tried += 1
        self.kills += 1
        beside = bool(self.undisturbed)
        how = f"set up by a process that is killed at call {place + 1} of its driver, and again"
        with self.bench.store() as at:
            playing = self.bench.play(wrote, PROGRAMS, at)
            self._die(at, place)
            try:
                shown = self._set_up_and_read(playing, at)
            except ReleaseRaised as refusal:
                yield Trouble(how, str(refusal), place, beside)
                return
        for odd in self.alone.odd(Which.NEW, shown):
            if not self._is_lost_anyway(odd):
                yield Trouble(how, f"{odd.fact}: {odd.observed}", place, beside)

    def _is_lost_anyway(self, odd: Odd) -> bool:
        of_programs = zip(self.alone.programs, self.undisturbed, strict=False)
        return any(
            program == odd.program and shown.get(odd.fact, NOTHING) == odd.observed
            for program, shown in of_programs
        )

    def _die(self, at: Workspace, place: int) -> int:
        count: int = self.more[0].ask("die", place=place, **where(self.bench.opening, at))
        return count

    def _set_up_and_read(self, playing: Sequence[Playing], at: Workspace) -> list[dict[str, str]]:
        player = self.bench.players[Which.NEW]
        with self.bench.opened((Which.NEW,), at) as name:
            player.ask("set_up", name=name)
            return [one.look(player, name) for one in playing]


def _refusal(player: ReleaseProcess) -> str:
    try:
        player.answer()
    except ReleaseRaised as refusal:
        return str(refusal)
    return ""


def processes(stack: ExitStack, release: str, api: str) -> list[ReleaseProcess]:
    """Start the processes of the installed release that set a store up at once."""
    return [stack.enter_context(ReleaseProcess(release, "", api)) for _ in range(AT_ONCE)]
