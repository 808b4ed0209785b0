"""The judge process: it answers one request after the other until the pytest process is gone."""

import ctypes
import faulthandler
import gc
import os
import signal
import socket
import sys
import traceback
from typing import Any

from saverproof.errors import SaverproofError
from saverproof.process import descriptors, heartbeat
from saverproof.process.channel import Message, MessageChannel
from saverproof.process.environment import Setting
from saverproof.process.heartbeat import Heartbeat
from saverproof.process.requests import Handlers

STACKS_SIGNAL = signal.SIGUSR1
_PR_SET_PDEATHSIG = 1
"""The kernel's number of this option for prctl(2)."""
_YOUNGEST = 10_000
"""How many objects are made between two collections of garbage. With Python's default, judging
spends a twelfth of its time on collections that find hardly any.
"""


def serve(handlers: Handlers, connection: int, counter: int, stacks: int, parent: int) -> None:
    """Answer requests on the socket ``connection`` until its other end is closed.

    ``handlers`` have the functions that answer. ``counter`` is the descriptor of the heartbeat's
    memory. ``stacks`` is that of the file to which faulthandler writes when this process crashes or
    gets STACKS_SIGNAL. ``parent`` is the pytest process.
    """
    _die_with(parent)
    descriptors.allow_many()
    faulthandler.enable(file=stacks, all_threads=True)
    faulthandler.register(STACKS_SIGNAL, file=stacks, all_threads=True)
    Heartbeat(counter).install()
    # What was imported stays: full collections need not go through it again and again. What is
    # counted by this one also makes the next ones rarer.
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNGEST)
    gc.enable()
    channel = MessageChannel(socket.socket(fileno=connection))
    try:
        while (request := channel.receive()) is not None:
            heartbeat.beat(0)
            answer = _answer(request, handlers, channel)
            sys.stdout.flush()
            sys.stderr.flush()
            channel.send(answer)
    except (EOFError, OSError):
        # Nobody is there to be told. Threads that a saver left behind must not keep this process.
        os._exit(0)


def _die_with(parent: int) -> None:
    """Be killed when the pytest process dies, even while a saver holds the interpreter's lock."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


def _answer(request: Message, handlers: Handlers, channel: MessageChannel) -> Message:
    def progress(figures: dict[str, Any]) -> None:
        channel.send({"progress": figures})

    try:
        if "setting" in request:
            Setting.from_json(request["setting"]).apply()
            return {"answer": None}
        return {"answer": handlers.answer_json(request["request"], request["data"], progress)}
    except SaverproofError as error:
        return _refusal(error)
    except BaseException as error:  # noqa: BLE001 - told to the pytest process, which reports it
        if why := descriptors.used_up(error):
            return _refusal(SaverproofError(why))
        return {"failure": traceback.format_exc(limit=-30)}


def _refusal(error: SaverproofError) -> Message:
    told = {"kind": type(error).__name__, "message": error.message}
    return {"refusal": told | {"details": getattr(error, "details", "")}}
