"""Where system calls cannot be held it is said why, and what would let them be, in one clause."""

from __future__ import annotations

import ctypes
import errno
import sys

import pytest

from saverproof_faults.syscalls import filter as seccomp


class Refusing:
    """A C library whose system calls all fail alike."""

    def __init__(self, number: int) -> None:
        self._number = number

    def syscall(self, *_: object) -> int:
        ctypes.set_errno(self._number)
        return -1


def reason() -> str:
    said = seccomp.available.__wrapped__()
    assert said is not None
    assert "\n" not in said
    assert not said.endswith((".", "…"))
    return said


@pytest.mark.parametrize(
    ("number", "helps"),
    [
        (errno.EPERM, "--security-opt seccomp=unconfined"),
        (errno.EACCES, "--security-opt seccomp=unconfined"),
        (errno.EBUSY, "run outside of that"),
        (errno.ENOSYS, "takes Linux 5.5 or newer"),
    ],
)
def test_what_the_kernel_refuses(number: int, helps: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "_c_library", lambda: Refusing(number))
    assert helps in reason()


def test_other_systems_and_old_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "_kernel", lambda: (5, 4))
    assert reason().endswith("takes 5.5 or newer")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "cannot be held on darwin" in reason()
