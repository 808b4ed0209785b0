"""The process that answers held calls: it counts them, and lets the call that a plan names
fail.

It must be another process: a thread of the watched process could wait for a lock that a held call
keeps. It ends when its client does; calls that are held then end with ENOSYS.
"""

import array
import errno
import os
import select
import signal
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from saverproof_faults.io import Mark, MarkKind
from saverproof_faults.io.data import entry_data
from saverproof_faults.kill import wire
from saverproof_faults.syscalls.calls import NETWORK, UNSEEN, SystemCall
from saverproof_faults.syscalls.connections import Connections
from saverproof_faults.syscalls.held_process import writes_through
from saverproof_faults.syscalls.mapped import MappedFiles
from saverproof_faults.syscalls.notifications import HeldCall, end, go_on, prefer_speed, take
from saverproof_faults.syscalls.numbers import CallKind, Trapped, by_number, processor
from saverproof_faults.syscalls.plan import CallFailure, CallFault
from saverproof_faults.syscalls.reading import WatchedFolder
from saverproof_faults.syscalls.recording import CallLog
from saverproof_faults.syscalls.short_writes import contents, copied, written_in_part

UNANSWERED = frozenset({"arm", "count"})
"""Commands after which the client goes on without an answer."""
_THROUGH = 2 | 4
"""The flags RWF_DSYNC and RWF_SYNC."""


def serve(order: Mapping[str, Any]) -> None:
    """Run the supervisor. ``order`` has the "control" socket's descriptor and the "root" folder."""
    with socket.socket(fileno=order["control"]) as control:
        Supervisor(control, WatchedFolder(order["root"])).serve()


