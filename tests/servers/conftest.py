"""What several tests on servers share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from saverproof import Postgres
from saverproof_faults.servers import ServerUnavailable, serving
from tests.conformance.accounting import every_difference_is_accounted_for

__all__ = ["every_difference_is_accounted_for"]


@pytest.fixture(scope="module")
def postgres() -> Iterator[None]:
    """Serve PostgreSQL to the tests of a module, and skip them where it is not installed."""
    try:
        with serving(Postgres()):
            yield
    except ServerUnavailable as reason:
        pytest.skip(str(reason))
