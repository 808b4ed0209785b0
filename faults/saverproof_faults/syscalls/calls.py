"""What a program asked of the file system, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from saverproof_faults.syscalls.numbers import CallKind

PAGE = 4096
"""Bytes of a page of the kernel's cache, or a divisor of them."""
UNSEEN = frozenset({CallKind.MAP, CallKind.RING})
"""What is noted, and is no place at which anything fails: the writes come later, and unseen."""


NETWORK = frozenset({CallKind.CONNECT, CallKind.SEND, CallKind.RECEIVE})
"""What is done to a connection, and not to a file."""


@dataclass(frozen=True, slots=True)
class SystemCall:
    """One call on one file below the watched folder, or on a connection to a server.

    ``file`` is relative to it, "." the folder itself; ``target`` is the new name of a rename or a
    link. ``size`` is in bytes: of a read or a write as asked for, or what a truncation leaves;
    ``offset`` is where a write begins, and ``divisible`` says that it could be done in part: its
    bytes are in the caller's memory. ``creates`` marks an open that makes the file, ``empties``
    one that truncates it. ``folder`` says that ``file`` is a folder, ``deleted`` that its name is
    gone.

    Of a connection, ``file`` is the server's address, ``asks`` says what is sent, as far as that
    is known, and ``answered`` whether the program received something before it sent more.
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
        """The bytes of a write up to the last page of the file that it reaches; 0 if it stays in
        one. The kernel copies page by page, and a process may be killed between two.
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
        """The same call with paths relative to a folder below the watched one."""
        return replace(self, file=_inside(self.file, folder), target=_inside(self.target, folder))

    def as_data(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of ``as_data``."""
        return cls(**{**data, "kind": CallKind(data["kind"])})


def _inside(path: str, folder: str) -> str:
    return "." if path == folder else path.removeprefix(f"{folder}/")
