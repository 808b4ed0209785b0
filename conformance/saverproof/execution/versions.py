"""Channel versions, which a saver makes itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saverproof.errors import describe
from saverproof.model.records import Version


class NoVersionError(Exception):
    """The saver's ``get_next_version`` raised, whose error is the cause."""


def versions_of(saver: Any) -> Callable[[Version | None], Version]:
    """Asks a saver for the version after another one; the function raises NoVersionError."""

    def next_version(current: Version | None) -> Version:
        try:
            version: Version = saver.get_next_version(current, None)
        except Exception as error:
            raise NoVersionError(f"get_next_version raised {describe(error)}") from error
        return version

    return next_version
