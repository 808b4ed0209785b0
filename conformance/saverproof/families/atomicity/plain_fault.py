"""What a standalone script does to have an operation fail."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlainFault:
    """``top`` stands at the top of the script, ``before`` and ``after`` around the operation.

    ``call`` is the operation's statement, in which ``{call}`` stands for the call as it would be.
    ``raises`` says that the call is expected to raise, ``may_store`` that it may be stored all the
    same, as what is synced late. ``error`` names what the call may raise. ``uses_store`` says that
    ``before`` uses the store by itself, which may fail: tables and files have other names in the
    next release.
    """

    top: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    call: tuple[str, ...] = ("{call}",)
    after: tuple[str, ...] = ()
    raises: bool = True
    may_store: bool = False
    error: str = "Exception"
    uses_store: bool = False


def after_passing(passing: int) -> str:
    """For each call to come, whether it fails: so many pass, and the one after them fails."""
    return f"[True{', False' * passing}]"
