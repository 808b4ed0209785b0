"""Lets a store be written with one serializer or environment, and read with another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace

from saverproof.families.upgrade.first_read import NotToBeSeen
from saverproof.families.upgrade.release_process import ReleaseGone, ReleaseProcess, ReleaseRaised
from saverproof.families.upgrade.serializers import NEVER_ENCRYPTED
from saverproof.families.upgrade.settings import SettingChange, StorageSetting
from saverproof.families.upgrade.trials import (
    ALL_NEW,
    ALL_OLD,
    GONE_ON,
    NOTHING,
    READ_BY_NEW,
    Handover,
    Odd,
    ProgramFacts,
    ReleaseBench,
    Which,
    refusal_of,
)
from saverproof.programs.rewriting.shrinking import shrink
from saverproof.programs.small import LATE_WRITES, THREAD, TWO_WRITES
from saverproof.programs.steps.definitions import Program, Put, PutWrites
from saverproof.programs.values import Value, values

_VALUES = (Value("none", 0), *values("falsy", "object", "message"), Value("bytes", 1))
"""Values that serializers treat apart: LangGraph's has types of their own for None and for bytes,
and gives back objects only if they are allowed.
"""
_NAMED = tuple((f"value_{number}", value) for number, value in enumerate(_VALUES))
PROGRAMS: tuple[Program, ...] = (
    TWO_WRITES,
    LATE_WRITES,
    (
        Put(THREAD, "", 1, None, changes=_NAMED, metadata={"run_id": "run"}),
        PutWrites(THREAD, "", 1, 1, _NAMED),
        Put(THREAD, "", 2, 1, changes=_NAMED[:1], metadata={"run_id": "run"}),
    ),
)
"""The first two hold nothing that JSON cannot hold."""
KEPT = "what was stored, or an exception"
_MOST_STEPS = 40
"""The most programs that are tried to shorten one: each takes three stores."""
_RAISES = " raises "
_OPENING = f"opening{_RAISES}the store"
OWN_TROUBLE = "no store of the release's own is written and read so: {}"
UNUSED = "the saver called no serializer that was given to it"
NO_DIFFERENCE = "it changes nothing of what the saver shows"


@dataclass(frozen=True, slots=True)
class AfterChange:
    """The results of one change: how many facts were compared, how many reads were refused, and
    which facts are odd, each with the handover that showed it.
    """

    facts: int
    refused: int
    odd: tuple[tuple[Handover, Odd], ...]


@dataclass(slots=True)
class ChangedSettings:
    """Makes the trials of one pair of releases.

    A setting that needs an environment of its own gets a further process of the new release, which
    lasts as long as ``stack``.
    """

    bench: ReleaseBench
    stack: ExitStack
    release: str
    api: str
    programs: Sequence[Program] = PROGRAMS
    _players: dict[str, ReleaseProcess] = field(default_factory=dict)
    _known: dict[tuple[Handover, str], list[ProgramFacts]] = field(default_factory=dict)

    def after(self, change: SettingChange) -> AfterChange:
        """Let the old release write with the setting before the change, and the new one read, or go
        on, with the setting after it.

        Raises:
            NotToBeSeen: the saver does not work with one of the two settings alone, or the change
                makes no difference to it.
        """
        fitting = self._fitting(change)
        bench = self._bench(change.before, change.after)
        calls = _calls(bench)
        read = self._judged(change, READ_BY_NEW, fitting)
        if any(count == calls[role] for role, count in _calls(bench).items()):
            raise NotToBeSeen(UNUSED)
        going = [one for one, seen in zip(fitting, read, strict=True) if not seen.refused]
        gone_on = self._judged(change, GONE_ON, going)
        return AfterChange(
            sum(one.facts for one in (*read, *gone_on)),
            sum(one.refused for one in (*read, *gone_on)),
            tuple(odd for one in (*read, *gone_on) for odd in one.odd),
        )

    def shortened(self, change: SettingChange, after: AfterChange) -> tuple[Handover, Odd]:
        """Return the first odd fact, with the shortest program found that shows one."""
        shortest = after.odd[0]

        def attempt(candidate: Program) -> Program | None:
            nonlocal shortest
            with suppress(NotToBeSeen):
                odd = self.playing(candidate).after(change).odd
                if odd:
                    shortest = odd[0]
                    return candidate
            return None

        with suppress(ReleaseGone, ReleaseRaised):
            shrink(after.odd[0][1].program, attempt, _MOST_STEPS)
        return shortest

    def playing(self, program: Program) -> ChangedSettings:
        """Return trials with this program alone, by the same processes."""
        return replace(self, programs=[program], _known={})

    # -- programs, and what is known of them ------------------------------------------------------

    def _fitting(self, change: SettingChange) -> list[int]:
        """Return the numbers of the programs that the old release shows with the setting before the
        change alone, and the new release shows, or refuses, with the one after it alone.

        Raises:
            NotToBeSeen: there is no such program, or the change makes no difference to any.
        """
        old = self._alone(ALL_OLD, change.before)
        new = self._alone(ALL_NEW, change.after)
        fitting = [
            number
            for number, (before, after) in enumerate(zip(old, new, strict=True))
            if not _raised(before) and (refusal_of(after) or not _raised(after))
        ]
        if not fitting:
            raised = (text for shown in (*old, *new) for text in _raised(shown).values())
            raise NotToBeSeen(OWN_TROUBLE.format(next(raised)))
        if change.after.environment and old == new:
            raise NotToBeSeen(NO_DIFFERENCE)
        return fitting

    def _alone(self, handover: Handover, setting: StorageSetting) -> list[ProgramFacts]:
        """Return what a handover shows if nothing but this one setting is used."""
        key = (handover, setting.words)
        if key not in self._known:
            bench = self._bench(setting, setting)
            self._known[key] = _shown(bench, handover, self.programs)
        return self._known[key]

    def _judged(
        self, change: SettingChange, handover: Handover, numbers: Sequence[int]
    ) -> list[AfterChange]:
        programs = [self.programs[number] for number in numbers]
        bench = self._bench(change.before, change.after)
        known = (
            self._alone(ALL_OLD, change.before),
            self._alone(ALL_NEW, change.after),
            # What is also lost without the change does not come from the change.
            self._alone(handover, change.before),
        )
        judged = []
        for number, shown in zip(numbers, _shown(bench, handover, programs), strict=True):
            alone = [facts[number] for facts in known if not refusal_of(facts[number])]
            odd = _odd(self.programs[number], alone, shown)
            refused = len(_raised(shown))
            found = tuple((handover, one) for one in odd)
            judged.append(AfterChange(len(shown) - refused, refused, found))
        return judged

    # -- processes --------------------------------------------------------------------------------

    def _bench(self, old: StorageSetting, new: StorageSetting) -> ReleaseBench:
        players = {Which.OLD: self.bench.players[Which.OLD], Which.NEW: self._player(new)}
        serializers = {Which.OLD: old.to_json(), Which.NEW: new.to_json()}
        return replace(self.bench, players=players, serializers=serializers)

    def _player(self, setting: StorageSetting) -> ReleaseProcess:
        if not setting.environment:
            return self.bench.players[Which.NEW]
        if setting.words not in self._players:
            process = ReleaseProcess(self.release, "", self.api, setting.environment)
            self._players[setting.words] = self.stack.enter_context(process)
        return self._players[setting.words]


def _calls(bench: ReleaseBench) -> dict[Which, int]:
    """Return how often the given serializers were called, for each process that has some."""
    return {
        role: bench.players[role].ask("serialized")
        for role, given in bench.serializers.items()
        if given is not None
    }


def _shown(
    bench: ReleaseBench, handover: Handover, programs: Sequence[Program]
) -> list[ProgramFacts]:
    if not programs:
        return []
    try:
        (shown,) = bench.shown(handover, programs)
    except ReleaseRaised as refusal:
        # A store that cannot be opened says so, and shows nothing of any program.
        return [{_OPENING: str(refusal)} for _ in programs]
    return shown


def _raised(shown: ProgramFacts) -> dict[str, str]:
    return {name: text for name, text in shown.items() if _RAISES in name}


def _odd(program: Program, alone: Sequence[ProgramFacts], shown: ProgramFacts) -> Iterator[Odd]:
    """Yield the facts that are shown differently from how they are shown without the change.

    What is refused need not be shown. But no refusal may come from decrypting bytes that were never
    encrypted.
    """
    raised = _raised(shown)
    for name, text in raised.items():
        if NEVER_ENCRYPTED in text:
            yield Odd(program, name, (KEPT,), text, Which.NEW)
    if _OPENING in raised or refusal_of(shown):
        return
    excused = tuple(name.partition(_RAISES)[2] for name in raised)
    for name in sorted({*shown, *(name for one in alone for name in one)} - raised.keys()):
        known = tuple(dict.fromkeys(one.get(name, NOTHING) for one in alone))
        observed = shown.get(name, NOTHING)
        if not name.endswith(excused) and observed not in known:
            yield Odd(program, name, (*known, "an exception"), observed, Which.NEW)
