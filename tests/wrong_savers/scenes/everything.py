"""All scenes, by contract."""

from __future__ import annotations

from tests.wrong_savers.scenes import SCENES, listing, storing, whole_store

__all__ = ["SCENES", "listing", "storing", "whole_store"]
