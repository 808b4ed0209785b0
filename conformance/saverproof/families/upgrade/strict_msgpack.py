"""Reads one store with and without strict msgpack, and holds what a saver shows against what its
serializer says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from saverproof.families.upgrade.first_read import NotToBeSeen
from saverproof.families.upgrade.programs import expression
from saverproof.families.upgrade.release_process import ReleaseProcess, ReleaseRaised
from saverproof.families.upgrade.settings import LENIENT, STRICT, StorageSetting
from saverproof.families.upgrade.trials import (
    ALL_NEW,
    ALL_OLD,
    NOTHING,
    Playing,
    ProgramFacts,
    ReleaseBench,
    Which,
)
from saverproof.programs.small import THREAD
from saverproof.programs.steps.definitions import Program, Put, PutWrites
from saverproof.programs.values import Value
from saverproof.savers.workspace import Workspace

_OFF_THE_LIST = {
    "dataclass": ("pstats", "FunctionProfile"),
    "named-tuple": ("difflib", "Match"),
}
"""Kinds of values that LangGraph's list does not name, and their classes."""
_VALUES = (*(Value(kind, 1) for kind in (*_OFF_THE_LIST, "human-message")), Value("list", 1))
_NAMED = tuple((f"value_{number}", value) for number, value in enumerate(_VALUES))
PROGRAM: Program = (
    Put(THREAD, "", 1, None, changes=_NAMED, metadata={"run_id": "run"}),
    PutWrites(THREAD, "", 1, 1, _NAMED),
    Put(THREAD, "", 2, 1, changes=_NAMED[-1:], metadata={"run_id": "run"}),
)
"""What the list does not name lies beside what it does, so that a loss of either shows."""
READ_ALIKE = "its serializer reads what was stored in the same way with strict msgpack and without"
NOT_REBUILT = "it shows no object of a class that is off LangGraph's list without strict msgpack"
_ALLOWING = "allowing"
_OPENING = "opening raises"


@dataclass(frozen=True, slots=True)
class OtherwiseRead:
    """A fact that is shown otherwise than the serializer says; ``how`` are the words for who wrote
    and who read.
    """

    how: str
    fact: str
    expected: str
    observed: str


@dataclass(frozen=True, slots=True)
class StrictReads:
    """How many facts were held against the serializer's word, and the first one that differs."""

    facts: int
    odd: OtherwiseRead | None


def read_strictly(bench: ReleaseBench, release: str, api: str) -> StrictReads:
    """Read with strict msgpack what the old release has stored, and what was stored with it.

    Raises:
        NotToBeSeen: strict msgpack makes no difference to the saver's serializer, or the saver
            shows nothing to which it could make one.
    """
    with _player(release, api, LENIENT) as lenient, _player(release, api, STRICT) as strict:
        usual = replace(bench, players={**bench.players, Which.NEW: lenient})
        strictly = replace(bench, players={**bench.players, Which.NEW: strict})
        facts = 0
        for handover, written in ((ALL_OLD, "by the old release"), (ALL_NEW, "with it")):
            with bench.store() as at:
                playing = strictly.play(handover, [PROGRAM], at)
                if trouble := next(iter(playing[0].raised.values()), ""):
                    raise NotToBeSeen(f"what is to be read cannot be stored: {trouble}")
                seen = _looked(usual, strictly, playing, at, written)
            if seen.odd is not None:
                return seen
            facts += seen.facts
    return StrictReads(facts, None)


@contextmanager
def _player(release: str, api: str, setting: StorageSetting) -> Iterator[ReleaseProcess]:
    with ReleaseProcess(release, "", api, setting.environment) as process:
        yield process


def _looked(
    usual: ReleaseBench,
    strictly: ReleaseBench,
    playing: Sequence[Playing],
    at: Workspace,
    written: str,
) -> StrictReads:
    (control,), said = _shown(usual, playing, at)
    facts = 0
    for classes, how in (
        ((), "with strict msgpack"),
        (tuple(_OFF_THE_LIST.values()), "through `with_allowlist` of its class"),
    ):
        try:
            (shown,), given = _shown(strictly, playing, at, classes)
        except ReleaseRaised as refusal:
            odd = OtherwiseRead(f"written {written}, read {how}", _OPENING, NOTHING, str(refusal))
            return StrictReads(facts, odd)
        if not classes and given == said:
            raise NotToBeSeen(READ_ALIKE)
        expected = {name: _put(text, said, given) for name, text in control.items()}
        if not classes and expected == control:
            raise NotToBeSeen(NOT_REBUILT)
        facts += len(expected)
        # An exception explains what is not shown for it.
        for name in sorted({*expected, *shown}, key=lambda name: (" raises" not in name, name)):
            pair = expected.get(name, NOTHING), shown.get(name, NOTHING)
            if pair[0] != pair[1]:
                return StrictReads(
                    facts, OtherwiseRead(f"written {written}, read {how}", name, *pair)
                )
    return StrictReads(facts, None)


def _put(text: str, said: Sequence[str], given: Sequence[str]) -> str:
    """Return the text of a fact with what a serializer gives now in place of what it gave."""
    for before, after in zip(said, given, strict=True):
        text = text.replace(before, after) if before != after else text
    return text


def _shown(
    bench: ReleaseBench,
    playing: Sequence[Playing],
    at: Workspace,
    classes: Sequence[tuple[str, str]] = (),
) -> tuple[list[ProgramFacts], list[str]]:
    """Return what the new release shows, through a copy that may read these classes if some are
    given, and what that saver's serializer makes of each value.
    """
    player = bench.players[Which.NEW]
    with bench.opened((Which.NEW,), at) as name:
        if classes:
            player.ask("allow", name=name, copied=_ALLOWING, classes=[list(c) for c in classes])
            name = _ALLOWING
        said: list[str] = player.ask("said", name=name, values=[*map(expression, _VALUES)])
        return [one.look(player, name) for one in playing], said
