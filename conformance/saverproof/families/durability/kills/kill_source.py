"""Writes how a script's process kills itself at a place, the plainest way first."""

from __future__ import annotations

from collections.abc import Iterator

from saverproof.families.durability.kills.kill_places import OPENING, KillPlace, PlaceKind
from saverproof.families.durability.kills.system_call_places import failure_at
from saverproof.scripts.kill_script import DIE, KillSource, deaths_at_statement
from saverproof_faults import Moment


def deaths(place: KillPlace) -> Iterator[KillSource]:
    """Yield the ways to die at a place, as source."""
    opening = place.operation == OPENING
    match place.kind:
        case PlaceKind.STATEMENT:
            if place.moment == Moment.AFTER:
                yield KillSource(f"left[0] = {place.number}", _ENDED, at_once=opening)
            yield from deaths_at_statement(place.number, at_once=opening)
        case PlaceKind.IO:
            arm = f"disk.arm(IoAction({place.index}, lambda _: {DIE}))"
            again = f"disk.arm(IoAction(int(sys.argv[2]), lambda _: {DIE}))"
            yield KillSource(arm, _DISK, at_once=opening, again=again if place.again else "")
        case PlaceKind.SYSTEM_CALL | PlaceKind.MESSAGE:
            fault = f"CallFault({place.index}, CallFailure.{failure_at(place).name})"
            again = "files.arm(CallFault(int(sys.argv[2]), CallFailure.KILLED))"
            yield KillSource(
                f"files.arm({fault})",
                first=_FILES,
                at_once=opening,
                again=again if place.again else "",
            )
        case PlaceKind.CALL:
            yield KillSource(f"left[0] = {place.index}", _CALLS, at_once=opening)
    if place.again:
        return
    if not opening or place.kind is PlaceKind.ACKNOWLEDGED:
        yield KillSource(DIE, after=True)


_ENDED = (
    "left = [0]  # statements that end until the process dies",
    "def count(answer):",
    "    left[0] -= 1",
    f"    if left[0] == 0: {DIE}",
    "    return answer",
    "class Connection(sqlite3.Connection):",
    "    def execute(self, *given): return count(super().execute(*given))",
    "    def commit(self): return count(super().commit())",
    "connect = sqlite3.connect",
    'sqlite3.connect = lambda *given, **more: connect(*given, **{**more, "factory": Connection})',
)
_DISK = ("disk = IoWatch(tempfile.gettempdir())", "disk.__enter__()  # until the script ends")
_FILES = (
    "files = CallWatch(sys.argv[1])",
    "files.__enter__().cover()  # until the process ends",
)
_CALLS = (
    "left = [0]  # calls that change files until the process dies",
    "def count(frame, event, function):",
    '    if event in ("c_call", "c_return") and changes(function):',
    "        left[0] -= 1",
    f"        if left[0] == 0: {DIE}",
    "threading.setprofile(count)",
    "sys.setprofile(count)",
)
