"""Savers that forget what nobody uses, as targets that any process can load."""

from __future__ import annotations

from typing import Any

from tests.wrong_savers import WRONG, opener
from tests.wrong_savers.expiring import TTL_S, Expiring, pass_time

from saverproof import Expiry, Target, target

RIGHT = "right"
"""The attribute with the one that does so rightly."""


def said(saver: Any, *, reads: bool = True) -> Target:
    """The target of a saver that says that reads begin the time of a thread anew, or do not."""
    expiry = Expiry(seconds=TTL_S, pass_time=pass_time, renewed_by_reads=reads)
    return target(name="expiring", durable=False, expiry=expiry)(opener(saver))


def attribute_of(name: str) -> str:
    """The attribute of this module that has the wrong saver of this name."""
    return name.replace("-", "_")


def __getattr__(attribute: str) -> Target:
    if attribute == RIGHT:
        return said(Expiring)
    for wrong in WRONG:
        if attribute_of(wrong.name) == attribute:
            return said(wrong.saver)
    raise AttributeError(attribute)
