"""Channel versions, which the saver itself makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saverproof.errors import describe
from saverproof.programs.model.records import Version


class NoVersionError(Exception):
    """The saver's ``get_next_version`` raised; the cause is its error."""


def versions_of(saver: Any) -> Callable[[Version | None], Version]:
    """Return a function that asks a saver for the version after another one.

    The function raises NoVersionError if the saver raises.
    """

    def next_version(current: Version | None) -> Version:
        try:
            version: Version = saver.get_next_version(current, None)
        except Exception as error:
            raise NoVersionError(f"get_next_version raised {describe(error)}") from error
        return version

    return next_version
