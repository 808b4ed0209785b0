"""What several tests on servers share."""

from __future__ import annotations

from tests.conformance.accounting import every_difference_is_accounted_for

__all__ = ["every_difference_is_accounted_for"]
