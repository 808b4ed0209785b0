"""A process that runs scripts one after the other, each in a fork of itself.

It has imported what most scripts import: a fresh interpreter would take a second to do so, each
time. It is ``python -m saverproof.process.script_server DESCRIPTOR MODULE...``, started by
``ScriptProcesses``.
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import socket
import sys
import tempfile
from pathlib import Path
from types import ModuleType

from saverproof.process.channel import Message, MessageChannel
from saverproof_faults.kill.process import make_forks_cheap, signal_on_death_of_parent, threads

ERRORS = "stderr"
"""The file in a script's folder that receives the script's standard error."""


def serve(connection: socket.socket, imports: list[str]) -> Message | None:
    """Serve orders until the other end is gone, and return None then.

    In a fork, return the order that it carries out.

    An order has a script, the folder that it runs in, and its environment. The answers to it are
    the process id of the script, and later its exit status.
    """
    signal_on_death_of_parent(signal.SIGKILL)
    gc.disable()
    for name in imports:
        importlib.import_module(name)
    gc.freeze()
    make_forks_cheap()
    gc.enable()
    channel = MessageChannel(connection)
    try:
        while (order := channel.receive()) is not None:
            # A fork has none of the other threads, and perhaps their locks.
            order["afresh"] = threads() > 1
            process = os.fork()
            if process == 0:
                channel.close()
                return order
            channel.send({"process": process})
            channel.send({"status": os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])})
    except (EOFError, OSError):
        pass  # Nobody is there to be told.
    return None


def become(order: Message) -> None:
    """Run the ordered script in this fork, as a new interpreter would."""
    signal_on_death_of_parent(signal.SIGKILL)
    folder, script = order["folder"], order["script"]
    os.chdir(folder)
    nothing = os.open(os.devnull, os.O_RDWR)
    errors = os.open(ERRORS, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for number, file in enumerate((nothing, nothing, errors)):
        os.dup2(file, number)
    os.environ.clear()
    os.environ.update(order["environment"])
    tempfile.tempdir = None  # as the environment says, from now on
    if order["afresh"]:
        os.execv(sys.executable, [sys.executable, script])
    sys.argv = [script]
    sys.path.insert(0, folder)
    module = ModuleType("__main__")
    module.__file__ = script
    sys.modules["__main__"] = module
    source = Path(script).read_text("utf-8")
    # Its end is that of the interpreter, as after any script.
    exec(compile(source, script, "exec", dont_inherit=True), vars(module))


if __name__ == "__main__":
    descriptor, *names = sys.argv[1:]
    if ordered := serve(socket.socket(fileno=int(descriptor)), names):
        become(ordered)
