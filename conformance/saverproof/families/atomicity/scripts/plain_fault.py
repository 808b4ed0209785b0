"""The lines with which a standalone script makes an operation fail."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlainFault:
    """The lines of a script that make an operation fail.

    ``top`` are lines at the top of the script, ``before`` and ``after`` those around the operation.
    ``call`` is the operation's statement, with ``{call}`` in place of the plain call. ``raises``
    says that the call is expected to raise. ``may_store`` says that the call may be stored although
    it raises, for instance because it is synced later. ``error`` names what the call may raise.
    ``uses_store`` says that ``before`` uses the store directly, and may itself fail: tables and
    files may have other names in the saver's next release.
    """

    top: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    call: tuple[str, ...] = ("{call}",)
    after: tuple[str, ...] = ()
    raises: bool = True
    may_store: bool = False
    error: str = "Exception"
    uses_store: bool = False


def after_passing(passing: int, first: str = "") -> str:
    """Return the source of a list that says for each coming call, the last one first, whether it
    fails: ``passing`` calls succeed, and the next one fails.

    ``first`` is the name of a function that is called before the failing one raises.
    """
    return f"[{first or True}{', False' * passing}]"


def failing(raising: str, first: str = "") -> str:
    """Return the statement with which a call fails if :func:`after_passing` says so: ``raising``
    is the statement that raises.
    """
    if first:
        return f"if left and (first := left.pop()): first(); {raising}"
    return f"if left and left.pop(): {raising}"