@dataclass(slots=True)
class Supervisor:
    """The listener to any number of filters, and to its client."""

    control: socket.socket
    folder: WatchedFolder
    before_kill: Callable[[], object] = lambda: None
    known: dict[int, tuple[str, Trapped]] = field(default_factory=dict)
    connections: Connections = field(default_factory=Connections)
    calls: list[SystemCall] | None = None
    """The calls on the folder's files and on connections, while they are counted."""
    log: CallLog | None = None
    """The recording, with the bytes of all writes, while there is one."""
    unseen: set[str] = field(default_factory=set)
    fault: CallFault | None = None
    fired: list[SystemCall] = field(default_factory=list)
    problem: str = ""
    """Why a call could not be made to fail as planned; "" if all could."""
    held: int = 0
    leaving: bool = False
    """True once the client has left: threads that are still covered go on undisturbed then."""
    _since_armed: int = 0
    _last_sends: dict[str, int] = field(default_factory=dict)
    """Positions in ``calls`` of the sends after which nothing was received yet, by socket."""
    _listeners: int = 0
    _poll: select.poll = field(default_factory=select.poll)

    def serve(self) -> None:
        """Answer calls until the client is gone, or has left and no thread is covered any more."""
        here = processor()
        assert here is not None
        self.known = by_number(here)
        self._poll.register(self.control, select.POLLIN)
        while self._listeners or not self.leaving:
            # Hear the client, polled last, before the calls: what it sent before a call must take
            # effect first.
            for descriptor, event in reversed(self._poll.poll()):
                if descriptor == self.control.fileno():
                    try:
                        self._obey()
                    except (EOFError, BrokenPipeError):
                        return
                    break  # the client may have sent more
                if event & select.POLLIN:
                    self._answer(descriptor)
                else:
                    # All threads under this filter have ended.
                    self._poll.unregister(descriptor)
                    os.close(descriptor)
                    self._listeners -= 1

    # --- the client ------------------------------------------------------------------------

    def _obey(self) -> None:
        message = wire.receive(self.control)
        answer: Any = None
        match message["command"]:
            case "listen":
                self._listen()
            case "count":
                self.calls, self._last_sends = [], {}
            case "counted":
                answer = [call.as_data() for call in self.calls or ()]
                self.calls = None
            case "record":
                self.log = CallLog(MappedFiles(self.folder.path))
            case "mark":
                assert self.log is not None
                self.log.mark(Mark(MarkKind(message["kind"]), message["operation"]))
            case "recorded":
                answer = [entry_data(entry) for entry in self.log.until_now()] if self.log else []
            case "arm":
                self.fault = CallFault.from_data(message["fault"])
                self.fired, self._since_armed = [], 0
            case "disarm":
                answer = {"fired": [call.as_data() for call in self.fired], "problem": self.problem}
                self.fault, self.problem = None, ""
                self.connections.end_silences()
            case "report":
                answer = {
                    "held": self.held,
                    "fired": len(self.fired),
                    "unseen": sorted(self.unseen),
                }
            case "leave":
                self.fault, self.calls, self.log, self.leaving = None, None, None, True
                self.connections.end_silences()
        if message["command"] not in UNANSWERED:
            wire.send(self.control, answer)

    def _listen(self) -> None:
        _, ancillary, _, _ = self.control.recvmsg(1, socket.CMSG_SPACE(4))
        (listener,) = array.array("i", ancillary[0][2])
        prefer_speed(listener)
        self._poll.unregister(self.control)
        self._poll.register(listener, select.POLLIN)
        self._poll.register(self.control, select.POLLIN)
        self._listeners += 1

    # --- held calls ------------------------------------------------------------------------

    def _answer(self, listener: int) -> None:
        held = take(listener)
        if held is None:
            return
        self.held += 1
        _, trapped = self.known[held.number]
        noted = self.calls is not None or self.log is not None
        fault = self.fault
        armed = fault is not None and not fault.is_spent(self._since_armed)
        if not (noted or armed or self.connections.disturbed or trapped.kind in UNSEEN):
            go_on(listener, held)
            return
        whole = noted or fault is None or self._since_armed + 1 >= fault.place
        call = None if trapped.kind in NETWORK else self.folder.called(held, trapped, whole=whole)
        if call is not None:
            self._on_file(listener, held, trapped, call)
        elif not self._on_connection(listener, held, trapped):
            go_on(listener, held)

    def _on_file(self, listener: int, held: HeldCall, trapped: Trapped, call: SystemCall) -> None:
        if call.kind in UNSEEN:
            if not self._follows(call):
                self.unseen.add(str(call))
            go_on(listener, held)
            return
        if self.calls is not None:
            self.calls.append(call)
        struck = self._strikes(call)
        if self.log is not None:
            error = self.fault.failure.error if struck and self.fault is not None else 0
            self._log(held, trapped, call, error)
        if struck:
            self._fail(listener, held, trapped, call)
        else:
            go_on(listener, held)

    def _on_connection(self, listener: int, held: HeldCall, trapped: Trapped) -> bool:
        """Count a call on a connection or make it fail, and return whether it was answered."""
        try:
            found = self.connections.called(held, trapped)
            if found is None:
                return False
            name, call = found
            if call.kind is CallKind.RECEIVE:
                return self._received(listener, held, trapped, name)
            if self.calls is not None:
                if call.kind is CallKind.SEND:
                    self._last_sends[name] = len(self.calls)
                self.calls.append(call)
            if self._strikes(call):
                self._break(listener, held, trapped, name, call)
            elif self.connections.is_silent(name):
                end(listener, held, value=call.size)
            else:
                return False
        except OSError as problem:
            self.problem = f"a connection could not be broken as planned: {problem}"
            return False
        return True

    def _received(self, listener: int, held: HeldCall, trapped: Trapped, name: str) -> bool:
        if self.calls is not None and name in self._last_sends:
            position = self._last_sends.pop(name)
            self.calls[position] = replace(self.calls[position], answered=True)
        left = self.connections.left_on(held, trapped, name)
        if left is None:
            return False
        end(listener, held, value=left, error=0 if left else errno.ECONNRESET)
        return True

    def _break(
        self, listener: int, held: HeldCall, trapped: Trapped, name: str, call: SystemCall
    ) -> None:
        assert self.fault is not None
        connections = self.connections
        match self.fault.failure:
            case CallFailure.KILLED_SENDING:
                if call.kind is CallKind.SEND:
                    connections.reset(held, trapped)
                self._kill(held)
            case CallFailure.RESET if call.kind is CallKind.CONNECT:
                end(listener, held, error=errno.ECONNREFUSED)
            case CallFailure.RESET:
                self._tell()
                connections.reset(held, trapped)
                end(listener, held, error=errno.ECONNRESET)
            case CallFailure.TOLD:
                self._tell()
                go_on(listener, held)
            case CallFailure.SILENCE:
                end(listener, held, value=connections.fall_silent(held, trapped, name, call))
            case failure:
                share = 0.5 if failure is CallFailure.ANSWER_CUT else 0.0
                sent = connections.lose_answer(held, trapped, name, share, self._tell)
                end(listener, held, value=sent)
        self.fired.append(call)

    def _tell(self) -> None:
        """Tell the receivers in the plan, and wait for their answers.

        Raises:
            OSError: one of them is gone.
        """
        if self.fault is None or not self.fault.tells:
            return
        address, *lines = self.fault.tells
        with socket.socket(socket.AF_UNIX) as talk, talk.makefile("rw", encoding="utf-8") as text:
            talk.connect(address)
            for line in lines:
                text.write(f"{line}\n")
                text.flush()
                text.readline()

    def _follows(self, call: SystemCall) -> bool:
        """Return whether writes through a mapping of this file will be recorded."""
        log = self.log if call.kind is CallKind.MAP else None
        return log is not None and log.mapped.follow(call.file)

    def _log(self, held: HeldCall, trapped: Trapped, call: SystemCall, error: int) -> None:
        assert self.log is not None
        written, through = b"", False
        if call.kind is CallKind.WRITE and trapped.fd is not None:
            written = (contents if call.divisible else copied)(held, trapped, call.size)
            through = bool(trapped.flags and held.arguments[trapped.flags] & _THROUGH)
            through |= writes_through(held.thread, held.descriptor(trapped.fd))
        self.log.add(call, written, written_through=through, error=error)

    def _strikes(self, call: SystemCall) -> bool:
        if self.fault is None or not self.fault.counts(call):
            return False
        self._since_armed += 1
        return self.fault.hits(call, self._since_armed)

    def _fail(self, listener: int, held: HeldCall, trapped: Trapped, call: SystemCall) -> None:
        assert self.fault is not None
        self.fired.append(call)
        try:
            match self.fault.failure:
                case CallFailure.SHORT_WRITE:
                    end(listener, held, value=written_in_part(held, trapped, call.size // 2))
                case CallFailure.KILLED:
                    self._kill(held)
                case CallFailure.KILLED_WRITING:
                    written_in_part(held, trapped, call.to_page_end)
                    self._kill(held)
                case failure:
                    end(listener, held, error=failure.error)
        except OSError as problem:
            self.fired.pop()
            self.problem = f"no write could be done in part: {problem}"
            go_on(listener, held)

    def _kill(self, held: HeldCall) -> None:
        self.before_kill()
        os.kill(held.thread, signal.SIGKILL)
