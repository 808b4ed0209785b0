"""What tests leave to the night: what only repeats, in other words, what others show by day."""

from __future__ import annotations

import pytest


def by_night(*values: object) -> pytest.ParameterSet:
    """Return the values of a test that is left to the night."""
    return pytest.param(*values, marks=pytest.mark.nightly)
