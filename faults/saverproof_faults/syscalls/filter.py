"""A seccomp filter for one thread and everything it starts: it holds calls for a listener.

The filter program is assembled here instruction by instruction and loaded by ctypes; it needs no
library, no compiler and no privilege. A filter cannot be removed. It covers the thread that loads
it, and the threads and processes that this thread makes later. A thread can have only one listener.
"""

import ctypes
import errno
import functools
import os
import platform
import struct
import sys
import threading
import time

from saverproof_faults.errors import Unavailable
from saverproof_faults.syscalls.numbers import Processor, Trapped, by_number, processor

_PR_SET_NO_NEW_PRIVS, _PR_SET_PTRACER = 38, 0x59616D61
_SET_MODE_FILTER, _GET_NOTIFICATION_SIZES = 1, 3
_WITH_LISTENER = 1 << 3
"""The kernel's flag SECCOMP_FILTER_FLAG_NEW_LISTENER."""
_ALLOW, _NOTIFY = 0x7FFF0000, 0x7FC00000
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_NUMBER, _PROCESSOR, _ARGUMENTS = 0, 4, 16
_ENDS_WITHIN_S = 2.0
"""Seconds to wait for the end of the thread that tried a filter."""
_NOTHING = 0xFFFFFFFF
"""The descriptor -1, which is no file."""
_INSTRUCTION = struct.Struct("HBBI")
NOTIFICATION_SIZES = (80, 24, 64)
"""Bytes of a notification, of its answer, and of the data of a call, in all kernels so far. A
kernel with other sizes is refused.
"""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def program(known: Processor, exempt: int) -> bytes:
    """Return the filter program. It holds calls that write, sync, rename or delete; others go on.

    Calls on the descriptor ``exempt``, which leads to the listener itself, go on as well.
    """
    lines = [(_LOAD, 0, 0, _PROCESSOR), (_EQUAL, 1, 0, known.audit), (_RETURN, 0, 0, _ALLOW)]
    lines.append((_LOAD, 0, 0, _NUMBER))
    for number, (_, call) in sorted(by_number(known).items()):
        body = list(_body(call, exempt))
        lines += [(_EQUAL, 0, len(body), number), *body]
    lines.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(_INSTRUCTION.pack(*line) for line in lines)


def _body(call: Trapped, exempt: int) -> list[tuple[int, int, int, int]]:
    """Return the instructions that decide about one known call."""
    lines: list[tuple[int, int, int, int]] = []
    for argument, bits in call.only:
        lines += [_loaded(argument), (_ANY_BIT, 1, 0, bits), (_RETURN, 0, 0, _ALLOW)]
    if call.fd is not None:
        lines += [_loaded(call.fd), (_EQUAL, 0, 1, exempt), (_RETURN, 0, 0, _ALLOW)]
    return [*lines, (_RETURN, 0, 0, _NOTIFY)]


def _loaded(argument: int) -> tuple[int, int, int, int]:
    """Return the instruction that loads the lower half of an argument.

    It stands first on both processors.
    """
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * argument)


def load(exempt: int, tracer: int) -> int:
    """Load the filter for this thread, and return the listener's descriptor.

    Hand the descriptor over at once: until then this thread must make no call that is held. The
    process ``tracer`` is allowed to look into this one.

    Raises:
        Unavailable: the kernel refuses.
    """
    known = processor()
    if known is None:
        raise Unavailable(_why_not_here())
    library = _c_library()
    # The kernel does not know this call if nothing restricts who may trace whom.
    library.prctl(_PR_SET_PTRACER, tracer, 0, 0, 0)
    if library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise Unavailable(f"this thread may not give up privileges: {_last_error()}")
    instructions = program(known, exempt)
    given = _Program(len(instructions) // _INSTRUCTION.size, instructions)
    listener: int = library.syscall(
        ctypes.c_long(known.seccomp),
        ctypes.c_long(_SET_MODE_FILTER),
        ctypes.c_long(_WITH_LISTENER),
        ctypes.byref(given),
    )
    if listener < 0:
        raise Unavailable(_refused(ctypes.get_errno()))
    return listener


@functools.cache
def available() -> str | None:
    """Return why system calls cannot be held here, as a sentence without its full stop, or None.

    A thread tries it and ends: containers may forbid what the kernel knows.
    """
    found: list[str | None] = []
    thread = threading.Thread(target=lambda: found.append(_tried()), name="saverproof-seccomp")
    thread.start()
    thread.join()
    # The kernel takes its time to end a thread with a filter: code that counts threads must not see
    # it.
    deadline = time.monotonic() + _ENDS_WITHIN_S
    while os.path.exists(f"/proc/self/task/{thread.native_id}") and time.monotonic() < deadline:
        time.sleep(0.001)
    return found[0]


def _tried() -> str | None:
    known = processor()
    if sys.platform != "linux" or known is None:
        return _why_not_here()
    sizes = (ctypes.c_ushort * 3)()
    answer = _c_library().syscall(
        ctypes.c_long(known.seccomp),
        ctypes.c_long(_GET_NOTIFICATION_SIZES),
        ctypes.c_long(0),
        ctypes.byref(sizes),
    )
    if answer != 0:
        return _refused(ctypes.get_errno())
    if tuple(sizes) != NOTIFICATION_SIZES:
        return (
            "this kernel's seccomp notifications have a layout that is not known here, so that a "
            "newer saverproof is needed"
        )
    if _kernel() < (5, 5):
        return f"Linux {os.uname().release} cannot let a held call go on, which takes 5.5 or newer"
    try:
        # Nobody listens: this thread can do nothing now but end.
        os.close(load(_NOTHING, os.getpid()))
    except Unavailable as reason:
        return str(reason)
    return None


def _why_not_here() -> str:
    return (
        f"system calls cannot be held on {sys.platform} ({platform.machine()}), but on Linux with "
        "64 bits on x86_64 or aarch64, in a container or virtual machine as well"
    )


def _refused(number: int) -> str:
    why = os.strerror(number)
    if number in (errno.EPERM, errno.EACCES):
        return (
            f"this container's or system's rules forbid seccomp filters ({why}), which Docker "
            "allows with --security-opt seccomp=unconfined"
        )
    if number == errno.EBUSY:
        return (
            "another program listens to the system calls of this process already, and it has to be "
            "run outside of that"
        )
    return f"this kernel has no seccomp notifications ({why}), which takes Linux 5.5 or newer"


def _kernel() -> tuple[int, ...]:
    numbers = os.uname().release.split("-")[0].split(".")[:2]
    return tuple(int(number) for number in numbers if number.isdecimal())


def _last_error() -> str:
    return os.strerror(ctypes.get_errno())


@functools.cache
def _c_library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
