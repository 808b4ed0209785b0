"""System calls of a program on files and connections, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from saverproof_faults.syscalls.numbers import CallKind

PAGE = 4096
"""Bytes of a page of the kernel's cache, or a divisor of them on kernels with larger pages."""
UNSEEN = frozenset({CallKind.MAP, CallKind.RING})
"""Calls that are noted but never fail: the writes that they allow come later, and are not seen."""


NETWORK = frozenset({CallKind.CONNECT, CallKind.SEND, CallKind.RECEIVE})
"""Calls on a connection, not on a file."""


@dataclass(frozen=True, slots=True)
class SystemCall:
    """One call on a file below the watched folder, or on a connection to a server.

    Of a file: ``file`` is relative to the folder, "." for the folder itself; ``target`` is the new
    name of a rename or a link. ``size`` is in bytes: what a read or write asks for, or what a
    truncation leaves. ``offset`` is where a write begins. ``divisible`` says that the write can be
    done in part, because its bytes are in the caller's memory. ``creates`` says that an open makes
    the file, ``empties`` that it truncates it. ``folder`` says that ``file`` is a folder,
    ``deleted`` that its name is gone.

    Of a connection: ``file`` is the server's address, ``asks`` describes what is sent, as far as
    that is known, and ``answered`` says that the program received something before it sent more.
    """

    kind: CallKind
    file: str
    target: str = ""
    size: int = 0
    offset: int = 0
    divisible: bool = False
    creates: bool = False
    empties: bool = False
    folder: bool = False
    deleted: bool = False
    asks: str = ""
    answered: bool = False

    @property
    def to_page_end(self) -> int:
        """Bytes of a write up to the last page that it reaches; 0 if it stays in one page.

        The kernel copies page by page, and a process may be killed between two of them.
        """
        within = (self.offset + self.size - 1) // PAGE * PAGE - self.offset
        return max(0, within) if self.divisible else 0

    def __str__(self) -> str:
        if self.kind in NETWORK:
            return f"{self.kind} {self.asks}".rstrip()
        if self.target:
            return f"{self.kind} {self.file} to {self.target}"
        size = f" {self.size} bytes" if self.kind is CallKind.WRITE else ""
        what = "folder " if self.folder and self.kind is not CallKind.FOLDER else ""
        return f"{self.kind} {what}{self.file}{size}"

    def relative_to(self, folder: str) -> Self:
        """Return the call with paths relative to a folder below the watched one."""
        return replace(self, file=_inside(self.file, folder), target=_inside(self.target, folder))

    def as_data(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """Make a call from the result of ``as_data``."""
        return cls(**{**data, "kind": CallKind(data["kind"])})


def _inside(path: str, folder: str) -> str:
    return "." if path == folder else path.removeprefix(f"{folder}/")
