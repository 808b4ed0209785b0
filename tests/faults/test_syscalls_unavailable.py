"""Where system calls cannot be held it is said why, and what would let them be, in one clause."""

from __future__ import annotations

import ctypes
import errno
import platform
import subprocess
import sys

import pytest

from saverproof_faults import Unavailable
from saverproof_faults.syscalls import CallWatch, available
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


FORBIDDEN = """
import ctypes, struct
from saverproof_faults.syscalls import available, filter
from saverproof_faults.syscalls.numbers import processor
forbid, allow = (6, 0, 0, 0x50001), (6, 0, 0, 0x7FFF0000)
lines = [(0x20, 0, 0, 0), (0x15, 0, 1, processor().seccomp), forbid, allow]
code = b"".join(struct.pack("HBBI", *line) for line in lines)
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0)
assert libc.prctl(22, 2, ctypes.byref(filter._Program(len(lines), code)), 0, 0) == 0
print(available())
"""
"""A process to which seccomp(2) is forbidden, as some containers forbid it."""


@pytest.mark.skipif(available() is not None, reason=str(available()))
def test_where_filters_are_forbidden_it_is_said_what_allows_them() -> None:
    script = [sys.executable, "-c", FORBIDDEN]
    said = subprocess.run(script, capture_output=True, text=True, check=True).stdout.strip()
    assert "forbid seccomp filters (Operation not permitted)" in said
    assert said.endswith("which Docker allows with --security-opt seccomp=unconfined")


@pytest.mark.skipif(available() is not None, reason=str(available()))
def test_a_processor_without_known_numbers_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    seccomp.available.cache_clear()
    try:
        assert "x86_64 or aarch64" in str(seccomp.available())
        with pytest.raises(Unavailable, match="x86_64"), CallWatch("."):
            raise AssertionError
    finally:
        seccomp.available.cache_clear()
