"""Faults below the driver for scripts: files, messages to a server, and the server itself."""

from __future__ import annotations

from collections.abc import Iterator

from saverproof.families.atomicity.files import CALL_FAILURES
from saverproof.families.atomicity.plain_fault import PlainFault, after_passing
from saverproof.families.atomicity.server import BREAKS, WAYS
from saverproof.scripts.source import quoted
from saverproof_faults import Event, Fault, Lasts, Places, Plan
from saverproof_faults.servers.keeping import end_sessions, fail_write, killing_all, ready, restart


def failing_write(plan: Plan) -> PlainFault:
    """The server that the script uses fails at a row."""
    how = quoted(WAYS[plan.fault])
    return PlainFault(
        top=(f"from {fail_write.__module__} import {fail_write.__name__}",),
        before=(f"{fail_write.__name__}(path, {plan.place.index}, {how})",),
    )


def before_operation(plan: Plan) -> PlainFault:
    """The server is killed, or ends its sessions, before the operation."""
    deed, path = (restart, "") if plan.fault is Fault.SERVER_KILLED else (end_sessions, "path")
    return PlainFault(
        top=(f"from {fail_write.__module__} import {deed.__name__}",),
        before=(f"{deed.__name__}({path})",),
    )


_CLASS = "socket.socket"
_IF_LOST = "    if self.family != socket.AF_UNIX and left and left.pop():"
_RESET = (f'{_IF_LOST} raise OSError(104, "reset")',)  # with its number, as the kernel raises it
_ANSWER_LOST = (
    _IF_LOST,
    "        sent = (send(self, *given), self.shutdown(socket.SHUT_WR))[0]",
    "        while select.select([self], [], [], 5)[0] and self.recv(65536): pass",
    "        return sent  # the server has done it, and its answer is thrown away",
)


def losing_message(plan: Plan) -> Iterator[PlainFault]:
    """What a client written in Python meets, if nothing encrypts what it sends."""
    if plan.fault not in (Fault.CONNECTION_RESET, Fault.ANSWER_LOST) or plan.lasts is Lasts.ONWARDS:
        return
    yield PlainFault(
        top=(
            "left = []  # True where a message to come is lost; the last is for the next one",
            "def losing(self, send, *given):",
            *(_RESET if plan.fault is Fault.CONNECTION_RESET else _ANSWER_LOST),
            "    return send(self, *given)",
            'for way in ("connect", "send", "sendall", "sendmsg"):',
            f"    setattr({_CLASS}, way, functools.partialmethod(losing, getattr({_CLASS}, way)))",
        ),
        before=(f"left[:] = {after_passing(plan.place.index - 1)}",),
        after=("left.clear()",),
        may_store=True,
    )


def failing_calls(plan: Plan, places: Places) -> Iterator[PlainFault]:
    """The call with that number; then the one of its kind, since fewer calls come before it where
    the files were made a moment ago.
    """
    yield _failing_call(plan, plan.place.index, "")
    before = places.system_calls[: plan.place.index]
    if plan.place.event is Event.SYSTEM_CALL and before:
        kind = before[-1].kind
        number = sum(call.kind is kind for call in before)
        yield _failing_call(plan, number, f", kind=CallKind.{kind.name}")


def _failing_call(plan: Plan, number: int, more: str) -> PlainFault:
    """Who answers system calls is another process, which no script of forty lines can be."""
    extent = ", Extent.ONWARDS" if plan.lasts is Lasts.ONWARDS else ""
    fault = plan.fault
    top: tuple[str, ...] = ()
    if fault is Fault.SERVER_KILLED:
        fault, extent = BREAKS[plan.place.moment], f", tells={killing_all.__name__}()"
        top = (f"from {ready.__module__} import {killing_all.__name__}, {ready.__name__}",)
    failure = CALL_FAILURES[fault].name
    return PlainFault(
        top=(
            *top,
            "files = CallWatch(tempfile.gettempdir())",
            "files.__enter__().cover()  # until the script ends",
        ),
        before=(f"files.arm(CallFault({number}, CallFailure.{failure}{extent}{more}))",),
        after=("files.disarm()", *([f"{ready.__name__}()"] if top else [])),
        may_store=True,
    )
