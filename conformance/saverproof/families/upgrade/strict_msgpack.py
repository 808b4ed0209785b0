"""Reads one store with and without strict msgpack, and compares what a saver shows with what its
serializer makes of the values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    Handover,
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
WRITTEN: Mapping[str, Handover] = {"by the old release": ALL_OLD, "with it": ALL_NEW}
"""Who has written what is read with strict msgpack, in words."""
_CLASSES = tuple(_OFF_THE_LIST.values())
_ALLOWING = "allowing"
_OPENING = "opening raises"
_STORED = "to be stored, as it is without strict msgpack"


@dataclass(frozen=True, slots=True)
class OtherwiseRead:
    """A fact that is shown differently from what the serializer says.

    ``written`` is one of :data:`WRITTEN`; ``how`` says in words how the fact was read.
    """

    written: str
    how: str
    fact: str
    expected: str
    observed: str


@dataclass(frozen=True, slots=True)
class StrictReads:
    """The number of facts that were compared with what the serializer says, and the first one that
    differs.
    """

    facts: int
    odd: OtherwiseRead | None


@dataclass(frozen=True, slots=True)
class StrictReading:
    """Reads stores with and without strict msgpack. On each of the two benches, the new release is
    a process of its own.
    """

    usual: ReleaseBench
    strictly: ReleaseBench

    @classmethod
    @contextmanager
    def of(cls, bench: ReleaseBench, release: str, api: str) -> Iterator[StrictReading]:
        """Start a process of the new release for each setting."""
        with _player(release, api, LENIENT) as lenient, _player(release, api, STRICT) as strict:
            yield cls(
                *(
                    replace(bench, players={**bench.players, Which.NEW: player})
                    for player in (lenient, strict)
                )
            )

    def after(self, written: str) -> StrictReads:
        """Read with strict msgpack what was ``written``, one of :data:`WRITTEN`.

        Raises:
            NotToBeSeen: it cannot be stored without strict msgpack either; or strict msgpack makes
                no difference to the saver's serializer, or none to anything that the saver shows.
        """
        with self.strictly.store() as at:
            (playing,) = self.strictly.play(WRITTEN[written], [PROGRAM], at)
            if playing.raised:
                return self._refused(written, playing)
            return self._looked(written, playing, at)

    def _refused(self, written: str, playing: Playing) -> StrictReads:
        fact, trouble = next(iter(playing.raised.items()))
        with self.usual.store() as at:
            (usual,) = self.usual.play(WRITTEN[written], [PROGRAM], at)
        if usual.raised:
            raise NotToBeSeen(f"what is to be read cannot be stored: {trouble}")
        return StrictReads(1, OtherwiseRead(written, "stored", fact, _STORED, trouble))

    def _looked(self, written: str, playing: Playing, at: Workspace) -> StrictReads:
        # A store of an older release may show more, or less, once it has been opened.
        _shown(self.usual, playing, at)
        control, said = _shown(self.usual, playing, at)
        ways = {"read": (), "read through `with_allowlist` of its class": _CLASSES}
        plain: Sequence[str] = ()
        facts = 0
        for how, classes in ways.items():
            try:
                shown, given = _shown(self.strictly, playing, at, classes, plain)
            except ReleaseRaised as refusal:
                odd = OtherwiseRead(written, how, _OPENING, NOTHING, str(refusal))
                return StrictReads(facts, odd)
            expected = {name: _put(text, said, given) for name, text in control.items()}
            if not classes:
                plain = given
                if given == said:
                    raise NotToBeSeen(READ_ALIKE)
                if expected == control:
                    raise NotToBeSeen(NOT_REBUILT)
            facts += len(expected)
            if differs := _first_odd(expected, shown):
                return StrictReads(facts, OtherwiseRead(written, how, *differs))
        return StrictReads(facts, None)


def _first_odd(
    expected: Mapping[str, str], shown: Mapping[str, str]
) -> tuple[str, str, str] | None:
    """Return the first fact that differs: its name, and what was expected and observed."""
    # An exception explains what is not shown for it.
    for name in sorted({*expected, *shown}, key=lambda name: (" raises" not in name, name)):
        wanted, observed = expected.get(name, NOTHING), shown.get(name, NOTHING)
        if wanted != observed:
            return name, f"as the saver's serializer gives it: {wanted}", observed
    return None


@contextmanager
def _player(release: str, api: str, setting: StorageSetting) -> Iterator[ReleaseProcess]:
    with ReleaseProcess(release, "", api, setting.environment) as process:
        yield process


def _put(text: str, said: Sequence[str], given: Sequence[str]) -> str:
    """Return the text of a fact, with the values as the serializer gives them now in place of those
    that it gave before.

    Facts hold the whole text of a value, within that of a checkpoint or a list of writes.
    """
    for before, after in zip(said, given, strict=True):
        text = text.replace(before, after) if before != after else text
    return text


def _shown(
    bench: ReleaseBench,
    playing: Playing,
    at: Workspace,
    classes: Sequence[tuple[str, str]] = (),
    plain: Sequence[str] = (),
) -> tuple[ProgramFacts, Sequence[str]]:
    """Return what the new release shows, and what the saver's serializer makes of each value.

    If ``classes`` are given, the saver is read through a copy that may read these classes. The
    serializer that LangGraph's base class makes for them then says what the values are, unless it
    gives only ``plain``. The copy's own serializer says so in that case alone: if it were the same
    as that of the original, the copy would always seem right.
    """
    player = bench.players[Which.NEW]

    def said(name: str, classes: Sequence[tuple[str, str]] = ()) -> Sequence[str]:
        values = [*map(expression, _VALUES)]
        texts: Sequence[str] = player.ask(
            "said", name=name, values=values, classes=[list(one) for one in classes]
        )
        return texts

    with bench.opened((Which.NEW,), at) as name:
        if not classes:
            return playing.look(player, name), said(name)
        allowed = said(name, classes)
        player.ask("allow", name=name, copied=_ALLOWING, classes=[list(one) for one in classes])
        given = allowed if allowed != plain else said(_ALLOWING)
        return playing.look(player, _ALLOWING), given
