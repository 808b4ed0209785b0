"""Makes faults below the driver in scripts: of files, of messages to a server, and of the server
itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from saverproof.families.atomicity.scripts.plain_fault import PlainFault, after_passing
from saverproof.families.atomicity.trials.files import CALL_FAILURES
from saverproof.families.atomicity.trials.server import BREAKS, DEATHS, WAYS
from saverproof.families.atomicity.trials.worker import PATIENCE_S
from saverproof.scripts.source import quoted
from saverproof_faults import Event, Fault, Lasts, Places, Plan
from saverproof_faults.scripted import (
    ScriptWatch,
    end_sessions,
    fail_no_more,
    fail_over,
    fail_write,
    failing_over,
    freeze,
    freezing,
    killing,
    ready,
    restart,
    serving,
    thaw,
    thaw_after,
)


def failing_write(plan: Plan) -> PlainFault:
    """Return a fault in which a write fails in the script's server."""
    how = f"{plan.place.index}, {quoted(WAYS[plan.fault].value)}, {quoted(plan.about)}"
    return PlainFault(
        top=(_importing(fail_no_more, fail_write),),
        before=(f"{fail_write.__name__}(path, {how})",),
        after=(f"{fail_no_more.__name__}(path)",),
    )


def before_operation(plan: Plan) -> PlainFault:
    """Return a fault of the server before the operation: it is killed, replaced or stopped, or it
    ends its sessions.
    """
    if plan.fault is Fault.STANDSTILL:
        return PlainFault(
            top=(_importing(freeze, thaw, thaw_after),),
            before=(f"{freeze.__name__}()", _THAWING),
            after=_THAWED,
            may_store=True,
        )
    if plan.fault is Fault.SESSIONS_ENDED:
        return PlainFault(
            top=(_importing(end_sessions),), before=(f"{end_sessions.__name__}(path)",)
        )
    top, dies, _ = _death(plan.fault)
    return PlainFault(top=top, before=(f"{dies.__name__}()",))


def _death(fault: Fault) -> tuple[tuple[str, ...], Callable[..., object], Callable[..., object]]:
    """Return a server's death for a script: the lines at the script's top, the lines that kill the
    server, and those that choose the server.
    """
    if fault is Fault.SERVER_KILLED:
        return (_importing(killing, ready, restart),), restart, killing
    return (_importing(fail_over, failing_over, ready), _PROXIED), fail_over, failing_over


def _importing(*functions: Callable[..., object]) -> str:
    names = ", ".join(function.__name__ for function in functions)
    return f"from {functions[0].__module__} import {names}"


_PROXIED = f"{serving.__name__} = functools.partial({serving.__name__}, proxied=True)"
_THAWING = f"thawing = {thaw_after.__name__}({PATIENCE_S:g})  # a call may wait as long"
_THAWED = ("thawing.cancel()", f"{thaw.__name__}()")


COVERING = "files.cover()  # until the script ends"
COVERING_BESIDE = f"{serving.__name__} = files.beside({serving.__name__})"
"""The first line of a script that may start a server: it holds the system calls of the script, and
not those of the server.
"""
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
    """Yield a fault for clients that are written in Python, and do not encrypt what they send."""
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
    """Yield a fault of the system call with the plan's number, and then one of the call with that
    number among calls of its kind. In a script's new store, fewer calls come before it.
    """
    yield _failing_call(plan, plan.place.index, "")
    before = places.system_calls[: plan.place.index]
    if plan.place.event is Event.SYSTEM_CALL and before:
        kind = before[-1].kind
        number = sum(call.kind is kind for call in before)
        yield _failing_call(plan, number, f", kind=CallKind.{kind.name}")


def _failing_call(plan: Plan, number: int, more: str) -> PlainFault:
    """Return a fault that makes one system call fail.

    The kit's supervisor answers system calls in a process of its own, which a short script cannot
    contain: the script imports it.
    """
    extent = ", Extent.ONWARDS" if plan.lasts is Lasts.ONWARDS else ""
    fault = plan.fault
    top: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    if fault in DEATHS:
        top, _, tells = _death(fault)
        fault, extent = BREAKS[plan.place.moment], f", tells={tells.__name__}()"
        after = (f"{ready.__name__}()",)
    elif fault is Fault.STANDSTILL:
        extent = f", tells={freezing.__name__}()"
        top, before, after = (_importing(freezing, thaw, thaw_after),), (_THAWING,), _THAWED
    failure = CALL_FAILURES[fault].name
    return PlainFault(
        top=(
            *top,
            _importing(ScriptWatch),
            f"files = {ScriptWatch.__name__}(tempfile.gettempdir())",
            COVERING,
        ),
        before=(f"files.arm(CallFault({number}, CallFailure.{failure}{extent}{more}))", *before),
        after=("files.disarm()", *after),
        may_store=True,
    )
