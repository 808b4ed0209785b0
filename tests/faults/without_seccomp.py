"""Runs a program where seccomp(2) fails, as a container's own rules would have it.

``python without_seccomp.py PROGRAM ARGUMENT...``
"""

import ctypes
import errno
import os
import struct
import sys

from saverproof_faults.syscalls.numbers import processor

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _MODE_FILTER = 38, 22, 2
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_INSTRUCTION = struct.Struct("HBBI")


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def forbid() -> None:
    """From now on seccomp(2) is not permitted to this process, nor to those that it starts."""
    here = processor()
    assert here is not None
    lines = (
        (_LOAD, 0, 0, 0),
        (_EQUAL, 0, 1, here.seccomp),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    )
    code = b"".join(_INSTRUCTION.pack(*line) for line in lines)
    library = ctypes.CDLL(None, use_errno=True)
    assert library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    program = _Program(len(lines), code)
    assert library.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program), 0, 0) == 0


if __name__ == "__main__":
    forbid()
    os.execv(sys.argv[1], sys.argv[1:])
